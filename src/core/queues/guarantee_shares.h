#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/queues/queue_tree.h"

namespace trainyard::core {

// How much of each resource other than GPUs each queue's guarantee covers, in proportion. Each resource is
// divided separately, among all queues:
//  1. A queue that names the resource is covered for that amount. On nodes with GPUs, it is covered for its
//  part
//     of what all named amounts need beyond the nodes without GPUs.
//  2. A queue that does not name the resource is covered for the largest part of the cluster that it is
//     guaranteed of any resource; on nodes with GPUs, for the largest part of them that 1 gives it.
//  3. On nodes with GPUs, a guarantee of GPUs also covers the same part of everything beside the GPUs.
//  4. If 2 and 3 exceed what 1 leaves, one factor reduces all of them.
//  5. A queue is covered for no less than the queues below it together.
// So no more is promised than there is. (Rejected: each queue's part of all, as far as the named guarantees
// of others leave it. Two such queues were promised the same cores. Rejected: one division of nodes with GPUs
// for all resources. A queue that named most of the memory was covered for as much of the cores, though it
// named two.)
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
    std::int64_t byName = 0;   // rule 1
    std::int64_t unnamed = 0;  // rule 2
    std::int64_t ownGpus = 0;  // rule 3, for GPUs that no queue below is guaranteed
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
  // Covers `at` and the queues below it, with rules 2 and 3 reduced to factor / kShareUnit. Returns what `at`
  // has.
  std::int64_t cover(const std::vector<Claim>& claims, QueueTree::Index at, std::size_t dimension,
                     std::int64_t factor);

  const QueueTree& tree_;
  std::vector<Needed> needed_;
  std::vector<Amounts> covered_;  // by queue and dimension
};

// GPUs of all kinds in these amounts.
[[nodiscard]] std::int64_t gpusOf(const QuotaDimensions& dimensions, const Amounts& amounts);

}  // namespace trainyard::core
