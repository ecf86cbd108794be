#pragma once

// Why did it fail, and what follows?
//
// The classes of failures with what they ask for, the signs by which they are known, the root among a gang's
// members; the user's own rules, budgets and pauses of restarts.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/lifecycle/classify.h"
#include "core/lifecycle/failure_class.h"
#include "core/lifecycle/failure_rules.h"
#include "core/lifecycle/follow_up.h"
#include "core/lifecycle/life_signs.h"
#include "core/lifecycle/log_lines.h"
#include "core/lifecycle/node_endings.h"
#include "core/lifecycle/user_rules.h"
