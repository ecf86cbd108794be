#pragma once

#include <cstdint>

#include "core/queues/queue_tree.h"

namespace trainyard::core {

// Weighted dominant share of a queue (Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 4.1,
// without what is within the guarantee): the largest, over the dimensions that count
// (QuotaDimensions::counts), of usage above what the guarantee covers / the cluster's capacity / weight.
// (Rejected: all resources always. With guarantees of GPUs alone every queue would borrow cpu from its first
// job on.)
//
// A queue with both jobs and children competes with the children as one of them, with weight 1.
inline constexpr std::int64_t kShareUnit = 1'000'000'000'000;  // shares are multiples of 1 / kShareUnit

// The queue's share with this much more (or less). Of types of GPUs only the wanted ones count. (Rejected:
// all types. If the wanted type is not the dominant share of either queue, each would for ever reclaim what
// the other has just taken.)
[[nodiscard]] std::int64_t shareWith(const QueueTree& tree, QueueTree::Index queue, const Amounts& more);
[[nodiscard]] std::int64_t shareWithout(const QueueTree& tree, QueueTree::Index queue, const Amounts& less,
                                        const Amounts& wanted);

// What is compared of two queues to decide which is served first: the branches below their lowest common
// ancestor, or the ancestor's own holdings if one of the queues is above the other.
struct ComparedBranch {
  QueueTree::Index branch = QueueTree::kCluster;
  bool isAbove = false;
};
struct ComparedBranches {
  ComparedBranch a;
  ComparedBranch b;
};
[[nodiscard]] ComparedBranches comparedBranches(const QueueTree& tree, QueueTree::Index a,
                                                QueueTree::Index b);
// The queue with the smaller share, its job included, is served first. With a half-life of usage it is
// computed from the average usage. Valid until the tree's next charge().
[[nodiscard]] std::int64_t comparedShare(const QueueTree& tree, const ComparedBranch& compared,
                                         const Amounts& more);

}  // namespace trainyard::core
