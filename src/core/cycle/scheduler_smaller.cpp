#include <tuple>
#include <utility>

#include "core/cycle/scheduler.h"
#include "core/resize.h"

namespace trainyard::core {

// An elastic gang without capacity for all its members starts with as many as fit, down to its minimum.
bool Scheduler::startsSmaller(const PendingJob& pendingJob) {
  const Job& job = *pendingJob.waiting->job;
  if (!mayStartSmaller(job, snapshot_.policy)) return false;
  const int minimum = job.spec.elastic->minReplicas;
  const GangShape shape = placer_.shapeOf(job, pendingJob.demand[0], pendingJob.position);
  const std::tuple asked{pendingJob.queue, shape.key, shape.relaxation.widest, minimum, job.spec.preemptible};
  if (noneSmaller_.contains(asked)) return false;
  auto found = placeSmaller(pendingJob, shape.relaxation.widest, {});
  if (!found) {
    if (!job.status.gang.backoff) noneSmaller_.insert(asked);
    return false;
  }
  Judgement judgement = judge(pendingJob, found->assignments);
  if (judgement.isReserved()) {
    found = placeSmaller(pendingJob, shape.relaxation.widest, nodesOfReservations(found->assignments));
    if (!found) return false;
    judgement = judge(pendingJob, found->assignments);
    if (judgement.isReserved()) return false;
  }
  start(pendingJob, std::move(*found), std::move(judgement.conditions));
  return true;
}

// Returns a placement with fewer members than desired: as many as fit.
std::optional<Placement> Scheduler::placeSmaller(const PendingJob& pendingJob, std::size_t widest,
                                                 const std::vector<model::NodeName>& avoid) {
  const Job& job = *pendingJob.waiting->job;
  int fits = job.spec.elastic->minReplicas;
  int beyond = desiredMembers(job);
  auto found = placeWith(pendingJob, fits, widest, avoid);
  while (found && beyond - fits > 1) {
    const int size = fits + (beyond - fits) / 2;
    auto more = placeWith(pendingJob, size, widest, avoid);
    (more ? fits : beyond) = size;
    if (more) found = std::move(more);
  }
  return found;
}

// Returns a placement with that many members of the elastic role, within its queue's limits.
std::optional<Placement> Scheduler::placeWith(const PendingJob& pendingJob, int members, std::size_t widest,
                                              const std::vector<model::NodeName>& avoid) {
  const auto smaller = withDesiredSize(*pendingJob.waiting->job, members);
  PlaceRequest request = placer_.request(*smaller, widest);
  const auto& backoff = smaller->status.gang.backoff;
  // As for a whole gang, a node that failed an attempt is better than none.
  const auto placement =
      avoidingAsPossible(backoff ? backoff->avoidNodes : std::vector<model::NodeName>{},
                         [&](std::vector<model::NodeName> avoided) {
                           request.avoidNodes = std::move(avoided);
                           request.avoidNodes.insert(request.avoidNodes.end(), avoid.begin(), avoid.end());
                           return placer_.tryPlace(request);
                         });
  if (!placement) return std::nullopt;
  const QueueTree::Amounts held = tree_.heldBy(*smaller, placement->assignments);
  const bool beyond = tree_.beyondLimit(pendingJob.queue, held) ||
                      tree_.beyondLimitWithLeaving(pendingJob.queue, held) ||
                      (!smaller->spec.preemptible && tree_.beyondNonPreemptible(pendingJob.queue, held));
  if (beyond || reservedBelowLimit(pendingJob, held)) return std::nullopt;
  return placement;
}

// Called for an elastic gang that exceeds its queue's quota at its desired size, but not at its minimum. It
// found no placement with fewer members, so it waits for the placement of its minimum.
bool Scheduler::waitsForMinimum(const PendingJob& pendingJob, const Job& minimum) {
  const GangShape shape =
      placer_.shapeOf(*pendingJob.waiting->job, pendingJob.demand[0], pendingJob.position);
  if (claims(pendingJob, shape)) return true;
  forgetExhausted();
  const std::size_t widest = shape.relaxation.widest;
  if (auto found = withinQuota(pendingJob, minimum, widest, placer_.tryPlace(minimum, widest)))
    return startOrHoldBack(pendingJob, shape, std::move(*found));
  takeOverClaim(pendingJob, shape);
  reserveIfAllowed(pendingJob, shape);
  if (exhausted_) return explainer_.addWait(pendingJob, limitPending(pendingJob), schedule_);
  return explainer_.noteUnplaced(pendingJob, shape, schedule_);
}

}  // namespace trainyard::core
