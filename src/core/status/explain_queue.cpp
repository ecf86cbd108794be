#include "core/status/explain_queue.h"
#include "core/queues/quota_check.h"

#include <fmt/format.h>

namespace trainyard::core {

using model::Pending;
using model::PendingReason;

namespace {

Pending pendingFor(PendingReason reason) {
  Pending pending;
  pending.reason = reason;
  pending.delay = model::traitsOf(reason).delay;
  return pending;
}

}  // namespace

Pending explainLimit(const QueueTree& tree, QueueTree::Index queue, const Excess& beyond,
                     const Amounts& demand) {
  const std::string above = beyond.queue == queue ? "" : fmt::format(", above {},", tree.node(queue).name);
  const std::string& name = tree.node(beyond.queue).name;
  const std::string has = tree.dimensions().plainText(beyond.dimension, beyond.has);
  const std::string bound = tree.dimensions().text(beyond.dimension, beyond.bound);
  Pending pending = pendingFor(PendingReason::kWaitingForQuota);
  if (demand[beyond.dimension] > 0) {
    const std::string sum = fmt::format(
        "{} + {} > {}", has, tree.dimensions().plainText(beyond.dimension, demand[beyond.dimension]), bound);
    pending.message = fmt::format("queue {}{} would exceed its limit: {}", name, above, sum);
    pending.needs = fmt::format("would exceed the limit of queue {}: {}", name, sum);
  } else {
    // A GPU type: the placement decides how many of it the job takes.
    pending.message =
        fmt::format("queue {}{} holds {} of at most {}, which leaves too few", name, above, has, bound);
    pending.needs =
        fmt::format("needs more than is left in queue {}, which holds {} of at most {}", name, has, bound);
  }
  if (beyond.leaving > 0)
    pending.message += fmt::format(", where {} of the {} are held by pods that are still terminating",
                                   tree.dimensions().plainText(beyond.dimension, beyond.leaving), has);
  return pending;
}

Pending explainNonPreemptible(const QueueTree& tree, const Excess& beyond) {
  Pending pending = pendingFor(PendingReason::kWaitingForShare);
  pending.message = fmt::format(
      "queue {} holds {} of its guaranteed {}; only preemptible jobs may borrow beyond that, and this one is "
      "not preemptible",
      tree.node(beyond.queue).name, tree.dimensions().plainText(beyond.dimension, beyond.has),
      tree.dimensions().text(beyond.dimension, beyond.bound));
  return pending;
}

Pending explainShare(const QueueTree& tree, QueueTree::Index queue, std::size_t dimension,
                     std::int64_t fairShare, const Pending& failure) {
  Pending pending = failure;
  pending.reason = PendingReason::kWaitingForShare;
  pending.delay = model::traitsOf(pending.reason).delay;
  pending.message = fmt::format("queue {} holds {}, and its fair share is now {}; {}", tree.node(queue).name,
                                tree.dimensions().plainText(dimension, tree.node(queue).usage[dimension]),
                                tree.dimensions().text(dimension, fairShare), failure.message);
  return pending;
}

Pending explainReserved(const model::Job& holder, std::optional<base::WallTime> start) {
  Pending pending = pendingFor(PendingReason::kReservedForOthers);
  pending.message =
      fmt::format("would fit, but the capacity is reserved for {}, which came first", holder.key);
  if (start) pending.message += fmt::format(" and is expected to start at {}", base::formatTime(*start));
  pending.blockedBy = {{holder.key}};
  return pending;
}

Pending explainReservedBelowLimit(const QueueTree& tree, QueueTree::Index limited, const model::Job& holder,
                                  std::optional<base::WallTime> start) {
  Pending pending = pendingFor(PendingReason::kReservedForOthers);
  pending.delay = model::DelayKind::kFairShare;  // the quota is missing, not a placement
  pending.message = fmt::format(
      "would fit, but the quota left below the limit of queue {} is reserved for {}, which came first",
      tree.node(limited).name, holder.key);
  if (start) pending.message += fmt::format(" and is expected to start at {}", base::formatTime(*start));
  pending.blockedBy = {{holder.key}};
  return pending;
}

}  // namespace trainyard::core
