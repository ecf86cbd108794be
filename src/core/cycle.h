#pragma once

// All of it, once.
//
// The numbered phases, admission, the order among queues; what a cycle leaves to the next; the
// same cycle run on for `trainyard simulate`.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/cycle/admission.h"
#include "core/cycle/cycle.h"
#include "core/cycle/cycle_cache.h"
#include "core/cycle/instant_cycle.h"
#include "core/cycle/nodes_wanted.h"
#include "core/cycle/queue_report.h"
#include "core/cycle/schedule.h"
#include "core/cycle/simulate.h"
#include "core/cycle/user_scale.h"
#include "core/cycle/waiting_order.h"
#include "core/cycle/waiting_words.h"
