#include <tuple>
#include <utility>

#include "core/cycle/scheduler.h"
#include "core/resize.h"

namespace trainyard::core {

// An elastic gang without capacity for all its members starts with as many as fit, down to its minimum.
bool Scheduler::startsSmaller(const Contender& contender) {
  const Job& job = *contender.waiting->job;
  if (!mayStartSmaller(job, snapshot_.policy)) return false;
  const int least = job.spec.elastic->minReplicas;
  const GangShape shape = placer_.shapeOf(job, contender.demand[0], contender.position);
  const std::tuple asked{contender.queue, shape.key, shape.relaxation.widest, least, job.spec.preemptible};
  if (noneSmaller_.contains(asked)) return false;
  auto found = placeSmaller(contender, shape.relaxation.widest, {});
  if (!found) {
    if (!job.status.gang.backoff) noneSmaller_.insert(asked);
    return false;
  }
  Judgement judgement = judge(contender, found->assignments);
  if (judgement.isKept()) {
    found = placeSmaller(contender, shape.relaxation.widest, keptNodes(found->assignments));
    if (!found) return false;
    judgement = judge(contender, found->assignments);
    if (judgement.isKept()) return false;
  }
  start(contender, std::move(*found), std::move(judgement.conditions));
  return true;
}

// Returns a placement with fewer members than desired: as many as fit.
std::optional<Placement> Scheduler::placeSmaller(const Contender& contender, std::size_t widest,
                                                 const std::vector<model::NodeName>& avoid) {
  const Job& job = *contender.waiting->job;
  int fits = job.spec.elastic->minReplicas;
  int beyond = wishedMembers(job);
  auto found = placeWith(contender, fits, widest, avoid);
  while (found && beyond - fits > 1) {
    const int size = fits + (beyond - fits) / 2;
    auto more = placeWith(contender, size, widest, avoid);
    (more ? fits : beyond) = size;
    if (more) found = std::move(more);
  }
  return found;
}

// Returns a placement with that many members of the elastic role, within its queue's limits.
std::optional<Placement> Scheduler::placeWith(const Contender& contender, int members, std::size_t widest,
                                              const std::vector<model::NodeName>& avoid) {
  const auto smaller = withWish(*contender.waiting->job, members);
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
  const bool beyond = tree_.beyondLimit(contender.queue, held) ||
                      tree_.beyondLimitYet(contender.queue, held) ||
                      (!smaller->spec.preemptible && tree_.beyondNonPreemptible(contender.queue, held));
  if (beyond || keptBelowLimit(contender, held)) return std::nullopt;
  return placement;
}

// Called for an elastic gang that exceeds its queue's quota at its desired size, but not at its minimum. It
// found no placement with fewer members, so it waits for the placement of its minimum.
bool Scheduler::waitsForLeast(const Contender& contender, const Job& least) {
  const GangShape shape = placer_.shapeOf(*contender.waiting->job, contender.demand[0], contender.position);
  if (claims(contender, shape)) return true;
  forgetExhausted();
  const std::size_t widest = shape.relaxation.widest;
  if (auto found = withinQuota(contender, least, widest, placer_.tryPlace(least, widest)))
    return startOrHoldBack(contender, shape, std::move(*found));
  takeOverClaim(contender, shape);
  keepPlaces(contender, shape);
  if (exhausted_) return words_.say(contender, limitWords(contender), schedule_);
  return words_.later(contender, shape, schedule_);
}

}  // namespace trainyard::core
