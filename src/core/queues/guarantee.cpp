#include "core/queues/guarantee.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/queues/queue_share.h"

namespace trainyard::core {
namespace {

using Index = QueueTree::Index;
using Node = QueueTree::Node;

// The part of the cluster, in 1 / kShareUnit.
std::int64_t partOf(const QueueTree& tree, std::size_t d, std::int64_t amount) {
  const std::int64_t installed = tree.capacity().installed()[d];
  return installed <= 0 ? 0 : base::scaled(amount, kShareUnit, installed);
}

const Amounts& boundOf(const Node& node, Bound bound) {
  return bound == Bound::kAtMost ? node.coveredAtMost : node.covered;
}

// What the queue is guaranteed by name of the resource of a dimension beside GPUs: its jobs may run on any
// node. (Rejected: only what nodes without GPUs do not have. They may be cordoned or full.)
std::int64_t namedAs(const QueueTree& tree, const Node& node, std::size_t beside) {
  const QuotaDimensions& dimensions = tree.dimensions();
  for (std::size_t named = dimensions.cpu(); named < dimensions.firstType(); ++named) {
    if (dimensions.gpuNodeResourceOf(named) == beside) return node.guaranteed[named];
  }
  return 0;
}

// As much for each guaranteed GPU as the node with the most has.
std::int64_t besideGpusAtMost(const QueueTree& tree, const Node& node, std::size_t d) {
  constexpr std::int64_t kPermille = 1'000;
  return base::scaledUp(tree.capacity().mostPerGpu(d), gpusOf(tree.dimensions(), node.guaranteed), kPermille);
}

bool names(const Node& node, const std::string& resource) {
  return node.queue != nullptr && (*node.queue)->guaranteed.find(resource).has_value();
}

// Whether `wanted` names types of GPUs that some queue is guaranteed. Otherwise GPUs of any type are
// compared. So they are if several resources are GPUs: a type does not name its resource.
bool wantsTypes(const QueueTree& tree, const Amounts& wanted) {
  const QuotaDimensions& dimensions = tree.dimensions();
  if (dimensions.cpu() != 1 || wanted[0] <= 0) return false;
  for (std::size_t d = dimensions.firstType(); d < dimensions.firstGpuNodeResource(); ++d) {
    if (wanted[d] > 0 && dimensions.counts(d)) return true;
  }
  return false;
}

// Whether the queue holds, with `more`, more GPUs beyond its guarantees by type than it is guaranteed of any
// type.
bool exceedsTypes(const QueueTree& tree, const Node& node, const Amounts* more) {
  const auto held = [&](std::size_t d) {
    return more == nullptr ? node.usage[d] : base::saturatingAdd(node.usage[d], (*more)[d]);
  };
  std::int64_t beyond = held(0);
  std::int64_t any = node.guaranteed[0];
  for (std::size_t d = tree.dimensions().firstType(); d < tree.dimensions().firstGpuNodeResource(); ++d) {
    beyond = base::saturatingSubtract(beyond, std::min(held(d), node.guaranteed[d]));
    any = base::saturatingSubtract(any, node.guaranteed[d]);
  }
  return beyond > any;
}

// Whether the queue is guaranteed all of `more` by type, whatever it holds of other types.
bool staysWithinTypes(const QueueTree& tree, const Node& node, const Amounts& more) {
  for (std::size_t d = tree.dimensions().firstType(); d < tree.dimensions().firstGpuNodeResource(); ++d) {
    if (more[d] > 0 && base::saturatingAdd(node.usage[d], more[d]) > node.guaranteed[d]) return false;
  }
  return true;
}

// Whether the queue can exceed a guarantee in this dimension. No guarantee concerns a type of GPUs that only
// limits name.
bool matters(const QueueTree& tree, const Node& node, std::size_t d) {
  return !tree.dimensions().isType(d) || tree.dimensions().counts(d) || node.guaranteed[d] > 0;
}

// Dimensions whose parts of the cluster are compared end here. A guarantee of GPUs by type is one of as many
// GPUs, if only one resource is GPUs. (Rejected: the part of the type. The only GPU of a type kept all cores
// of its node.)
std::size_t endOfParts(const QuotaDimensions& dimensions) {
  return dimensions.cpu() == 1 ? dimensions.firstType() : dimensions.firstGpuNodeResource();
}

// The largest part of the cluster that a gang of the queue with these holdings holds within what the queue is
// guaranteed by name.
std::int64_t guaranteedPart(const QueueTree& tree, const Node& node, const Amounts& held) {
  std::int64_t part = 0;
  const std::size_t end = endOfParts(tree.dimensions());
  for (std::size_t d = 0; d < end; ++d) {
    if (held[d] <= 0 || node.guaranteed[d] <= 0) continue;
    const std::int64_t usage = std::max(node.usage[d], held[d]);
    part = std::max(part, base::scaled(partOf(tree, d, held[d]), std::min(node.guaranteed[d], usage), usage));
  }
  return part;
}

// The queue as seen from the queues below it: its own jobs alone, and what it is guaranteed beyond its
// children.
Node ownJobsOf(const QueueTree& tree, Index queue) {
  Node own = tree.node(queue);
  own.usage = own.ownUsage;
  for (const Index child : own.children) {
    const Node& below = tree.node(child);
    for (std::size_t d = 0; d < own.usage.size(); ++d) {
      own.guaranteed[d] = std::max<std::int64_t>(own.guaranteed[d] - below.guaranteed[d], 0);
      own.covered[d] = std::max<std::int64_t>(own.covered[d] - below.covered[d], 0);
      own.coveredAtMost[d] = std::max<std::int64_t>(own.coveredAtMost[d] - below.coveredAtMost[d], 0);
    }
  }
  return own;
}

// The largest part of the cluster that the queue is guaranteed by name.
std::int64_t guaranteedPartOf(const QueueTree& tree, const Node& node) {
  std::int64_t part = 0;
  for (std::size_t d = 0; d < endOfParts(tree.dimensions()); ++d)
    part = std::max(part, partOf(tree, d, node.guaranteed[d]));
  return part;
}

// What is covered of a resource for the gang alone: as much as its guaranteed part is of the queue's. Cores
// and memory that are covered beside GPUs count also where the queue names fewer. (Rejected: what it names. A
// gang lost guaranteed GPUs for a few idle cores.)
std::int64_t coveredFor(const QueueTree& tree, const Node& node, std::int64_t part, std::size_t d,
                        const Amounts& covered) {
  const std::int64_t whole = guaranteedPartOf(tree, node);
  if (whole <= 0) return 0;
  std::int64_t ofQueue = covered[d];
  if (const auto beside = tree.dimensions().gpuNodeResourceOf(d))
    ofQueue = std::max(ofQueue, covered[*beside]);
  return base::scaled(ofQueue, std::min(part, whole), whole);
}

// `part`: guaranteedPart() of the gang.
template <typename Counts>
bool yields(const QueueTree& tree, const Node& node, const Yield& yield, std::int64_t part,
            const Amounts& wanted, Bound bound, const Counts& counts) {
  const Amounts& covered = boundOf(node, bound);
  const bool typed = wantsTypes(tree, wanted);
  const bool tooManyOfTypes = typed && exceedsTypes(tree, node, nullptr);
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] <= 0 || yield.given[d] <= 0 || !counts(d) || !matters(tree, node, d)) continue;
    if (typed && tree.dimensions().isGpu(d) && (!tree.dimensions().isType(d) || !tooManyOfTypes)) continue;
    if (node.usage[d] <= covered[d]) continue;
    if (tree.dimensions().isGpu(d) || yield.held[d] > coveredFor(tree, node, part, d, covered)) return true;
  }
  return false;
}

}  // namespace

Coverage coverageOf(const QueueTree& tree, const GuaranteeShares& shares, Index queue) {
  const Node& node = tree.node(queue);
  Coverage coverage{node.guaranteed, node.guaranteed};
  const auto isNone = [](std::int64_t amount) { return amount == 0; };
  if (std::all_of(node.guaranteed.begin(), node.guaranteed.end(), isNone)) return coverage;
  auto& [part, most] = coverage;
  const QuotaDimensions& dimensions = tree.dimensions();
  for (std::size_t d = dimensions.firstGpuNodeResource(); d < part.size(); ++d) {
    part[d] = shares.covered(queue, d);
    most[d] = std::max({part[d], besideGpusAtMost(tree, node, d), namedAs(tree, node, d)});
  }
  for (std::size_t d = dimensions.cpu(); d < dimensions.firstType(); ++d) {
    if (names(node, dimensions.names()[d])) continue;
    part[d] = std::max(part[d], shares.covered(queue, d));
    most[d] = part[d];
    if (const auto beside = dimensions.gpuNodeResourceOf(d)) most[d] = std::max(most[d], most[*beside]);
  }
  return coverage;
}

bool guaranteeAdmits(const QueueTree& tree, Index queue, const Amounts& more, Bound bound) {
  const Node& node = tree.node(queue);
  const Amounts& covered = boundOf(node, bound);
  const bool typed = wantsTypes(tree, more);
  const bool withinTypes = typed && staysWithinTypes(tree, node, more);
  if (typed && !withinTypes && exceedsTypes(tree, node, &more)) return false;
  bool isNamed = false;
  for (std::size_t d = 0; d < more.size(); ++d) {
    if (more[d] <= 0 || !matters(tree, node, d)) continue;
    isNamed = isNamed || node.guaranteed[d] > 0;
    if (tree.dimensions().isGpu(d) && (typed && (tree.dimensions().isType(d) || withinTypes))) continue;
    if (base::saturatingAdd(node.usage[d], more[d]) > covered[d]) return false;
  }
  return isNamed;
}

bool isWithinGuarantee(const QueueTree& tree, Index queue, const Amounts& more, Bound bound) {
  const auto& path = tree.node(queue).path;
  return !path.empty() && isWithinGuaranteeBelow(tree, path.front(), queue, more, bound);
}

bool isWithinGuaranteeBelow(const QueueTree& tree, Index branch, Index queue, const Amounts& more,
                            Bound bound) {
  const auto& path = tree.node(queue).path;
  return std::any_of(std::find(path.begin(), path.end(), branch), path.end(),
                     [&](Index at) { return guaranteeAdmits(tree, at, more, bound); });
}

bool yieldsBorrowed(const QueueTree& tree, Index queue, const Yield& yield, const Amounts& wanted,
                    Bound bound) {
  const auto judge = [&](const Node& node) {
    const std::int64_t part = guaranteedPart(tree, node, yield.held);
    return part == 0 || yields(tree, node, yield, part, wanted, bound, [](std::size_t) { return true; });
  };
  return yield.isOfOwnJobs ? judge(ownJobsOf(tree, queue)) : judge(tree.node(queue));
}

bool yieldsShare(const QueueTree& tree, Index queue, const Yield& yield, const Amounts& wanted) {
  bool givesGpus = false;
  for (std::size_t d = 0; d < wanted.size(); ++d)
    givesGpus = givesGpus || (tree.dimensions().isGpu(d) && wanted[d] > 0 && yield.given[d] > 0);
  const auto isShort = [&](std::size_t d) {
    return base::saturatingAdd(tree.node(QueueTree::kCluster).usage[d], wanted[d]) >
           tree.capacity().available()[d];
  };
  const Node& node = tree.node(queue);
  const std::int64_t part = guaranteedPart(tree, node, yield.held);
  return yields(tree, node, yield, part, wanted, Bound::kInProportion, [&](std::size_t d) {
    return tree.dimensions().counts(d) && (!givesGpus || tree.dimensions().isGpu(d) || isShort(d));
  });
}

}  // namespace trainyard::core
