#include "core/timeline/limit_hold.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/queues/holdings.h"

namespace trainyard::core {
namespace {

bool isBelow(const QueueTree& tree, QueueTree::Index queue, QueueTree::Index above) {
  const auto& path = tree.node(queue).path;
  return std::find(path.begin(), path.end(), above) != path.end();
}

}  // namespace

bool LimitHold::leavesCapacity(const QueueTree& tree, QueueTree::Index queue, const Amounts& more) const {
  if (more[dimension] <= 0 || !isBelow(tree, queue, at)) return true;
  const QueueTree::Node& node = tree.node(at);
  const std::int64_t wanted = base::saturatingAdd(more[dimension], demand);
  return base::saturatingAdd(node.usage[dimension], wanted) <= node.limit[dimension];
}

ReservedTime capacityBelowLimit(const QueueTree& tree, QueueTree::Index at, std::size_t dimension,
                                std::int64_t demand, Ends& ends, base::WallTime reservingSince,
                                base::WallTime now) {
  const QueueTree::Node& node = tree.node(at);
  std::int64_t missing = base::saturatingAdd(node.usage[dimension], demand) - node.limit[dimension];
  Basis basis = Basis::kStated;
  bool awaitsLeaving = false;
  for (const Ending& ending : ends.all()) {
    // A gang that has ended is not charged any more.
    if (ending.job->finished()) continue;
    const QueueTree::Index queue = tree.queueOf(*ending.job);
    if (queue == QueueTree::kCluster || !isBelow(tree, queue, at)) continue;
    const std::int64_t held = holdingsOf(tree.capacity(), *ending.job)[dimension];
    if (held <= 0) continue;
    basis = std::min(basis, ending.basis);
    awaitsLeaving = awaitsLeaving || ending.isLeaving;
    missing -= held;
    if (missing > 0) continue;
    const ExpectedTime start{ending.at, basis};
    return {start, reservingSince, isImminent(start, awaitsLeaving, now)};
  }
  return {std::nullopt, reservingSince, false};
}

}  // namespace trainyard::core
