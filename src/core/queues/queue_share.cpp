#include "core/queues/queue_share.h"

#include <algorithm>

namespace trainyard::core {
namespace {

using Index = QueueTree::Index;

struct Bounds {
  const Amounts* guaranteed = nullptr;  // nullptr: all usage counts
  std::int64_t weight = 1;
};

std::int64_t shareOf(const QueueTree& tree, const Amounts& usage, const Amounts& more, int sign,
                     const Bounds& bounds, const Amounts* wanted = nullptr) {
  const QuotaDimensions& dimensions = tree.dimensions();
  const Amounts& capacity = tree.capacity().available();
  std::int64_t largest = 0;
  for (std::size_t d = 0; d < usage.size(); ++d) {
    if (!dimensions.counts(d) || capacity[d] <= 0) continue;
    if (d >= dimensions.firstType() && wanted != nullptr && (*wanted)[d] <= 0) continue;
    const std::int64_t held = base::saturatingAdd(usage[d], sign * more[d]);
    const std::int64_t above =
        bounds.guaranteed == nullptr ? held : base::saturatingSubtract(held, (*bounds.guaranteed)[d]);
    if (above <= 0) continue;
    largest = std::max(largest, base::scaled(above, kShareUnit, capacity[d]) / bounds.weight);
  }
  return largest;
}

}  // namespace

std::int64_t shareWith(const QueueTree& tree, Index queue, const Amounts& more) {
  const QueueTree::Node& node = tree.node(queue);
  return shareOf(tree, node.usage, more, 1, {&node.covered, node.weight}, &more);
}

std::int64_t shareWithout(const QueueTree& tree, Index queue, const Amounts& less, const Amounts& wanted) {
  const QueueTree::Node& node = tree.node(queue);
  return shareOf(tree, node.usage, less, -1, {&node.covered, node.weight}, &wanted);
}

ComparedBranches comparedBranches(const QueueTree& tree, Index a, Index b) {
  const QueueTree::Branches below = tree.branches(a, b);
  const auto isAbove = [&](Index branch, Index other) {
    const auto& path = tree.node(other).path;
    return std::find(path.begin(), path.end(), branch) != path.end();
  };
  return {{below.a, isAbove(below.a, b)}, {below.b, isAbove(below.b, a)}};
}

std::int64_t comparedShare(const QueueTree& tree, const ComparedBranch& compared, const Amounts& more) {
  const QueueTree::Node& node = tree.node(compared.branch);
  return compared.isAbove ? shareOf(tree, node.ownUsage, more, 1, {})
                          : shareOf(tree, node.averaged, more, 1, {&node.covered, node.weight});
}

}  // namespace trainyard::core
