#pragma once

// And otherwise when?
//
// What becomes free by itself and when; reservations and who may pass them; expected starts.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/timeline/earliest_fit.h"
#include "core/timeline/ends.h"
#include "core/timeline/expected_starts.h"
#include "core/timeline/freed_places.h"
#include "core/timeline/limit_hold.h"
#include "core/timeline/limit_starts.h"
#include "core/timeline/reservation.h"
