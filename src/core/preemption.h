#pragma once

// Who makes room?
//
// Who is stopped or moved for whom; the cheapest set of them.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/preemption/claims.h"
#include "core/preemption/concession.h"
#include "core/preemption/preemption.h"
