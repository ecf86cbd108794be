#pragma once

#include "core/queues/queue_tree.h"
#include "model/job.h"

// Why a job waits for its queue, or for a job that came first. `since` is left for the writer of the status.
namespace trainyard::core {

// WaitingForQuota: "queue vision would exceed its limit: 28 + 8 > 32 nvidia.com/gpu".
[[nodiscard]] model::Pending explainLimit(const QueueTree& tree, QueueTree::Index queue,
                                          const QueueTree::Excess& beyond, const QueueTree::Amounts& demand);

// WaitingForShare, of a job that cannot be stopped and would need what others are guaranteed.
[[nodiscard]] model::Pending explainNonPreemptible(const QueueTree& tree, const QueueTree::Excess& beyond);

// WaitingForShare, of a job that finds no room while its queue holds more than its fair share. `failure`
// tells what is missing.
[[nodiscard]] model::Pending explainShare(const QueueTree& tree, QueueTree::Index queue,
                                          std::size_t dimension, std::int64_t fairShare,
                                          const model::Pending& failure);

// ReservedForOthers: would fit, but its places are kept for `holder`, which is expected to start then if
// anything tells.
[[nodiscard]] model::Pending explainReserved(const model::Job& holder, std::optional<base::WallTime> start);

// ReservedForOthers: would fit, but what is left below the limit of a queue is kept for `holder`, which is
// expected to start then if that is known.
[[nodiscard]] model::Pending explainKeptBelowLimit(const QueueTree& tree, QueueTree::Index limited,
                                                   const model::Job& holder,
                                                   std::optional<base::WallTime> start);

}  // namespace trainyard::core
