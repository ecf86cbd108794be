#pragma once

// Whether a foreign pod may use a node.
//
// The answers of the extender to kube-scheduler.
//
// Public interface of core/guard: others include only this or the headers below (tests/layering.py).
#include "core/guard/guard.h"
#include "core/guard/guard_holds.h"
#include "core/guard/guard_view.h"
