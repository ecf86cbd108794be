#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/queues/queue_tree.h"

namespace trainyard::core {

// How much of each resource that is no GPU each queue's guarantee covers, in proportion. Each resource is
// divided by itself, among all queues:
//  1. A queue that names the resource has what it names. Of nodes with GPUs it has its part of what all such
//     guarantees together need beyond the nodes without GPUs.
//  2. Any other queue has the largest part of the cluster that it is guaranteed of any resource. Of nodes
//  with
//     GPUs, that is its part of the GPUs, also if it names the resource, or what 1 is of another resource.
//  3. If 2 is more than 1 leaves, all of 2 is reduced by one factor.
//  4. A queue has no less than the queues below it together.
// So no more is promised than there is. (Lost: each queue's part of all, as far as the named guarantees of
// others leave it. Two such queues were promised the same cores. Lost: one division of nodes with GPUs for
// all resources. A queue that named most of the memory was covered for as much of the cores, though it named
// two.)
class GuaranteeShares {
 public:
  // Reads the guarantees and the capacity of the tree.
  explicit GuaranteeShares(const QueueTree& tree);

  // In a dimension from cpu on that is no type of GPU; rounded down.
  [[nodiscard]] std::int64_t covered(QueueTree::Index queue, std::size_t dimension) const {
    return covered_[queue][dimension];
  }

 private:
  // What a guarantee claims of one resource.
  struct Claim {
    std::int64_t byName = 0;   // 1
    std::int64_t unnamed = 0;  // 2, in full
    std::int64_t ownGpus =
        0;  // 2, in full, for GPUs that no queue below is guaranteed; adds to the queues below
  };
  // A resource that guarantees name, on nodes with GPUs.
  struct Needed {
    std::size_t named = 0;  // dimensions
    std::size_t beside = 0;
    std::int64_t amount = 0;  // for all of them
  };

  [[nodiscard]] std::vector<Needed> neededOnGpuNodes() const;
  [[nodiscard]] std::int64_t neededBy(QueueTree::Index queue, const Needed& of) const;
  [[nodiscard]] std::optional<std::size_t> nameOf(std::size_t dimension) const;
  [[nodiscard]] std::vector<Claim> claimsOf(std::size_t dimension) const;
  [[nodiscard]] std::int64_t divisible(std::size_t dimension) const;
  void divide(std::size_t dimension);
  // Covers `at` and the queues below it, with 2 reduced to factor / kShareUnit. Returns what `at` has.
  std::int64_t cover(const std::vector<Claim>& claims, QueueTree::Index at, std::size_t dimension,
                     std::int64_t factor);

  const QueueTree& tree_;
  std::vector<Needed> needed_;
  std::vector<Amounts> covered_;  // by queue and dimension
};

// GPUs of all kinds in these amounts.
[[nodiscard]] std::int64_t gpusOf(const QuotaDimensions& dimensions, const Amounts& amounts);

}  // namespace trainyard::core
