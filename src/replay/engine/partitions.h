#pragma once

#include <functional>
#include <vector>

#include "replay/engine/engine.h"
#include "replay/engine/result.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Dorm's terms ("Dorm: dynamically-partitioned cluster management for distributed machine learning", arXiv
// 1704.06738) of a replay, from who held how much when; `bounds` of each job are those that its user would
// have allowed, whatever the replay made of them.
//
// Utilization: the sum over the kinds of resources (CPU, memory, GPUs) of the part that is held. Fairness
// loss: the sum over all that are there, those that wait included, of |share - fair share|, shares being
// dominant ones and fair ones those of weighted DRF (core/resize/size_problem.h) within the bounds; where not
// even the least of all fit the cluster at once, those submitted later have none. Both are means over the
// time in which anybody is there. Overhead: of the time that a job had places, the part in which it did
// nothing new because its places changed; its first start does not count, which everybody pays.
[[nodiscard]] ReplayPartitions partitionsOf(const Trace& trace, const std::vector<ReplayNode>& cluster,
                                            const std::function<ReplayElastic::Range(std::size_t)>& bounds,
                                            const std::vector<ReplayHolding>& holdings);

}  // namespace trainyard::replay
