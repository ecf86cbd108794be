#pragma once

// One scheduling cycle, from the snapshot to the plan.
//
// The next step of each job, and what one cycle hands to the next.
//
// Public interface of core/cycle: others include only this or the headers below (tests/layering.py).
#include "core/cycle/cycle.h"
#include "core/cycle/cycle_cache.h"
