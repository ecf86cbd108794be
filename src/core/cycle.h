#pragma once

// One scheduling cycle, from the snapshot to the plan.
//
// The numbered phases, admission, the order among queues; what one cycle hands to the next; the same cycle
// repeated for `trainyard simulate`.
//
// Public interface of core/cycle: others include only this or the headers below (tests/layering.py).
#include "core/cycle/admission.h"
#include "core/cycle/cycle.h"
#include "core/cycle/cycle_cache.h"
#include "core/cycle/instant_cycle.h"
#include "core/cycle/nodes_wanted.h"
#include "core/cycle/pending_explainer.h"
#include "core/cycle/pending_order.h"
#include "core/cycle/queue_report.h"
#include "core/cycle/schedule.h"
#include "core/cycle/simulate.h"
#include "core/cycle/user_scale.h"
