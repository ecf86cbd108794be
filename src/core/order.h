#pragma once

// Which pending job is first in a queue.
//
// The ordering policies, and the one model of how long jobs run.
//
// Public interface of core/order: others include only this or the headers below (tests/layering.py).
#include "core/order/job_times.h"
#include "core/order/live_runs.h"
#include "core/order/order_policy.h"
#include "core/order/preemption_cost.h"
#include "core/order/queue_position_facts.h"
#include "core/order/run_facts.h"
#include "core/order/run_time_model.h"
#include "core/order/run_times.h"
