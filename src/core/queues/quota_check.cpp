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

// A resource in all of the cluster, and on nodes with GPUs alone if it is counted there, too.
struct Resource {
  std::size_t d = 0;
  std::optional<std::size_t> beside = std::nullopt;
};

struct Commitment {
  std::int64_t all = 0;
  std::int64_t elsewhere = 0;  // of it, what jobs that cannot be preempted hold on nodes without GPUs
};

// What a subtree may claim at any moment: its guarantee, or what its jobs that cannot be preempted hold if
// that is more. What a guarantee of GPUs covers beside them is claimed in addition to what such jobs hold on
// nodes without GPUs. (Rejected: the larger of both. A job that cannot be preempted took the nodes without
// GPUs from a guarantee of cores, and the others' cores were covered beside GPUs.)
Commitment commitmentOf(const QueueTree& tree, Index index, const Resource& of, Index to,
                        const Amounts& more) {
  const QueueTree::Node& node = tree.node(index);
  const auto held = [&](std::size_t d) {
    return index == to ? base::saturatingAdd(node.nonPreemptible[d], more[d]) : node.nonPreemptible[d];
  };
  Commitment committed{held(of.d), 0};
  if (of.beside) committed.elsewhere = base::saturatingSubtract(held(of.d), held(*of.beside));
  for (const Index child : node.children) {
    const Commitment below = commitmentOf(tree, child, of, to, more);
    committed.all = base::saturatingAdd(committed.all, below.all);
    committed.elsewhere = base::saturatingAdd(committed.elsewhere, below.elsewhere);
  }
  committed.all = std::max(committed.all, guaranteedOf(tree, index, of.d));
  if (of.beside) {
    const std::int64_t covered = guaranteedOf(tree, index, *of.beside);
    committed.all = std::max(committed.all, base::saturatingAdd(covered, committed.elsewhere));
  }
  return committed;
}

// Whether some guarantees could not be kept beside so much more that cannot be preempted: in the
// cluster, or below the limit of a queue on the path. Within the queue's own guarantee it takes nothing
// from others, whatever nodes exist at the moment.
bool commitsTooMuch(const QueueTree& tree, Index queue, std::size_t d, const Amounts& more) {
  const Amounts none = tree.dimensions().none();
  const auto exceeds = [&](Index at, const Resource& of, std::int64_t capacity) {
    const std::int64_t then = commitmentOf(tree, at, of, queue, more).all;
    return then > capacity && then != commitmentOf(tree, at, of, queue, none).all;
  };
  const auto& path = tree.node(queue).path;
  return exceeds(QueueTree::kCluster, {d, tree.dimensions().gpuNodeResourceOf(d)},
                 tree.capacity().available()[d]) ||
         std::any_of(path.begin(), path.end(),
                     [&](Index at) { return exceeds(at, {d}, tree.node(at).limit[d]); });
}

}  // namespace

std::optional<Excess> exceededQuota(const QueueTree& tree, Index queue, const Amounts& more, bool preemptible,
                                    Leaving leaving) {
  auto beyond = beyondLimit(tree, queue, more);
  if (!beyond && leaving == Leaving::kCounts) beyond = beyondLimitWithLeaving(tree, queue, more);
  if (!beyond && !preemptible) beyond = beyondNonPreemptible(tree, queue, more);
  return beyond;
}

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
    if (!commitsTooMuch(tree, queue, d, more)) continue;
    for (const Index at : tree.node(queue).path) {
      const std::int64_t usage = tree.node(at).usage[d];
      const std::int64_t guaranteed = guaranteedOf(tree, at, d);
      if (base::saturatingAdd(usage, more[d]) > guaranteed) return Excess{at, d, usage, guaranteed, 0, true};
    }
    return Excess{queue, d, tree.node(queue).nonPreemptible[d], ownGuaranteeOf(tree, queue, d), 0, true};
  }
  return std::nullopt;
}

}  // namespace trainyard::core
