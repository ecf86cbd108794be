#pragma once

// Why a gang failed, and what follows.
//
// The failure classes with their actions, the rules that recognize them, the root cause among a gang's
// members; the user's own rules, retry budgets and pauses between restarts.
//
// Public interface of core/lifecycle: others include only this or the headers below (tests/layering.py).
#include "core/lifecycle/classify.h"
#include "core/lifecycle/failure_class.h"
#include "core/lifecycle/failure_rules.h"
#include "core/lifecycle/follow_up.h"
#include "core/lifecycle/life_signs.h"
#include "core/lifecycle/log_lines.h"
#include "core/lifecycle/node_endings.h"
#include "core/lifecycle/user_rules.h"
