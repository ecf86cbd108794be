#pragma once

// What jobs and queues report.
//
// Statuses, conditions, and the message of every reason.
//
// Public interface of core/status: others include only this or the headers below (tests/layering.py).
#include "core/status/describe.h"
#include "core/status/explain.h"
#include "core/status/explain_queue.h"
#include "core/status/job_status.h"
#include "core/status/resize_status.h"
