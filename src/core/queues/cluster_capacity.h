#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/queues/quota_dimensions.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What the nodes have, by quota dimension, and which node counts in which dimensions.
class ClusterCapacity {
 public:
  ClusterCapacity() = default;
  // `named`: the dimensions without resources beside GPUs, which are added if a queue is guaranteed GPUs.
  ClusterCapacity(QuotaDimensions named, const model::Snapshot& snapshot);

  [[nodiscard]] const QuotaDimensions& dimensions() const { return dimensions_; }
  // Of nodes that are ready and not cordoned.
  [[nodiscard]] const Amounts& available() const { return available_; }
  // Of all nodes: what runs on nodes that are cordoned or not ready is charged, too.
  [[nodiscard]] const Amounts& installed() const { return installed_; }
  // How much of a resource beside GPUs the node with the most of it has for each GPU, in 1/1000 of the
  // resource's unit.
  [[nodiscard]] std::int64_t mostPerGpu(std::size_t dimension) const {
    return mostPerGpu_[dimension - dimensions_.firstGpuNodeResource()];
  }
  [[nodiscard]] bool hasNodesWithoutGpus() const;
  // Whether a job's amounts depend on its nodes: by types of GPUs, or by the resources beside GPUs,
  // which count for jobs that cannot be preempted.
  [[nodiscard]] bool dependsOnNodes(bool isPreemptible) const;
  // Whether the resources beside GPUs of this node count. False if no queue is guaranteed GPUs.
  [[nodiscard]] bool countsGpuNode(const model::NodeName& node) const { return gpuNodes_.contains(node); }
  // The dimension of the node's type of GPU, if some quota names the type.
  [[nodiscard]] std::optional<std::size_t> typeOf(const model::NodeName& node) const;
  // The name of that type, or empty.
  [[nodiscard]] std::string_view gpuTypeOf(const model::NodeName& node) const;
  // Nodes with the type of GPU of this dimension. For a resource beside GPUs, all nodes with GPUs; for any
  // other resource none.
  [[nodiscard]] std::vector<model::NodeName> nodesOf(std::size_t dimension) const;

  // Whether every job and pod has the same amounts by both.
  [[nodiscard]] bool countsAs(const ClusterCapacity& other) const {
    return dimensions_ == other.dimensions_ && types_ == other.types_ && gpuNodes_ == other.gpuNodes_;
  }

 private:
  void addGpuNodes(const model::Snapshot& snapshot);
  [[nodiscard]] Amounts sumOf(const model::Snapshot& snapshot, bool includeClosed) const;
  [[nodiscard]] Amounts mostPerGpuOf(const model::Snapshot& snapshot) const;

  QuotaDimensions dimensions_;
  std::set<model::NodeName> gpuNodes_;            // empty: there are no resources beside GPUs
  std::map<model::NodeName, std::size_t> types_;  // dimensions
  Amounts available_;
  Amounts installed_;
  Amounts mostPerGpu_;  // by dimension, from firstGpuNodeResource() on
};

}  // namespace trainyard::core
