#pragma once

#include <functional>
#include <vector>

#include "replay/engine/engine.h"
#include "replay/engine/result.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Dorm's measures ("Dorm: dynamically-partitioned cluster management for distributed machine learning", arXiv
// 1704.06738) of a replay, computed from the holdings over time. `bounds` of each job are those that its user
// would have allowed, even if the replay restricted them.
//
// Utilization: the sum over the kinds of resources (CPU, memory, GPUs) of the used part. Fairness loss: the
// sum over all present jobs, pending ones included, of |share - fair share|. Shares are dominant ones, and
// fair shares those of weighted DRF (core/resize/size_problem.h) within the bounds; if not all minimum sizes
// fit the cluster at once, jobs submitted later have none. Both are means over the time in which jobs are
// present. Overhead: the part of a job's time with a placement in which it made no progress because its
// placement changed. Its first start does not count, because every job has one.
[[nodiscard]] ReplayPartitions partitionsOf(const Trace& trace, const std::vector<ReplayNode>& cluster,
                                            const std::function<ReplayElastic::Range(std::size_t)>& bounds,
                                            const std::vector<ReplayHolding>& holdings);

}  // namespace trainyard::replay
