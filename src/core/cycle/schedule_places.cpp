#include <algorithm>
#include <utility>

#include "core/cycle/scheduler.h"
#include "core/queues/eligibility.h"
#include "core/timeline/earliest_fit.h"

namespace trainyard::core {

bool Scheduler::findPlaces(const Contender& contender) {
  const GangShape shape = placer_.shapeOf(*contender.waiting->job, contender.demand[0], contender.position);
  if (!contender.asks->reservedSince && equalWasHeldBack(contender, shape)) return false;
  if (auto found = placeInQuota(contender, shape.key, shape.relaxation.widest)) {
    return startOrHoldBack(contender, shape, std::move(*found));
  }
  // A job behind one that waits for their queue's limit starts on idle capacity alone.
  const bool isBehind = stopped_.contains(contender.queue);
  const bool mayClaim = !isBehind || entitled(contender);
  if (mayClaim && (claimsGuaranteed(contender, shape) || claimsMore(contender, shape))) return true;
  if (startsSmaller(contender) || (mayClaim && claims(contender, shape))) return true;
  if (mayClaim && reservations_.empty() && movesOthers(contender, shape)) return true;
  if (const auto widest = widerThatPays(contender, shape)) {
    if (auto found = placeInQuota(contender, shape.key, *widest))
      return startOrHoldBack(contender, shape, std::move(*found));
  }
  takeOverClaim(contender, shape);
  keepPlaces(contender, shape);
  if (exhausted_) {
    words_.say(contender, limitWords(contender), schedule_);
  } else {
    words_.later(contender, shape, schedule_);
    noteInVain(contender, shape);
  }
  if (!snapshot_.policy.backfill.enabled) stopQueueIfRoomIsShort(contender, shape);
  return false;
}

// Returns the gang's placement. It leaves out nodes of a GPU type if the queue's quota of that type is used
// up, or kept for another gang.
std::optional<Placement> Scheduler::placeInQuota(const Contender& contender, std::uint32_t shape,
                                                 std::size_t widest) {
  const Job& job = *contender.waiting->job;
  forgetExhausted();
  return withinQuota(contender, job, widest, placer_.place(job, shape, widest));
}

// Returns this placement, or another one within quota. `job` is the contender's job at some size.
std::optional<Placement> Scheduler::withinQuota(const Contender& contender, const Job& job,
                                                std::size_t widest, std::optional<Placement> placement) {
  std::vector<model::NodeName> avoid;
  while (placement) {
    const QueueTree::Amounts held = tree_.heldBy(job, placement->assignments);
    auto beyond = tree_.beyondLimit(contender.queue, held);
    if (beyond) keptBelow_.reset();
    if (!beyond) beyond = tree_.beyondLimitYet(contender.queue, held);
    if (!beyond) beyond = keptBelowLimit(contender, held);
    if (!beyond && !job.spec.preemptible) {
      beyond = tree_.beyondNonPreemptible(contender.queue, held);
      isShareExhausted_ = isShareExhausted_ || (beyond && !exhausted_);
    }
    if (!beyond) return placement;
    if (!exhausted_) exhausted_ = beyond;
    const auto nodes = tree_.nodesOfType(beyond->dimension);
    if (nodes.empty()) return std::nullopt;
    avoid.insert(avoid.end(), nodes.begin(), nodes.end());
    PlaceRequest request = placer_.request(job, widest);
    request.avoidNodes = avoid;
    placement = placer_.tryPlace(request);
  }
  return std::nullopt;
}

// To wait for closer nodes is to rely on an expectation. If the job states no levels, the closest available
// placement may be good enough. It is if closer nodes are expected later than closeness is worth over the
// job's expected run. Returns how wide that placement is.
std::optional<std::size_t> Scheduler::widerThatPays(const Contender& contender, const GangShape& shape) {
  const Job& job = *contender.waiting->job;
  if (!shape.relaxation.next || !job.spec.locality.levels.empty()) return std::nullopt;
  const auto widenings = placer_.widenings(job, shape.key, contender.position);
  for (const GangPlacer::Widening& wider : widenings) {
    if (!placer_.place(job, shape.key, wider.widest)) continue;
    const auto closer = earliestFit(job, {}, shape.relaxation.widest, ledger_, ends_, placer_);
    const ExpectedRun run = expectedRun(job, snapshot_.now, runs_);
    // A guessed end measured by a guessed run time decides nothing.
    if (run.basis == Basis::kGuess && closer && closer->time.basis == Basis::kGuess) return std::nullopt;
    if (!closer || closer->time.at - snapshot_.now > run.time * kSpreadCostPermille / 1'000)
      return wider.widest;
    return std::nullopt;
  }
  return std::nullopt;
}

// Returns true if the job fits once its topology constraint is relaxed: no gang is preempted for closeness.
bool Scheduler::wouldFitWider(const Contender& contender, const GangShape& shape) {
  if (!shape.relaxation.next) return false;
  const Job& job = *contender.waiting->job;
  const auto widenings = placer_.widenings(job, shape.key, contender.position);
  return std::any_of(widenings.begin(), widenings.end(), [&](const GangPlacer::Widening& wider) {
    return placer_.place(job, shape.key, wider.widest).has_value();
  });
}

bool Scheduler::startOrHoldBack(const Contender& contender, const GangShape& shape, Placement placement) {
  Judgement judgement = judge(contender, placement.assignments);
  if (judgement.isKept()) {
    if (auto beside = besideKept(contender, shape, placement)) {
      judgement = judge(contender, beside->assignments);
      placement = std::move(*beside);
    } else if (startsSmaller(contender)) {
      return true;
    } else {
      // The job keeps its own reservation, although another gang's reservation is in its way.
      if (contender.asks->reservedSince && snapshot_.policy.backfill.enabled) reserve(contender, shape);
      holdBack(contender, shape, judgement);
      return false;
    }
  }
  start(contender, std::move(placement), std::move(judgement.conditions));
  return true;
}

void Scheduler::start(const Contender& contender, Placement placement, Conditions conditions) {
  const JobPtr& job = contender.waiting->job;
  take(*job, placement);
  ends_.add(*job, placement.assignments);
  tree_.charge(contender.queue, tree_.heldBy(*job, placement.assignments), !job->spec.preemptible);
  schedule_.changes.push_back({.job = job,
                               .kind = ChangeKind::kStart,
                               .add = std::move(placement),
                               .backfilled = std::move(conditions),
                               .silent = contender.waiting->silent});
  claimedInVain_.clear();
  guaranteedInVain_.clear();
  noMoreFor_.clear();
  heldBack_.clear();
  inVain_.clear();
}

void Scheduler::take(const Job& job, const Placement& placement) {
  for (const model::Assignment& assignment : placement.assignments) {
    const model::Role* role = job.spec.findRole(assignment.role);
    ledger_.take(*ledger_.find(assignment.node), role->shape.requests,
                 static_cast<int>(assignment.indices.size()), &job);
    starting_ += static_cast<std::int64_t>(assignment.indices.size());
    startingOf_[job.key.ns] += static_cast<std::int64_t>(assignment.indices.size());
  }
}

// Returns the index of an equivalent job that found nothing, by WaitingWords::lastLater(). The contender
// finds nothing either, because no capacity was taken or given back since. Jobs are equivalent if they ask
// for capacity alone, and share queue, priority and shape.
std::optional<std::size_t> Scheduler::equalInVain(const Contender& contender) {
  if (inVain_.empty() || !heldBack_.empty() || !asksForRoomAlone(contender)) return std::nullopt;
  const GangShape shape = placer_.shapeOf(*contender.waiting->job, contender.demand[0], contender.position);
  if (shape.relaxation.next) return std::nullopt;
  const auto equal = inVain_.find(equalsOf(contender, shape));
  if (equal == inVain_.end()) return std::nullopt;
  const bool asksInTurn = takesTurns(snapshot_.policy) && preemption_.anyTakesTurns();
  if (asksInTurn && !preemption_.hasNobody(contender.queue, contender.rank, contender.asks->mayPreempt))
    return std::nullopt;
  return equal->second;
}

// Skips jobs with equivalent jobs that may find a placement: by time slicing, or by taking over a claim.
void Scheduler::noteInVain(const Contender& contender, const GangShape& shape) {
  if (shape.relaxation.next || !asksForRoomAlone(contender)) return;
  if (!snapshot_.policy.backfill.enabled || reservations_.empty()) return;
  if (takesTurns(snapshot_.policy) && preemption_.anyTakesTurns() && !preemption_.lastHadNobody()) return;
  if (preemption_.anyClaimingBelow(contender.queue, contender.priority)) return;
  inVain_.emplace(equalsOf(contender, shape), words_.lastLater());
}

bool Scheduler::asksForRoomAlone(const Contender& contender) {
  return contender.asks->plain && !contender.asks->reservedSince && !contender.waiting->silent;
}

Equals Scheduler::equalsOf(const Contender& contender, const GangShape& shape) {
  return {contender.queue, shape.relaxation.widest,     contender.priority,
          shape.key,       contender.asks->preemptible, contender.asks->mayPreempt};
}

}  // namespace trainyard::core
