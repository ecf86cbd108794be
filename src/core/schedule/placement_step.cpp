#include "core/schedule/placement_step.h"

#include <utility>

#include "core/queues/eligibility.h"
#include "core/schedule/pending_rights.h"
#include "core/status/explain_queue.h"
#include "core/timeline/earliest_fit.h"

namespace trainyard::core {
namespace {

bool needsOnlyCapacity(const PendingJob& pendingJob) {
  return pendingJob.pendingFacts->plain && !pendingJob.pendingFacts->reservedSince &&
         !pendingJob.waiting->silent;
}

FailedSearches::HeldBackKey heldBackKey(const PendingJob& pendingJob, const GangShape& shape, Basis basis) {
  const model::JobSpec& spec = pendingJob.waiting->job->spec;
  return {.queue = pendingJob.queue,
          .shape = shape.key,
          .widest = shape.relaxation.widest,
          .preemptible = spec.preemptible,
          .checkpointable = isCheckpointable(spec),
          .basis = basis,
          .deadline = spec.run.activeDeadline};
}

}  // namespace

PlacementStep::Result PlacementStep::place(const PendingJob& pendingJob, bool isBehind) {
  constexpr Result kStarted{.isStarted = true};
  const GangShape shape = in_.shapeOf(pendingJob);
  if (!pendingJob.pendingFacts->reservedSince && equivalentWasHeldBack(pendingJob, shape)) return {};
  QuotaPlacement found = placer_.place(pendingJob, shape.key, shape.relaxation.widest);
  if (found.placement) return {startOrHoldBack(pendingJob, shape, std::move(*found.placement))};
  const bool mayClaim = !isBehind || isEntitled(in_, pendingJob);
  GangClaims::Outcome claimed = mayClaim ? claims_.claimGuaranteed(pendingJob, shape) : GangClaims::Outcome{};
  if (claimed.isStarted) return kStarted;
  // A gang that is about to get what its queue is guaranteed does not start with fewer members.
  if (!claimed.startsSoon) {
    if (mayClaim && claims_.claimMore(pendingJob, shape)) return kStarted;
    if (startSmaller(pendingJob)) return kStarted;
    if (mayClaim) claimed = claims_.claim(pendingJob, shape);
    if (claimed.isStarted) return kStarted;
    const bool mayMove = mayClaim && !claimed.startsSoon && book_.reservations().empty() && !found.exhausted;
    if (mayMove && claims_.moveOthers(pendingJob, shape)) return kStarted;
  }
  if (const auto widest = worthwhileWidening(pendingJob, shape)) {
    found = placer_.place(pendingJob, shape.key, *widest);
    if (found.placement) return {startOrHoldBack(pendingJob, shape, std::move(*found.placement))};
  }
  if (!claimed.startsSoon) claims_.takeOver(pendingJob, shape);
  reserve(pendingJob, shape, found);
  if (found.exhausted) {
    in_.wakeAtRelaxation(pendingJob, shape);
    explainer_.addWait(pendingJob, pendingOf(pendingJob, found), in_.schedule);
  } else {
    explainer_.noteUnplaced(pendingJob, shape, in_.schedule);
    noteEquivalentUnplaced(pendingJob, shape, claimed.hadNoCandidate);
  }
  return {.isOutOfQuota = found.exhausted.has_value()};
}

bool PlacementStep::startAsGuaranteed(const PendingJob& pendingJob) {
  const GangClaims::Outcome claimed = claims_.claimGuaranteed(pendingJob, in_.shapeOf(pendingJob));
  return claimed.isStarted || (!claimed.startsSoon && startSmaller(pendingJob));
}

bool PlacementStep::placeMinimum(const PendingJob& pendingJob, const model::Job& minimum) {
  const GangShape shape = in_.shapeOf(pendingJob);
  const GangClaims::Outcome claimed = claims_.claim(pendingJob, shape);
  if (claimed.isStarted) return true;
  QuotaPlacement found = placer_.placeSized(pendingJob, minimum, shape.relaxation.widest);
  if (found.placement) return startOrHoldBack(pendingJob, shape, std::move(*found.placement));
  if (!claimed.startsSoon) claims_.takeOver(pendingJob, shape);
  reserve(pendingJob, shape, found);
  if (found.exhausted) {
    in_.wakeAtRelaxation(pendingJob, shape);
    return explainer_.addWait(pendingJob, pendingOf(pendingJob, found), in_.schedule);
  }
  return explainer_.noteUnplaced(pendingJob, shape, in_.schedule);
}

// To wait for closer nodes is to rely on an expectation. If the job states no levels, the closest available
// placement may be good enough. It is if closer nodes are expected later than closeness is worth over the
// job's expected run. Returns how wide that placement is.
std::optional<std::size_t> PlacementStep::worthwhileWidening(const PendingJob& pendingJob,
                                                             const GangShape& shape) {
  const model::Job& job = *pendingJob.waiting->job;
  if (!shape.relaxation.next || !job.spec.locality.levels.empty()) return std::nullopt;
  const auto widenings = in_.placer.widenings(job, shape.key, pendingJob.position);
  for (const GangPlacer::Widening& wider : widenings) {
    if (!in_.placer.place(job, shape.key, wider.widest)) continue;
    const auto closer = earliestFit(job, {}, shape.relaxation.widest, in_.ledger, in_.ends, in_.placer);
    const ExpectedRun run = expectedRun(job, in_.snapshot.now, in_.runs);
    // A guessed end measured by a guessed run time decides nothing.
    if (run.basis == Basis::kGuess && closer && closer->time.basis == Basis::kGuess) return std::nullopt;
    if (!closer || closer->time.at - in_.snapshot.now > run.time * kSpreadCostPermille / 1'000)
      return wider.widest;
    return std::nullopt;
  }
  return std::nullopt;
}

bool PlacementStep::startOrHoldBack(const PendingJob& pendingJob, const GangShape& shape,
                                    Placement placement) {
  ReservationBook::Judgement judgement = book_.judge(pendingJob, placement.assignments);
  if (judgement.isReserved()) {
    if (auto other = placer_.placeOffReserved(pendingJob, shape, placement)) {
      judgement = book_.judge(pendingJob, other->assignments);
      placement = std::move(*other);
    } else if (startSmaller(pendingJob)) {
      return true;
    } else {
      // The job keeps its own reservation, although another gang's reservation is in its way.
      if (pendingJob.pendingFacts->reservedSince && in_.snapshot.policy.backfill.enabled)
        book_.reserve(pendingJob, shape);
      holdBack(pendingJob, shape, judgement);
      return false;
    }
  }
  in_.start(pendingJob, std::move(placement), std::move(judgement.conditions));
  return true;
}

void PlacementStep::reserve(const PendingJob& pendingJob, const GangShape& shape,
                            const QuotaPlacement& found) {
  if (!in_.snapshot.policy.backfill.enabled) return;
  if (!found.exhausted) return book_.reserveIfAllowed(pendingJob, shape);
  if (!found.exhausted->isGuarantee) book_.reserveBelowLimit(pendingJob, *found.exhausted);
}

std::shared_ptr<const model::Pending> PlacementStep::pendingOf(const PendingJob& pendingJob,
                                                               const QuotaPlacement& found) {
  if (found.exhausted->isGuarantee) return explainer_.limits().guaranteeReached(*found.exhausted);
  if (!found.keptFor)
    return explainer_.limits().limitReached(pendingJob, *found.exhausted, startDemandOf(in_, pendingJob));
  const LimitHold* hold = book_.limitHolds().find(*found.keptFor);
  const bool isKnown =
      hold != nullptr && hold->reserved.start && hold->reserved.start->basis != Basis::kGuess;
  return std::make_shared<model::Pending>(
      explainReservedBelowLimit(in_.tree, found.exhausted->queue, *found.keptFor,
                                isKnown ? std::optional(hold->reserved.start->at) : std::nullopt));
}

std::optional<std::size_t> PlacementStep::equivalentUnplaced(const PendingJob& pendingJob) {
  if (!in_.failed.hasUnplaced() || in_.failed.hasHeldBack() || !needsOnlyCapacity(pendingJob))
    return std::nullopt;
  const GangShape shape = in_.shapeOf(pendingJob);
  if (shape.relaxation.next) return std::nullopt;
  const auto equal = in_.failed.unplaced(equivalenceKeyOf(pendingJob, shape));
  if (!equal) return std::nullopt;
  const bool mayTimeSlice = allowsTimeSlicing(in_.snapshot.policy) && in_.preemption.gangs().anyTimeSliced();
  if (mayTimeSlice && !in_.preemption.rights().hasNoCandidate(pendingJob.queue, pendingJob.queuePosition,
                                                              pendingJob.pendingFacts->mayPreempt))
    return std::nullopt;
  return equal;
}

// Skips jobs with equivalent jobs that may find a placement: by time slicing, or by taking over a claim.
void PlacementStep::noteEquivalentUnplaced(const PendingJob& pendingJob, const GangShape& shape,
                                           bool hadNoCandidate) {
  if (shape.relaxation.next || !needsOnlyCapacity(pendingJob)) return;
  if (!in_.snapshot.policy.backfill.enabled || book_.reservations().empty()) return;
  if (allowsTimeSlicing(in_.snapshot.policy) && in_.preemption.gangs().anyTimeSliced() && !hadNoCandidate)
    return;
  if (in_.preemption.claimsUnderWay().anyBelow(pendingJob.queue, pendingJob.priority)) return;
  in_.failed.addUnplaced(equivalenceKeyOf(pendingJob, shape), explainer_.lastUnplaced());
}

// A placement reserved from one job is reserved from its equals, unless they end earlier or avoid nodes of
// their own.
bool PlacementStep::equivalentWasHeldBack(const PendingJob& pendingJob, const GangShape& shape) {
  const model::Job& job = *pendingJob.waiting->job;
  if (!in_.failed.hasHeldBack() || job.status.gang.backoff) return false;
  const ExpectedRun run = cautiousRun(job, in_.snapshot.now, in_.runs);
  const auto equal = in_.failed.heldBack(heldBackKey(pendingJob, shape, run.basis), run.time);
  if (!equal) return false;
  reportHeldBack(pendingJob, shape, *equal);
  return true;
}

// The job found only a placement that is reserved for another gang.
void PlacementStep::holdBack(const PendingJob& pendingJob, const GangShape& shape,
                             const ReservationBook::Judgement& judgement) {
  const model::Job& job = *pendingJob.waiting->job;
  const ExpectedRun run = cautiousRun(job, in_.snapshot.now, in_.runs);
  const FailedSearches::HeldBack held{run.time, judgement.kind == BackfillVerdict::Kind::kReservedBriefly,
                                      judgement.by};
  if (!job.status.gang.backoff) in_.failed.addHeldBack(heldBackKey(pendingJob, shape, run.basis), held);
  reportHeldBack(pendingJob, shape, held);
}

void PlacementStep::reportHeldBack(const PendingJob& pendingJob, const GangShape& shape,
                                   const FailedSearches::HeldBack& held) {
  in_.wakeAtRelaxation(pendingJob, shape);
  explainer_.heldBack(pendingJob, book_.reservations()[held.by], held.briefly, in_.schedule);
}

}  // namespace trainyard::core
