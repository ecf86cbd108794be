#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/order/order_policy.h"
#include "core/queues/queue_tree.h"
#include "core/timeline/backfill.h"
#include "core/timeline/ends.h"

namespace trainyard::core {

// Capacity below a queue's limit that is kept for a pending gang, as a Reservation keeps nodes. Without
// it, small jobs of sibling queues would take every GPU that becomes free.
//
// Assumes about ends what core/timeline/ends.h does. Steps, for another gang that would be charged to
// that queue or one below it; the first that holds decides:
//  1. the limit admits both, the gang and the holder: it starts
//  2. its queue is guaranteed what it needs, or it has a higher priority in the holder's own queue: it starts
//  3. lendReserved() decides (core/timeline/backfill.h)
struct LimitHold {
  std::shared_ptr<const model::Job> job;
  QueueTree::Index own = QueueTree::kCluster;  // the holder's queue
  QueuePosition queuePosition = {};            // in it
  QueueTree::Index at = QueueTree::kCluster;   // the queue with the limit
  std::size_t dimension = 0;
  std::int64_t demand = 0;
  ReservedTime reserved = {};

  [[nodiscard]] bool leavesCapacity(const QueueTree& tree, QueueTree::Index queue, const Amounts& more) const;
};

// When `demand` fits below the limit, as the gangs that hold the rest end. `ends`: as seenBy() the
// holder. `reservingSince`: see ReservedTime.
[[nodiscard]] ReservedTime capacityBelowLimit(const QueueTree& tree, QueueTree::Index at,
                                              std::size_t dimension, std::int64_t demand, Ends& ends,
                                              base::WallTime reservingSince, base::WallTime now);

}  // namespace trainyard::core
