#include "core/queues/quota_check.h"

#include <algorithm>

namespace trainyard::core {
namespace {

using Index = QueueTree::Index;

// The queue's guarantee. What a guarantee of GPUs covers beside them is included. Otherwise jobs that cannot
// be preempted could keep guaranteed GPUs idle.
std::int64_t guaranteedOf(const QueueTree& tree, Index queue, std::size_t d) {
  const QueueTree::Node& node = tree.node(queue);
  return d < tree.dimensions().firstGpuNodeResource()
             ? node.guaranteed[d]
             : std::min(node.covered[d], tree.capacity().available()[d]);
}

// What the queue is guaranteed beyond the queues below it, for its own jobs.
std::int64_t ownGuaranteeOf(const QueueTree& tree, Index queue, std::size_t d) {
  std::int64_t own = guaranteedOf(tree, queue, d);
  for (const Index child : tree.node(queue).children)
    own = base::saturatingSubtract(own, guaranteedOf(tree, child, d));
  return std::max<std::int64_t>(own, 0);
}

// What a subtree may claim at any moment: its guarantee, or what its jobs that cannot be preempted hold if
// that is more.
std::int64_t committed(const QueueTree& tree, Index index, std::size_t d, Index to, std::int64_t more) {
  std::int64_t nonPreemptible = tree.node(index).nonPreemptible[d];
  if (index == to) nonPreemptible = base::saturatingAdd(nonPreemptible, more);
  for (const Index child : tree.node(index).children)
    nonPreemptible = base::saturatingAdd(nonPreemptible, committed(tree, child, d, to, more));
  return std::max(nonPreemptible, guaranteedOf(tree, index, d));
}

// Whether some guarantees could not be kept beside so much more that cannot be preempted: in the
// cluster, or below the limit of a queue on the path. Within the queue's own guarantee it takes nothing
// from others, whatever nodes exist at the moment.
bool commitsTooMuch(const QueueTree& tree, Index queue, std::size_t d, std::int64_t more) {
  const auto exceeds = [&](Index at, std::int64_t capacity) {
    const std::int64_t then = committed(tree, at, d, queue, more);
    return then > capacity && then != committed(tree, at, d, queue, 0);
  };
  const auto& path = tree.node(queue).path;
  return exceeds(QueueTree::kCluster, tree.capacity().available()[d]) ||
         std::any_of(path.begin(), path.end(), [&](Index at) { return exceeds(at, tree.node(at).limit[d]); });
}

}  // namespace

std::optional<Excess> beyondLimit(const QueueTree& tree, Index queue, const Amounts& more) {
  const auto& path = tree.node(queue).path;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    const QueueTree::Node& node = tree.node(*at);
    for (std::size_t d = 0; d < more.size(); ++d) {
      if (more[d] > 0 && base::saturatingAdd(node.usage[d], more[d]) > node.limit[d])
        return Excess{*at, d, node.usage[d], node.limit[d]};
    }
  }
  return std::nullopt;
}

std::optional<Excess> beyondLimitWithLeaving(const QueueTree& tree, Index queue, const Amounts& more) {
  const auto& path = tree.node(queue).path;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    const QueueTree::Node& node = tree.node(*at);
    for (std::size_t d = 0; d < more.size(); ++d) {
      if (more[d] <= 0 || node.leaving[d] <= 0) continue;
      const std::int64_t held = base::saturatingAdd(node.usage[d], node.leaving[d]);
      if (base::saturatingAdd(held, more[d]) > node.limit[d])
        return Excess{*at, d, held, node.limit[d], node.leaving[d]};
    }
  }
  return std::nullopt;
}

std::optional<Excess> beyondEmptyLimit(const QueueTree& tree, Index queue, const Amounts& more) {
  const auto& path = tree.node(queue).path;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    const Amounts& limit = tree.node(*at).limit;
    for (std::size_t d = 0; d < more.size(); ++d) {
      if (more[d] > limit[d]) return Excess{*at, d, 0, limit[d]};
    }
  }
  return std::nullopt;
}

std::optional<Excess> beyondNonPreemptible(const QueueTree& tree, Index queue, const Amounts& more) {
  for (std::size_t d = 0; d < more.size(); ++d) {
    if (more[d] <= 0) continue;
    // Without any guarantee of this resource no queue has one that could be violated.
    if (guaranteedOf(tree, QueueTree::kCluster, d) == 0) continue;
    if (!commitsTooMuch(tree, queue, d, more[d])) continue;
    for (const Index at : tree.node(queue).path) {
      const std::int64_t usage = tree.node(at).usage[d];
      const std::int64_t guaranteed = guaranteedOf(tree, at, d);
      if (base::saturatingAdd(usage, more[d]) > guaranteed) return Excess{at, d, usage, guaranteed};
    }
    return Excess{queue, d, tree.node(queue).nonPreemptible[d], ownGuaranteeOf(tree, queue, d)};
  }
  return std::nullopt;
}

}  // namespace trainyard::core
