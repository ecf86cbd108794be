#pragma once

#include "core/queues/queue_tree.h"
#include "core/queues/quota_check.h"
#include "model/job.h"

// Why a job waits for its queue, or for an earlier job. The writer of the status fills `since`.
namespace trainyard::core {

// WaitingForQuota: "queue vision would exceed its limit: 28 + 8 > 32 nvidia.com/gpu".
[[nodiscard]] model::Pending explainLimit(const QueueTree& tree, QueueTree::Index queue, const Excess& beyond,
                                          const Amounts& demand);

// WaitingForShare, for a non-preemptible job that would need the nominal quota of other queues.
[[nodiscard]] model::Pending explainNonPreemptible(const QueueTree& tree, const Excess& beyond);

// WaitingForShare, for a job without a placement while its queue holds more than its fair share. `failure`
// has the missing resources.
[[nodiscard]] model::Pending explainShare(const QueueTree& tree, QueueTree::Index queue,
                                          std::size_t dimension, std::int64_t fairShare,
                                          const model::Pending& failure);

// ReservedForOthers: the job would fit, but its nodes are reserved for `holder`, which is expected to start
// at `start`, if that is known.
[[nodiscard]] model::Pending explainReserved(const model::Job& holder, std::optional<base::WallTime> start);

// ReservedForOthers: the job would fit, but the rest below the limit of a queue is reserved for `holder`,
// which is expected to start at `start`, if that is known.
[[nodiscard]] model::Pending explainReservedBelowLimit(const QueueTree& tree, QueueTree::Index limited,
                                                       const model::Job& holder,
                                                       std::optional<base::WallTime> start);

}  // namespace trainyard::core
