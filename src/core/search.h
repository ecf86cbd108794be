#pragma once

// The placements that one cycle tries for whole gangs.
//
// Which nodes and types of GPUs are tried, which are suspected, and what later searches reuse.
//
// Public interface of core/search: others include only this or the headers below (tests/layering.py).
#include "core/search/gang_placer.h"
#include "core/search/gpu_types.h"
#include "core/search/job_notes.h"
#include "core/search/joining_members.h"
#include "core/search/placement_cache.h"
#include "core/search/suspicion.h"
#include "core/search/type_choice.h"
#include "core/search/type_demand.h"
