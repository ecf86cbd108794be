#pragma once

// How many tasks with which resources, in which role, on how many nodes.
//
// The cost model of a training step, what it takes from measurements, and the shapes that it ranks.
//
// Public interface of core/planner: others include only this or the headers below (tests/layering.py).
#include "core/planner/coefficient_fit.h"
#include "core/planner/cost_model.h"
#include "core/planner/fit_cache.h"
#include "core/planner/hardware.h"
#include "core/planner/job_plan.h"
#include "core/planner/shapes.h"
#include "core/planner/size_plan.h"
#include "core/planner/type_speeds.h"
