#pragma once

// What is whose, and who may take it?
//
// The tree of queues with limits, guarantees and shares; priorities; who may stop whom.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/queues/decayed_usage.h"
#include "core/queues/eligibility.h"
#include "core/queues/fair_share.h"
#include "core/queues/namespaces.h"
#include "core/queues/priority.h"
#include "core/queues/queue_cache.h"
#include "core/queues/queue_tree.h"
