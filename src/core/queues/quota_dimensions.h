#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/queues/amounts.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The resources that quotas, usage and shares are counted in. Their order:
//  [0, cpu)                           resources that are GPUs
//  cpu, cpu + 1                       cpu and memory
//  [cpu + 2, firstType)               other resources that some quota names
//  [firstType, firstGpuNodeResource)  types of GPUs that some quota names
//  [firstGpuNodeResource, size)       resources beside GPUs
// Resources beside GPUs are cores, memory, storage, pod slots and devices of nodes with GPUs. No quota names
// them. They exist only if a queue is guaranteed GPUs.
class QuotaDimensions {
 public:
  QuotaDimensions() = default;
  // Without resources beside GPUs.
  explicit QuotaDimensions(const model::Snapshot& snapshot);
  // Adds the resources beside GPUs. To be called once.
  void addGpuNodeResources(const std::vector<std::string>& resources);

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::size_t cpu() const { return cpu_; }
  [[nodiscard]] std::size_t firstType() const { return firstType_; }
  [[nodiscard]] std::size_t firstGpuNodeResource() const { return firstGpuNodeResource_; }
  // Whether the dimension counts in shares: GPUs do, and what some queue is guaranteed. If nothing is
  // guaranteed, cpu and memory do, too.
  [[nodiscard]] bool counts(std::size_t dimension) const { return counts_[dimension] != 0; }
  // Whether any quota names a type of GPU: what a gang holds then depends on its nodes.
  [[nodiscard]] bool namesTypes() const { return firstType_ < firstGpuNodeResource_; }
  [[nodiscard]] bool isType(std::size_t dimension) const {
    return dimension >= firstType_ && dimension < firstGpuNodeResource_;
  }
  // Whether it is a resource that is GPUs, or a type of GPUs.
  [[nodiscard]] bool isGpu(std::size_t dimension) const { return dimension < cpu_ || isType(dimension); }
  // The dimension of the same resource beside GPUs. Absent if there is none, and for GPUs and their types.
  [[nodiscard]] std::optional<std::size_t> gpuNodeResourceOf(std::size_t dimension) const;
  // Absent if no quota names the type.
  [[nodiscard]] std::optional<std::size_t> ofType(std::string_view gpuType) const;

  [[nodiscard]] Amounts none() const { return Amounts(names_.size(), 0); }
  // What the quota names, and `absent` for every other dimension.
  [[nodiscard]] Amounts amountsOf(const model::Quota& quota, std::int64_t absent) const;
  // Adds `count` times the requests, without types of GPUs and resources beside GPUs.
  void addRequests(const model::Resources& requests, std::int64_t count, Amounts& into) const;
  // Adds the resources beside GPUs: the requests are of members on nodes with GPUs.
  void addGpuNodeRequests(const model::Resources& requests, std::int64_t count, Amounts& into) const;
  // The amount of the dimension's resource.
  [[nodiscard]] std::int64_t amountIn(const model::Resources& resources, std::size_t dimension) const;

  // An amount with its resource's name, as in a manifest: "8 nvidia.com/gpu".
  [[nodiscard]] std::string text(std::size_t dimension, std::int64_t amount) const;
  // The amount without the name: "8", "500m".
  [[nodiscard]] std::string plainText(std::size_t dimension, std::int64_t amount) const;

  friend bool operator==(const QuotaDimensions&, const QuotaDimensions&) = default;

 private:
  std::vector<std::string> names_;
  std::vector<char> counts_;
  std::size_t cpu_ = 0;
  std::size_t firstType_ = 0;
  std::size_t firstGpuNodeResource_ = 0;
};

// Whether some queue is guaranteed GPUs, of any type or of one.
[[nodiscard]] bool guaranteesGpus(const model::Snapshot& snapshot);

}  // namespace trainyard::core
