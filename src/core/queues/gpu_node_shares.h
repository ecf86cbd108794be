#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/queues/queue_tree.h"

namespace trainyard::core {

// Which part of the nodes with GPUs each queue's guarantee covers beside GPUs: of their cores, memory,
// storage, pod slots and devices.
//  - A queue that is guaranteed a resource by name has its part of what all such guarantees together need
//    beyond the nodes without GPUs.
//  - For each guaranteed GPU a queue has one part in as many as there are GPUs, or less if that would not be
//    left beside the named guarantees: the largest part that is the same for every GPU.
//  - A queue has the larger of both, and no less than the queues below it.
// So no more is promised than there is. (Lost: one part in as many as there are GPUs in any case. The cores
// of one node were promised both by name and beside its GPUs, and the queue that came second never got them.)
class GpuNodeShares {
 public:
  // Reads the guarantees and the capacity of the tree.
  explicit GpuNodeShares(const QueueTree& tree);

  // How much of a resource beside GPUs the queue's guarantee covers, in proportion, rounded down.
  [[nodiscard]] std::int64_t covered(QueueTree::Index queue, std::size_t dimension) const;

 private:
  // A resource that guarantees may name, and that is also counted on nodes with GPUs.
  struct Resource {
    std::size_t named = 0;  // dimensions
    std::size_t beside = 0;
    std::int64_t needed = 0;  // of the nodes with GPUs, for all guarantees by name
  };

  [[nodiscard]] std::vector<Resource> resourcesNeeded() const;
  // What the queue needs of the resource on nodes with GPUs, for what it is guaranteed by name.
  [[nodiscard]] std::int64_t neededBy(QueueTree::Index queue, const Resource& resource) const;
  // The parts of all queues below `at` and its own, in 1 / kShareUnit, if a GPU counts as `perGpus` of the
  // whole divided by the number of GPUs. Writes them to `parts`.
  std::int64_t divide(QueueTree::Index at, std::int64_t perGpus, std::vector<std::int64_t>& parts) const;

  const QueueTree& tree_;
  std::int64_t gpus_ = 0;  // installed
  std::vector<Resource> resources_;
  std::vector<std::int64_t> parts_;  // by queue, in 1 / kShareUnit
  bool isShort_ = false;             // a GPU counts for less than one part in as many as there are
};

// GPUs of all kinds in these amounts.
[[nodiscard]] std::int64_t gpusOf(const QuotaDimensions& dimensions, const Amounts& amounts);

}  // namespace trainyard::core
