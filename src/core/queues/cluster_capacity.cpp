#include "core/queues/cluster_capacity.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/gpu_resources.h"

namespace trainyard::core {
namespace {

// Only if some quota names a type.
std::map<model::NodeName, std::size_t> typesOfNodes(const QuotaDimensions& dimensions,
                                                    const model::Snapshot& snapshot) {
  std::map<model::NodeName, std::size_t> types;
  if (!dimensions.namesTypes()) return types;
  for (const auto& node : snapshot.nodes) {
    const std::string* label = node->labels.find(snapshot.policy.gpuTypeLabel);
    if (label == nullptr) continue;
    if (const auto dimension = dimensions.ofType(*label)) types.emplace(node->name, *dimension);
  }
  return types;
}

}  // namespace

ClusterCapacity::ClusterCapacity(QuotaDimensions named, const model::Snapshot& snapshot)
    : dimensions_(std::move(named)) {
  if (guaranteesGpus(snapshot)) addGpuNodes(snapshot);
  types_ = typesOfNodes(dimensions_, snapshot);
  available_ = sumOf(snapshot, false);
  installed_ = sumOf(snapshot, true);
  mostPerGpu_ = mostPerGpuOf(snapshot);
}

// A resource that a quota names is beside GPUs, too: what the quota admits may be on any node.
void ClusterCapacity::addGpuNodes(const model::Snapshot& snapshot) {
  std::set<std::string> names;
  model::forEachNative([&](const auto& native) { names.emplace(native.name); });
  for (const auto& node : snapshot.nodes) {
    if (node->allocatable.gpus() <= 0) continue;
    gpuNodes_.insert(node->name);
    for (const auto& [name, amount] : node->allocatable.extendedAll()) names.insert(name);
  }
  for (const std::string& gpus : model::gpuResources()) names.erase(gpus);
  dimensions_.addGpuNodeResources({names.begin(), names.end()});
}

Amounts ClusterCapacity::sumOf(const model::Snapshot& snapshot, bool includeClosed) const {
  Amounts sum = dimensions_.none();
  for (const auto& node : snapshot.nodes) {
    if (!includeClosed && !node->takesPods()) continue;
    dimensions_.addRequests(node->allocatable, 1, sum);
    if (node->allocatable.gpus() > 0) dimensions_.addGpuNodeRequests(node->allocatable, 1, sum);
    if (const auto type = typeOf(node->name))
      sum[*type] = base::saturatingAdd(sum[*type], node->allocatable.gpus());
  }
  return sum;
}

Amounts ClusterCapacity::mostPerGpuOf(const model::Snapshot& snapshot) const {
  constexpr std::int64_t kPermille = 1'000;
  const std::size_t first = dimensions_.firstGpuNodeResource();
  Amounts most(dimensions_.size() - first, 0);
  for (const auto& node : snapshot.nodes) {
    const std::int64_t gpus = node->allocatable.gpus();
    if (gpus <= 0) continue;
    for (std::size_t d = first; d < dimensions_.size(); ++d) {
      const std::int64_t each = base::scaledUp(dimensions_.amountIn(node->allocatable, d), kPermille, gpus);
      most[d - first] = std::max(most[d - first], each);
    }
  }
  return most;
}

bool ClusterCapacity::hasNodesWithoutGpus() const {
  const std::size_t cpu = dimensions_.cpu();
  for (std::size_t d = dimensions_.firstGpuNodeResource(); d < dimensions_.size(); ++d) {
    if (dimensions_.names()[d] == dimensions_.names()[cpu]) return installed_[d] < installed_[cpu];
  }
  return true;
}

bool ClusterCapacity::dependsOnNodes(bool isPreemptible) const {
  const bool countsBesideGpus = dimensions_.firstGpuNodeResource() < dimensions_.size();
  return dimensions_.namesTypes() || (!isPreemptible && countsBesideGpus);
}

std::optional<std::size_t> ClusterCapacity::typeOf(const model::NodeName& node) const {
  const auto type = types_.find(node);
  return type == types_.end() ? std::nullopt : std::optional(type->second);
}

std::string_view ClusterCapacity::gpuTypeOf(const model::NodeName& node) const {
  const auto type = typeOf(node);
  if (!type) return {};
  return std::string_view(dimensions_.names()[*type]).substr(model::kGpuTypePrefix.size());
}

std::vector<model::NodeName> ClusterCapacity::nodesOf(std::size_t dimension) const {
  if (dimension >= dimensions_.firstGpuNodeResource()) return {gpuNodes_.begin(), gpuNodes_.end()};
  std::vector<model::NodeName> nodes;
  for (const auto& [node, type] : types_) {
    if (type == dimension) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace trainyard::core
