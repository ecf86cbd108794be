#pragma once

// Which nodes a gang is placed on, how close together, and why no placement exists.
//
// Placement and its failures, relaxation, fragmentation; what later searches reuse.
//
// Public interface of core/place: others include only this or the headers below (tests/layering.py).
#include "core/place/blockers.h"
#include "core/place/change.h"
#include "core/place/fragmentation.h"
#include "core/place/free_gpus.h"
#include "core/place/gang_placer.h"
#include "core/place/gpu_types.h"
#include "core/place/job_notes.h"
#include "core/place/joining_members.h"
#include "core/place/node_refusals.h"
#include "core/place/place.h"
#include "core/place/placement_cache.h"
#include "core/place/relaxation.h"
#include "core/place/shape_cost.h"
#include "core/place/suspicion.h"
#include "core/place/type_choice.h"
#include "core/place/work_budget.h"
