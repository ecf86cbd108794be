#include <algorithm>
#include <string>

#include "base/saturating.h"
#include "core/queues/queue_tree.h"
#include "model/message_text.h"

// The QueueTree functions on limits, guarantees and shares.
namespace trainyard::core {
namespace {

using Index = QueueTree::Index;

}  // namespace

std::optional<QueueTree::Excess> QueueTree::beyondLimit(Index queue, const Amounts& more) const {
  const auto& path = nodes_[queue].path;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    const Node& node = nodes_[*at];
    for (std::size_t d = 0; d < more.size(); ++d) {
      if (more[d] > 0 && base::saturatingAdd(node.usage[d], more[d]) > node.limit[d]) {
        return Excess{*at, d, node.usage[d], node.limit[d]};
      }
    }
  }
  return std::nullopt;
}

std::optional<QueueTree::Excess> QueueTree::beyondLimitWithLeaving(Index queue, const Amounts& more) const {
  const auto& path = nodes_[queue].path;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    const Node& node = nodes_[*at];
    for (std::size_t d = 0; d < more.size(); ++d) {
      if (more[d] <= 0 || node.leaving[d] <= 0) continue;
      const std::int64_t held = base::saturatingAdd(node.usage[d], node.leaving[d]);
      if (base::saturatingAdd(held, more[d]) > node.limit[d])
        return Excess{*at, d, held, node.limit[d], node.leaving[d]};
    }
  }
  return std::nullopt;
}

std::optional<QueueTree::Excess> QueueTree::beyondEmptyLimit(Index queue, const Amounts& more) const {
  const auto& path = nodes_[queue].path;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    for (std::size_t d = 0; d < more.size(); ++d) {
      if (more[d] > nodes_[*at].limit[d]) return Excess{*at, d, 0, nodes_[*at].limit[d]};
    }
  }
  return std::nullopt;
}

// The queue's guarantee. What a guarantee of GPUs covers beside them is included. Otherwise jobs that cannot
// be preempted could keep guaranteed GPUs idle.
std::int64_t QueueTree::guaranteedOf(const Node& node, std::size_t dimension) const {
  return dimension < firstGpuNodeResource_ ? node.guaranteed[dimension]
                                           : std::min(node.covered[dimension], capacity_[dimension]);
}

// What a subtree may claim at any moment: its guarantee, or what its
// jobs that cannot be preempted hold if that is more.
std::int64_t QueueTree::committed(Index index, std::size_t dimension, Index to, std::int64_t more) const {
  std::int64_t nonPreemptible = nodes_[index].nonPreemptible[dimension];
  if (index == to) nonPreemptible = base::saturatingAdd(nonPreemptible, more);
  for (const Index child : nodes_[index].children) {
    nonPreemptible = base::saturatingAdd(nonPreemptible, committed(child, dimension, to, more));
  }
  return std::max(nonPreemptible, guaranteedOf(nodes_[index], dimension));
}

std::optional<QueueTree::Excess> QueueTree::beyondNonPreemptible(Index queue, const Amounts& more) const {
  for (std::size_t d = 0; d < more.size(); ++d) {
    if (more[d] <= 0) continue;
    // Without any guarantee of this resource no queue has one that could be violated.
    if (guaranteedOf(nodes_[kCluster], d) == 0) continue;
    if (!commitsTooMuch(queue, d, more[d])) continue;
    for (const Index at : nodes_[queue].path) {
      const Node& node = nodes_[at];
      const std::int64_t guaranteed = guaranteedOf(node, d);
      if (base::saturatingAdd(node.usage[d], more[d]) > guaranteed)
        return Excess{at, d, node.usage[d], guaranteed};
    }
  }
  return std::nullopt;
}

// Whether some guarantees could not be kept beside so much more that cannot be preempted: in the
// cluster, or below the limit of a queue on the path. Within the queue's own guarantee it takes nothing
// from others, whatever nodes exist at the moment.
bool QueueTree::commitsTooMuch(Index queue, std::size_t dimension, std::int64_t more) const {
  const auto exceeds = [&](Index at, std::int64_t capacity) {
    const std::int64_t then = committed(at, dimension, queue, more);
    return then > capacity && then != committed(at, dimension, queue, 0);
  };
  const auto& path = nodes_[queue].path;
  return exceeds(kCluster, capacity_[dimension]) || std::any_of(path.begin(), path.end(), [&](Index at) {
           return exceeds(at, nodes_[at].limit[dimension]);
         });
}

std::int64_t QueueTree::share(const Amounts& usage, const Amounts& more, int sign, const Amounts* guaranteed,
                              std::int64_t weight, const Amounts* wanted) const {
  std::int64_t largest = 0;
  for (std::size_t d = 0; d < usage.size(); ++d) {
    if (!counts(d) || capacity_[d] <= 0) continue;
    if (d >= firstType_ && wanted != nullptr && (*wanted)[d] <= 0) continue;
    const std::int64_t held = base::saturatingAdd(usage[d], sign * more[d]);
    const std::int64_t above =
        guaranteed == nullptr ? held : base::saturatingSubtract(held, (*guaranteed)[d]);
    if (above <= 0) continue;
    largest = std::max(largest, base::scaled(above, kShareUnit, capacity_[d]) / weight);
  }
  return largest;
}

std::int64_t QueueTree::shareWith(Index queue, const Amounts& more) const {
  const Node& node = nodes_[queue];
  return share(node.usage, more, 1, &node.covered, node.weight, &more);
}

std::int64_t QueueTree::shareWithout(Index queue, const Amounts& less, const Amounts& wanted) const {
  const Node& node = nodes_[queue];
  return share(node.usage, less, -1, &node.covered, node.weight, &wanted);
}

QueueTree::Branches QueueTree::branches(Index a, Index b) const {
  const auto& pathA = nodes_[a].path;
  const auto& pathB = nodes_[b].path;
  std::size_t depth = 0;
  while (depth < pathA.size() && depth < pathB.size() && pathA[depth] == pathB[depth]) ++depth;
  return {depth < pathA.size() ? pathA[depth] : a, depth < pathB.size() ? pathB[depth] : b};
}

QueueTree::Servings QueueTree::servings(Index a, Index b) const {
  const Branches below = branches(a, b);
  const auto isAbove = [&](Index branch, Index other) {
    const auto& path = nodes_[other].path;
    return std::find(path.begin(), path.end(), branch) != path.end();
  };
  return {{below.a, isAbove(below.a, b)}, {below.b, isAbove(below.b, a)}};
}

std::int64_t QueueTree::servingShare(const Serving& serving, const Amounts& more) const {
  const Node& node = nodes_[serving.branch];
  return serving.isAbove ? share(node.ownUsage, more, 1, nullptr, 1)
                         : share(node.averaged, more, 1, &node.covered, node.weight);
}

void QueueTree::noteWaiting(Index queue, const Amounts& demand) {
  for (const Index at : nodes_[queue].path) {
    auto& least = nodes_[at].smallestPending;
    if (!least) {
      least = demand;
      continue;
    }
    for (std::size_t d = 0; d < demand.size(); ++d) (*least)[d] = std::min((*least)[d], demand[d]);
  }
}

bool QueueTree::reclaimableAfter(Index queue, const Amounts& held) const {
  const Node& node = nodes_[queue];
  if (!node.smallestPending) return false;
  bool gains = false;
  for (std::size_t d = 0; d < held.size(); ++d) {
    if (node.guaranteed[d] <= 0) continue;
    const std::int64_t then = base::saturatingAdd(node.usage[d] - held[d], (*node.smallestPending)[d]);
    if (then > node.guaranteed[d]) return false;
    gains = gains || held[d] > 0;
  }
  return gains;
}

std::vector<model::NodeName> QueueTree::nodesOfType(std::size_t dimension) const {
  std::vector<model::NodeName> nodes;
  if (dimension >= firstGpuNodeResource_) return {gpuNodes_->begin(), gpuNodes_->end()};
  for (const auto& [node, type] : *typeOf_) {
    if (type == dimension) nodes.push_back(node);  // NOLINT(*-naming)
  }
  return nodes;
}

std::string QueueTree::amount(std::size_t dimension, std::int64_t amount) const {
  std::string text = model::amountOf(dimensions_[dimension], amount);
  return dimension < firstGpuNodeResource_ ? text : text + " on nodes with GPUs";
}

std::string QueueTree::plain(std::size_t dimension, std::int64_t amount) const {
  const std::string text = this->amount(dimension, amount);
  return text.substr(0, text.find(' '));
}

}  // namespace trainyard::core
