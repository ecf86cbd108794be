#pragma once

// Which nodes a gang is placed on, how close together, and why no placement exists.
//
// Placement and its failures, relaxation, fragmentation.
//
// Public interface of core/place: others include only this or the headers below (tests/layering.py).
#include "core/place/blockers.h"
#include "core/place/change.h"
#include "core/place/cluster_fragmentation.h"
#include "core/place/fragmentation.h"
#include "core/place/node_refusals.h"
#include "core/place/place.h"
#include "core/place/relaxation.h"
#include "core/place/shape_cost.h"
#include "core/place/shape_key.h"
#include "core/place/work_budget.h"
