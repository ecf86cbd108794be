#pragma once

// Which gangs are preempted.
//
// Which gang is preempted or moved for which other; the cheapest set of victims.
//
// Public interface of core/preemption: others include only this or the headers below (tests/layering.py).
#include "core/preemption/candidate.h"
#include "core/preemption/claims.h"
#include "core/preemption/preemption.h"
#include "core/preemption/terminating_capacity.h"
