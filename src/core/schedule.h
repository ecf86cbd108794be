#pragma once

// Which pending gangs start, and where.
//
// Order, quota, placement, preemption, reservations and backfill, and the reason of each wait.
//
// Public interface of core/schedule: others include only this or the headers below (tests/layering.py).
#include "core/schedule/pending_order.h"
#include "core/schedule/schedule.h"
