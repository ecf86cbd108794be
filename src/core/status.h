#pragma once

// What is told?
//
// Statuses, conditions, and the words of every reason.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/status/describe.h"
#include "core/status/explain.h"
#include "core/status/explain_queue.h"
#include "core/status/job_status.h"
#include "core/status/resize_status.h"
