#pragma once

// Where, how close, and if nowhere, why?
//
// Placement and its failures, relaxation, fragmentation; what is remembered of it.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/place/blockers.h"
#include "core/place/change.h"
#include "core/place/fragmentation.h"
#include "core/place/free_gpus.h"
#include "core/place/gang_placer.h"
#include "core/place/gpu_types.h"
#include "core/place/job_notes.h"
#include "core/place/more_places.h"
#include "core/place/node_refusals.h"
#include "core/place/place.h"
#include "core/place/placement_cache.h"
#include "core/place/relaxation.h"
#include "core/place/shape_cost.h"
#include "core/place/suspicion.h"
#include "core/place/type_choice.h"
#include "core/place/work_budget.h"
