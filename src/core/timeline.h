#pragma once

// When capacity becomes free.
//
// What becomes free by itself and when; reservations and the jobs that may backfill them; expected starts.
//
// Public interface of core/timeline: others include only this or the headers below (tests/layering.py).
#include "core/timeline/backfill.h"
#include "core/timeline/earliest_fit.h"
#include "core/timeline/ends.h"
#include "core/timeline/expected_starts.h"
#include "core/timeline/limit_hold.h"
#include "core/timeline/limit_starts.h"
#include "core/timeline/recently_freed.h"
#include "core/timeline/reservation.h"
