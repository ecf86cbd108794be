#include <algorithm>

#include "core/cycle/scheduler.h"
#include "core/queues/guarantee.h"
#include "core/resize.h"
#include "core/status/explain.h"
#include "core/status/explain_queue.h"

namespace trainyard::core {

// A job that these nodes could never hold does not wait for a limit, and no job waits behind it.
bool Scheduler::neverStarts(const Contender& contender) {
  const Job& job = *contender.waiting->job;
  const GangShape shape = placer_.shapeOf(job, contender.demand[0], contender.position);
  if (placer_.mayEverStart(job, shape.key)) return false;
  words_.later(contender, shape, schedule_);
  return true;
}

bool Scheduler::outOfQuota(const Contender& contender, QueueTree::Excess beyond) {
  if (neverStarts(contender)) return false;
  if (const auto least = leastOf(*contender.waiting->job, snapshot_.policy)) {
    const auto leastBeyond = tree_.beyondLimit(contender.queue, tree_.demandOf(*least));
    if (!leastBeyond) return waitsForLeast(contender, *least);
    beyond = *leastBeyond;
  }
  const GangShape shape = placer_.shapeOf(*contender.waiting->job, contender.demand[0], contender.position);
  if (claims(contender, shape)) return true;
  const auto pending = words_.limits().limitReached(contender, beyond, awaitedBy(contender));
  stopQueue(contender, *pending);
  if (snapshot_.policy.backfill.enabled) holdBelowLimit(contender, beyond);
  return words_.say(contender, pending, schedule_);
}

bool Scheduler::beyondWhatIsItsOwn(const Contender& contender, const QueueTree::Excess& beyond) {
  if (neverStarts(contender)) return false;
  const auto least = leastOf(*contender.waiting->job, snapshot_.policy);
  if (least && !tree_.beyondNonPreemptible(contender.queue, tree_.demandOf(*least)))
    return waitsForLeast(contender, *least);
  return words_.say(contender, words_.limits().guaranteeReached(beyond), schedule_);
}

// Returns the demand that has to be met for a start: that of the minimum of an elastic gang.
QueueTree::Amounts Scheduler::awaitedBy(const Contender& contender) const {
  const auto least = leastOf(*contender.waiting->job, snapshot_.policy);
  return least ? tree_.demandOf(*least) : contender.demand;
}

void Scheduler::stopQueue(const Contender& contender, const Pending& pending) {
  auto behind = std::make_shared<Pending>(explainTurn(*contender.waiting->job, pending));
  behind->delay = pending.delay;
  words_.limits().waitsBehind(contender, behind);
  stopped_.emplace(contender.queue, std::move(behind));
}

void Scheduler::stopQueueIfRoomIsShort(const Contender& contender, const GangShape& shape) {
  if (exhausted_ || !words_.waitsForRoom(contender, shape)) return;
  stopQueue(contender, words_.classified(contender, shape));
}

std::optional<QueueTree::Excess> Scheduler::keptBelowLimit(const Contender& contender,
                                                           const QueueTree::Amounts& held) {
  for (const LimitHold& hold : limitHolds_) {
    const BackfillVerdict verdict = judgeBelow(hold, contender, held);
    wakeAt(verdict.again);
    if (!verdict.isKept()) continue;
    keptBelow_ = hold.job;
    const QueueTree::Node& node = tree_.node(hold.at);
    return QueueTree::Excess{hold.at, hold.dimension, node.usage[hold.dimension], node.limit[hold.dimension]};
  }
  return std::nullopt;
}

BackfillVerdict Scheduler::judgeBelow(const LimitHold& hold, const Contender& contender,
                                      const QueueTree::Amounts& held) {
  if (hold.leavesRoom(tree_, contender.queue, held) || entitled(contender)) return {};
  if (hold.own == contender.queue && contender.priority > hold.rank.priority) return {};
  return lendReserved(requestOf(contender, hold.own, *hold.job), hold.reserved, snapshot_.now,
                      snapshot_.policy);
}

bool Scheduler::entitled(const Contender& contender) {
  return isWithinGuarantee(tree_, contender.queue, typedDemandOf(contender, *contender.waiting->job));
}

void Scheduler::keepBelowLimits(const Contender& contender, const QueueTree::Amounts& demand) {
  for (const QueueTree::Index at : tree_.node(contender.queue).path) {
    for (std::size_t d = 0; d < demand.size(); ++d) {
      if (demand[d] <= 0 || tree_.node(at).limit[d] == QueueTree::kNoLimit) continue;
      limitHolds_.push_back({.job = contender.waiting->job,
                             .own = contender.queue,
                             .rank = contender.rank,
                             .at = at,
                             .dimension = d,
                             .demand = demand[d],
                             .reserved = reservations_.back().reserved()});
    }
  }
}

void Scheduler::holdBelowLimit(const Contender& contender, const QueueTree::Excess& beyond) {
  const auto same = [&](const LimitHold& each) {
    return each.at == beyond.queue && each.dimension == beyond.dimension;
  };
  if (std::any_of(limitHolds_.begin(), limitHolds_.end(), same)) return;
  // A demand names no GPU type, so quota is kept for as many of its GPUs as may be of the type.
  std::int64_t demand = awaitedBy(contender)[beyond.dimension];
  if (demand <= 0) {
    const Job& job = *contender.waiting->job;
    const JobPtr least = leastOf(job, snapshot_.policy);
    demand = types_.mostOf(least ? *least : job, request_.cache.shapeOf(job, contender.position),
                           beyond.dimension);
  }
  // Nothing is kept for a demand that is larger than the limit.
  if (demand > tree_.node(beyond.queue).limit[beyond.dimension]) return;
  std::optional<Ends> seen = endsFor(contender);
  limitHolds_.push_back(
      {.job = contender.waiting->job,
       .own = contender.queue,
       .rank = contender.rank,
       .at = beyond.queue,
       .dimension = beyond.dimension,
       .demand = demand,
       .reserved = roomBelowLimit(tree_, beyond.queue, beyond.dimension, demand, seen ? *seen : ends_,
                                  *request_.reservedSince, snapshot_.now)});
  words_.keepsLimit(contender);
}

Scheduler::PendingPtr Scheduler::limitWords(const Contender& contender) {
  if (isShareExhausted_) return words_.limits().guaranteeReached(*exhausted_);
  if (keptBelow_) {
    const auto hold = std::find_if(limitHolds_.begin(), limitHolds_.end(),
                                   [&](const LimitHold& each) { return each.job == keptBelow_; });
    const bool known =
        hold != limitHolds_.end() && hold->reserved.start && hold->reserved.start->basis != Basis::kGuess;
    return std::make_shared<Pending>(
        explainKeptBelowLimit(tree_, exhausted_->queue, *keptBelow_,
                              known ? std::optional(hold->reserved.start->at) : std::nullopt));
  }
  return words_.limits().limitReached(contender, *exhausted_, awaitedBy(contender));
}

}  // namespace trainyard::core
