#pragma once

// Which queue owns which capacity, and which may use it.
//
// The tree of queues with limits, nominal quotas and fair shares; priorities; which job may preempt which.
//
// Public interface of core/queues: others include only this or the headers below (tests/layering.py).
#include "core/queues/amounts.h"
#include "core/queues/cluster_capacity.h"
#include "core/queues/decayed_usage.h"
#include "core/queues/eligibility.h"
#include "core/queues/fair_share.h"
#include "core/queues/guarantee.h"
#include "core/queues/holdings.h"
#include "core/queues/namespaces.h"
#include "core/queues/priority.h"
#include "core/queues/queue_cache.h"
#include "core/queues/queue_share.h"
#include "core/queues/queue_tree.h"
#include "core/queues/quota_check.h"
#include "core/queues/quota_dimensions.h"
