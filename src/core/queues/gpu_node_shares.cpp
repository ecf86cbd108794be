#include "core/queues/gpu_node_shares.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/queues/queue_share.h"

namespace trainyard::core {

using Index = QueueTree::Index;

std::int64_t gpusOf(const QuotaDimensions& dimensions, const Amounts& amounts) {
  std::int64_t gpus = 0;
  for (std::size_t d = 0; d < dimensions.cpu(); ++d) gpus = base::saturatingAdd(gpus, amounts[d]);
  return gpus;
}

GpuNodeShares::GpuNodeShares(const QueueTree& tree)
    : tree_(tree),
      gpus_(gpusOf(tree.dimensions(), tree.capacity().installed())),
      resources_(resourcesNeeded()),
      parts_(tree.size(), 0) {
  if (gpus_ <= 0 || tree.dimensions().firstGpuNodeResource() == tree.dimensions().size()) return;
  if (divide(QueueTree::kCluster, kShareUnit, parts_) <= kShareUnit || resources_.empty()) return;
  isShort_ = true;
  std::int64_t fits = 0;
  std::int64_t exceeds = kShareUnit;
  while (exceeds - fits > 1) {
    const std::int64_t middle = fits + (exceeds - fits) / 2;
    (divide(QueueTree::kCluster, middle, parts_) <= kShareUnit ? fits : exceeds) = middle;
  }
  divide(QueueTree::kCluster, fits, parts_);
}

std::int64_t GpuNodeShares::covered(Index queue, std::size_t dimension) const {
  if (gpus_ <= 0) return 0;
  const std::int64_t there = tree_.capacity().installed()[dimension];
  std::int64_t most = base::scaled(there, parts_[queue], kShareUnit);
  // Exactly, where parts in 1 / kShareUnit are rounded down.
  if (!isShort_)
    most =
        std::max(most, base::scaled(there, gpusOf(tree_.dimensions(), tree_.node(queue).guaranteed), gpus_));
  for (const Resource& resource : resources_) {
    if (resource.beside == dimension) most = std::max(most, neededBy(queue, resource));
  }
  return most;
}

std::vector<GpuNodeShares::Resource> GpuNodeShares::resourcesNeeded() const {
  const QuotaDimensions& dimensions = tree_.dimensions();
  const Amounts& installed = tree_.capacity().installed();
  std::vector<Resource> found;
  for (std::size_t named = dimensions.cpu(); named < dimensions.firstType(); ++named) {
    const auto beside = dimensions.gpuNodeResourceOf(named);
    if (!beside || installed[*beside] <= 0) continue;
    const std::int64_t elsewhere = base::saturatingSubtract(installed[named], installed[*beside]);
    const std::int64_t needed =
        base::saturatingSubtract(tree_.node(QueueTree::kCluster).guaranteed[named], elsewhere);
    if (needed > 0) found.push_back({named, *beside, std::min(needed, installed[*beside])});
  }
  return found;
}

std::int64_t GpuNodeShares::neededBy(Index queue, const Resource& resource) const {
  const std::int64_t ofAll = tree_.node(QueueTree::kCluster).guaranteed[resource.named];
  return base::scaled(resource.needed, tree_.node(queue).guaranteed[resource.named], ofAll);
}

std::int64_t GpuNodeShares::divide(Index at, std::int64_t perGpus, std::vector<std::int64_t>& parts) const {
  std::int64_t gpus = gpusOf(tree_.dimensions(), tree_.node(at).guaranteed);
  std::int64_t below = 0;
  for (const Index child : tree_.node(at).children) {
    below = base::saturatingAdd(below, divide(child, perGpus, parts));
    gpus = base::saturatingSubtract(gpus, gpusOf(tree_.dimensions(), tree_.node(child).guaranteed));
  }
  std::int64_t part =
      base::saturatingAdd(below, base::scaled(std::max<std::int64_t>(gpus, 0), perGpus, gpus_));
  for (const Resource& resource : resources_) {
    const std::int64_t there = tree_.capacity().installed()[resource.beside];
    part = std::max(part, base::scaled(neededBy(at, resource), kShareUnit, there));
  }
  return parts[at] = part;
}

}  // namespace trainyard::core
