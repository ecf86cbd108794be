#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "core/queues/queue_tree.h"

namespace trainyard::core {

// The key of equivalent jobs: they find the same placement, or none.
struct EquivalenceKey {
  QueueTree::Index queue = QueueTree::kCluster;
  std::size_t widest = 0;
  int priority = 0;
  std::uint32_t shape = 0;
  bool preemptible = false;
  bool mayPreempt = false;
  friend auto operator<=>(const EquivalenceKey&, const EquivalenceKey&) = default;
};

struct EquivalenceHash {
  std::size_t operator()(const EquivalenceKey& each) const {
    constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
    std::uint64_t hash = each.shape;
    for (const std::uint64_t part : {std::uint64_t{each.queue}, std::uint64_t{each.widest},
                                     static_cast<std::uint64_t>(each.priority) * 4 +
                                         (each.preemptible ? 2 : 0) + (each.mayPreempt ? 1 : 0)})
      hash = (hash ^ hash >> 29U) * kOdd + part;
    return hash ^ hash >> 32U;
  }
};

}  // namespace trainyard::core
