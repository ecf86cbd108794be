#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/queues/queue_tree.h"

namespace trainyard::core {

// Whether quotas admit an additional amount, checked on the queue's whole path.

struct Excess {
  QueueTree::Index queue = QueueTree::kCluster;
  std::size_t dimension = 0;
  std::int64_t has = 0;
  std::int64_t bound = 0;
  std::int64_t leaving = 0;  // of `has`
  bool isGuarantee = false;  // `bound` is no limit: what cannot be preempted leaves the rest to guarantees
};

// Whether what terminates already still counts against limits.
enum class Leaving { kCounts, kIgnored };

// Why quotas do not admit this much more now, by the first of the rules below; nothing if they admit it.
[[nodiscard]] std::optional<Excess> exceededQuota(const QueueTree& tree, QueueTree::Index queue,
                                                  const Amounts& more, bool preemptible,
                                                  Leaving leaving = Leaving::kCounts);

// The first limit, from the queue upwards, that this much more would exceed.
[[nodiscard]] std::optional<Excess> beyondLimit(const QueueTree& tree, QueueTree::Index queue,
                                                const Amounts& more);
// As above, counting what is leaving: an excess that no further preemption would mend.
[[nodiscard]] std::optional<Excess> beyondLimitWithLeaving(const QueueTree& tree, QueueTree::Index queue,
                                                           const Amounts& more);
// The first limit that would be exceeded even if nothing ran: the job can never be admitted.
[[nodiscard]] std::optional<Excess> beyondEmptyLimit(const QueueTree& tree, QueueTree::Index queue,
                                                     const Amounts& more);
// Whether this much more that cannot be preempted leaves capacity for all guarantees, in the cluster and
// below the limits of the queues above. If not, the first resource that it exceeds.
[[nodiscard]] std::optional<Excess> beyondNonPreemptible(const QueueTree& tree, QueueTree::Index queue,
                                                         const Amounts& more);

}  // namespace trainyard::core
