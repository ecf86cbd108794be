#pragma once

// May a stranger go there?
//
// What the extender answers kube-scheduler.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/guard/guard.h"
#include "core/guard/guard_holds.h"
#include "core/guard/guard_view.h"
