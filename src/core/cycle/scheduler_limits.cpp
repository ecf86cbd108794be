#include <algorithm>

#include "core/cycle/scheduler.h"
#include "core/queues/guarantee.h"
#include "core/resize.h"
#include "core/status/explain.h"
#include "core/status/explain_queue.h"

namespace trainyard::core {

// A job that these nodes could never hold does not wait for a limit, and no job waits behind it.
bool Scheduler::neverStarts(const PendingJob& pendingJob) {
  const Job& job = *pendingJob.waiting->job;
  const GangShape shape = placer_.shapeOf(job, pendingJob.demand[0], pendingJob.position);
  if (placer_.mayEverStart(job, shape.key)) return false;
  explainer_.noteUnplaced(pendingJob, shape, schedule_);
  return true;
}

bool Scheduler::outOfQuota(const PendingJob& pendingJob, QueueTree::Excess beyond) {
  if (neverStarts(pendingJob)) return false;
  if (const auto minimum = minimumOf(*pendingJob.waiting->job, snapshot_.policy)) {
    const auto minimumBeyond = tree_.beyondLimit(pendingJob.queue, tree_.demandOf(*minimum));
    if (!minimumBeyond) return waitsForMinimum(pendingJob, *minimum);
    beyond = *minimumBeyond;
  }
  const GangShape shape =
      placer_.shapeOf(*pendingJob.waiting->job, pendingJob.demand[0], pendingJob.position);
  if (claims(pendingJob, shape)) return true;
  const auto pending = explainer_.limits().limitReached(pendingJob, beyond, startDemandOf(pendingJob));
  blockQueue(pendingJob, *pending);
  if (snapshot_.policy.backfill.enabled) holdBelowLimit(pendingJob, beyond);
  return explainer_.addWait(pendingJob, pending, schedule_);
}

bool Scheduler::outOfNominalQuota(const PendingJob& pendingJob, const QueueTree::Excess& beyond) {
  if (neverStarts(pendingJob)) return false;
  const auto minimum = minimumOf(*pendingJob.waiting->job, snapshot_.policy);
  if (minimum && !tree_.beyondNonPreemptible(pendingJob.queue, tree_.demandOf(*minimum)))
    return waitsForMinimum(pendingJob, *minimum);
  return explainer_.addWait(pendingJob, explainer_.limits().guaranteeReached(beyond), schedule_);
}

// Returns the demand that has to be met for a start: that of the minimum of an elastic gang.
QueueTree::Amounts Scheduler::startDemandOf(const PendingJob& pendingJob) const {
  const auto minimum = minimumOf(*pendingJob.waiting->job, snapshot_.policy);
  return minimum ? tree_.demandOf(*minimum) : pendingJob.demand;
}

void Scheduler::blockQueue(const PendingJob& pendingJob, const Pending& pending) {
  auto behind = std::make_shared<Pending>(explainPosition(*pendingJob.waiting->job, pending));
  behind->delay = pending.delay;
  explainer_.limits().waitsBehind(pendingJob, behind);
  blockedQueues_.emplace(pendingJob.queue, std::move(behind));
}

void Scheduler::blockQueueIfCapacityIsShort(const PendingJob& pendingJob, const GangShape& shape) {
  if (exhausted_ || !explainer_.waitsForCapacity(pendingJob, shape)) return;
  blockQueue(pendingJob, explainer_.classified(pendingJob, shape));
}

std::optional<QueueTree::Excess> Scheduler::reservedBelowLimit(const PendingJob& pendingJob,
                                                               const QueueTree::Amounts& held) {
  for (const LimitHold& hold : limitHolds_) {
    const BackfillVerdict verdict = judgeBelow(hold, pendingJob, held);
    wakeAt(verdict.again);
    if (!verdict.isReserved()) continue;
    reservedBelow_ = hold.job;
    const QueueTree::Node& node = tree_.node(hold.at);
    return QueueTree::Excess{hold.at, hold.dimension, node.usage[hold.dimension], node.limit[hold.dimension]};
  }
  return std::nullopt;
}

BackfillVerdict Scheduler::judgeBelow(const LimitHold& hold, const PendingJob& pendingJob,
                                      const QueueTree::Amounts& held) {
  if (hold.leavesCapacity(tree_, pendingJob.queue, held) || entitled(pendingJob)) return {};
  if (hold.own == pendingJob.queue && pendingJob.priority > hold.rank.priority) return {};
  return lendReserved(requestOf(pendingJob, hold.own, *hold.job), hold.reserved, snapshot_.now,
                      snapshot_.policy);
}

bool Scheduler::entitled(const PendingJob& pendingJob) {
  return isWithinGuarantee(tree_, pendingJob.queue, typedDemandOf(pendingJob, *pendingJob.waiting->job));
}

void Scheduler::reserveBelowLimits(const PendingJob& pendingJob, const QueueTree::Amounts& demand) {
  for (const QueueTree::Index at : tree_.node(pendingJob.queue).path) {
    for (std::size_t d = 0; d < demand.size(); ++d) {
      if (demand[d] <= 0 || tree_.node(at).limit[d] == QueueTree::kNoLimit) continue;
      limitHolds_.push_back({.job = pendingJob.waiting->job,
                             .own = pendingJob.queue,
                             .rank = pendingJob.rank,
                             .at = at,
                             .dimension = d,
                             .demand = demand[d],
                             .reserved = reservations_.back().reserved()});
    }
  }
}

void Scheduler::holdBelowLimit(const PendingJob& pendingJob, const QueueTree::Excess& beyond) {
  const auto same = [&](const LimitHold& each) {
    return each.at == beyond.queue && each.dimension == beyond.dimension;
  };
  if (std::any_of(limitHolds_.begin(), limitHolds_.end(), same)) return;
  // A demand names no GPU type, so quota is kept for as many of its GPUs as may be of the type.
  std::int64_t demand = startDemandOf(pendingJob)[beyond.dimension];
  if (demand <= 0) {
    const Job& job = *pendingJob.waiting->job;
    const JobPtr minimum = minimumOf(job, snapshot_.policy);
    demand = types_.mostOf(minimum ? *minimum : job, request_.cache.shapeOf(job, pendingJob.position),
                           beyond.dimension);
  }
  // Nothing is kept for a demand that is larger than the limit.
  if (demand > tree_.node(beyond.queue).limit[beyond.dimension]) return;
  std::optional<Ends> seen = endsFor(pendingJob);
  limitHolds_.push_back(
      {.job = pendingJob.waiting->job,
       .own = pendingJob.queue,
       .rank = pendingJob.rank,
       .at = beyond.queue,
       .dimension = beyond.dimension,
       .demand = demand,
       .reserved = capacityBelowLimit(tree_, beyond.queue, beyond.dimension, demand, seen ? *seen : ends_,
                                      *request_.reservedSince, snapshot_.now)});
  explainer_.noteLimitHolder(pendingJob);
}

Scheduler::PendingPtr Scheduler::limitPending(const PendingJob& pendingJob) {
  if (isShareExhausted_) return explainer_.limits().guaranteeReached(*exhausted_);
  if (reservedBelow_) {
    const auto hold = std::find_if(limitHolds_.begin(), limitHolds_.end(),
                                   [&](const LimitHold& each) { return each.job == reservedBelow_; });
    const bool known =
        hold != limitHolds_.end() && hold->reserved.start && hold->reserved.start->basis != Basis::kGuess;
    return std::make_shared<Pending>(
        explainReservedBelowLimit(tree_, exhausted_->queue, *reservedBelow_,
                                  known ? std::optional(hold->reserved.start->at) : std::nullopt));
  }
  return explainer_.limits().limitReached(pendingJob, *exhausted_, startDemandOf(pendingJob));
}

}  // namespace trainyard::core
