#include <algorithm>
#include <utility>

#include "core/cycle/scheduler.h"
#include "core/queues/eligibility.h"
#include "core/timeline/earliest_fit.h"

namespace trainyard::core {

bool Scheduler::findPlacement(const PendingJob& pendingJob) {
  const GangShape shape =
      placer_.shapeOf(*pendingJob.waiting->job, pendingJob.demand[0], pendingJob.position);
  if (!pendingJob.pendingFacts->reservedSince && equivalentWasHeldBack(pendingJob, shape)) return false;
  if (auto found = placeInQuota(pendingJob, shape.key, shape.relaxation.widest)) {
    return startOrHoldBack(pendingJob, shape, std::move(*found));
  }
  // A job behind one that waits for their queue's limit starts on idle capacity alone.
  const bool isBehind = blockedQueues_.contains(pendingJob.queue);
  const bool mayClaim = !isBehind || entitled(pendingJob);
  if (mayClaim && (claimsGuaranteed(pendingJob, shape) || claimsMore(pendingJob, shape))) return true;
  if (startsSmaller(pendingJob) || (mayClaim && claims(pendingJob, shape))) return true;
  if (mayClaim && reservations_.empty() && movesOthers(pendingJob, shape)) return true;
  if (const auto widest = worthwhileWidening(pendingJob, shape)) {
    if (auto found = placeInQuota(pendingJob, shape.key, *widest))
      return startOrHoldBack(pendingJob, shape, std::move(*found));
  }
  takeOverClaim(pendingJob, shape);
  reserveIfAllowed(pendingJob, shape);
  if (exhausted_) {
    explainer_.addWait(pendingJob, limitPending(pendingJob), schedule_);
  } else {
    explainer_.noteUnplaced(pendingJob, shape, schedule_);
    noteEquivalentUnplaced(pendingJob, shape);
  }
  if (!snapshot_.policy.backfill.enabled) blockQueueIfCapacityIsShort(pendingJob, shape);
  return false;
}

// Returns the gang's placement. It leaves out nodes of a GPU type if the queue's quota of that type is used
// up, or kept for another gang.
std::optional<Placement> Scheduler::placeInQuota(const PendingJob& pendingJob, std::uint32_t shape,
                                                 std::size_t widest) {
  const Job& job = *pendingJob.waiting->job;
  forgetExhausted();
  return withinQuota(pendingJob, job, widest, placer_.place(job, shape, widest));
}

// Returns this placement, or another one within quota. `job` is the contender's job at some size.
std::optional<Placement> Scheduler::withinQuota(const PendingJob& pendingJob, const Job& job,
                                                std::size_t widest, std::optional<Placement> placement) {
  std::vector<model::NodeName> avoid;
  while (placement) {
    const QueueTree::Amounts held = tree_.heldBy(job, placement->assignments);
    auto beyond = tree_.beyondLimit(pendingJob.queue, held);
    if (beyond) reservedBelow_.reset();
    if (!beyond) beyond = tree_.beyondLimitWithLeaving(pendingJob.queue, held);
    if (!beyond) beyond = reservedBelowLimit(pendingJob, held);
    if (!beyond && !job.spec.preemptible) {
      beyond = tree_.beyondNonPreemptible(pendingJob.queue, held);
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
std::optional<std::size_t> Scheduler::worthwhileWidening(const PendingJob& pendingJob,
                                                         const GangShape& shape) {
  const Job& job = *pendingJob.waiting->job;
  if (!shape.relaxation.next || !job.spec.locality.levels.empty()) return std::nullopt;
  const auto widenings = placer_.widenings(job, shape.key, pendingJob.position);
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
bool Scheduler::wouldFitWider(const PendingJob& pendingJob, const GangShape& shape) {
  if (!shape.relaxation.next) return false;
  const Job& job = *pendingJob.waiting->job;
  const auto widenings = placer_.widenings(job, shape.key, pendingJob.position);
  return std::any_of(widenings.begin(), widenings.end(), [&](const GangPlacer::Widening& wider) {
    return placer_.place(job, shape.key, wider.widest).has_value();
  });
}

bool Scheduler::startOrHoldBack(const PendingJob& pendingJob, const GangShape& shape, Placement placement) {
  Judgement judgement = judge(pendingJob, placement.assignments);
  if (judgement.isReserved()) {
    if (auto beside = placeOffReserved(pendingJob, shape, placement)) {
      judgement = judge(pendingJob, beside->assignments);
      placement = std::move(*beside);
    } else if (startsSmaller(pendingJob)) {
      return true;
    } else {
      // The job keeps its own reservation, although another gang's reservation is in its way.
      if (pendingJob.pendingFacts->reservedSince && snapshot_.policy.backfill.enabled)
        reserve(pendingJob, shape);
      holdBack(pendingJob, shape, judgement);
      return false;
    }
  }
  start(pendingJob, std::move(placement), std::move(judgement.conditions));
  return true;
}

void Scheduler::start(const PendingJob& pendingJob, Placement placement, Conditions conditions) {
  const JobPtr& job = pendingJob.waiting->job;
  take(*job, placement);
  ends_.add(*job, placement.assignments);
  tree_.charge(pendingJob.queue, tree_.heldBy(*job, placement.assignments), !job->spec.preemptible);
  schedule_.changes.push_back({.job = job,
                               .kind = ChangeKind::kStart,
                               .add = std::move(placement),
                               .backfilled = std::move(conditions),
                               .silent = pendingJob.waiting->silent});
  failedClaims_.clear();
  failedGuaranteedClaims_.clear();
  noMoreFor_.clear();
  heldBack_.clear();
  unplacedKeys_.clear();
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

// Returns the index of an equivalent job that found nothing, by PendingExplainer::lastUnplaced(). The
// contender finds nothing either, because no capacity was taken or given back since. Jobs are equivalent if
// they ask for capacity alone, and share queue, priority and shape.
std::optional<std::size_t> Scheduler::equivalentUnplaced(const PendingJob& pendingJob) {
  if (unplacedKeys_.empty() || !heldBack_.empty() || !needsOnlyCapacity(pendingJob)) return std::nullopt;
  const GangShape shape =
      placer_.shapeOf(*pendingJob.waiting->job, pendingJob.demand[0], pendingJob.position);
  if (shape.relaxation.next) return std::nullopt;
  const auto equal = unplacedKeys_.find(equivalenceKeyOf(pendingJob, shape));
  if (equal == unplacedKeys_.end()) return std::nullopt;
  const bool mayTimeSlice = allowsTimeSlicing(snapshot_.policy) && preemption_.anyTimeSliced();
  if (mayTimeSlice &&
      !preemption_.hasNoCandidate(pendingJob.queue, pendingJob.rank, pendingJob.pendingFacts->mayPreempt))
    return std::nullopt;
  return equal->second;
}

// Skips jobs with equivalent jobs that may find a placement: by time slicing, or by taking over a claim.
void Scheduler::noteEquivalentUnplaced(const PendingJob& pendingJob, const GangShape& shape) {
  if (shape.relaxation.next || !needsOnlyCapacity(pendingJob)) return;
  if (!snapshot_.policy.backfill.enabled || reservations_.empty()) return;
  if (allowsTimeSlicing(snapshot_.policy) && preemption_.anyTimeSliced() && !preemption_.lastHadNoCandidate())
    return;
  if (preemption_.anyClaimingBelow(pendingJob.queue, pendingJob.priority)) return;
  unplacedKeys_.emplace(equivalenceKeyOf(pendingJob, shape), explainer_.lastUnplaced());
}

bool Scheduler::needsOnlyCapacity(const PendingJob& pendingJob) {
  return pendingJob.pendingFacts->plain && !pendingJob.pendingFacts->reservedSince &&
         !pendingJob.waiting->silent;
}

EquivalenceKey Scheduler::equivalenceKeyOf(const PendingJob& pendingJob, const GangShape& shape) {
  return {pendingJob.queue,
          shape.relaxation.widest,
          pendingJob.priority,
          shape.key,
          pendingJob.pendingFacts->preemptible,
          pendingJob.pendingFacts->mayPreempt};
}

}  // namespace trainyard::core
