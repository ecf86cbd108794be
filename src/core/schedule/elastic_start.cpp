#include "core/schedule/elastic_start.h"

#include <utility>

#include "core/resize.h"
#include "core/schedule/pending_rights.h"

namespace trainyard::core {

bool ElasticStart::startSmaller(const PendingJob& pendingJob) {
  const model::Job& job = *pendingJob.waiting->job;
  if (!mayStartSmaller(job, in_.snapshot.policy)) return false;
  const GangShape shape = in_.shapeOf(pendingJob);
  const EquivalenceKey key = equivalenceKeyOf(pendingJob, shape);
  const int minimum = job.spec.elastic->minReplicas;
  if (in_.failed.hasMinimum(key, minimum)) return false;
  auto found = placeSmaller(pendingJob, shape.relaxation.widest, {});
  if (!found) {
    if (!job.status.gang.backoff) in_.failed.addMinimum(key, minimum);
    return false;
  }
  ReservationBook::Judgement judgement = book_.judge(pendingJob, found->assignments);
  if (judgement.isReserved()) {
    auto [avoid, reserved] = book_.nodesAround(found->assignments);
    avoid.insert(avoid.end(), reserved.begin(), reserved.end());
    found = placeSmaller(pendingJob, shape.relaxation.widest, avoid);
    if (!found) return false;
    judgement = book_.judge(pendingJob, found->assignments);
    if (judgement.isReserved()) return false;
  }
  in_.start(pendingJob, std::move(*found), std::move(judgement.conditions));
  return true;
}

// Returns a placement with fewer members than desired: as many as fit.
std::optional<Placement> ElasticStart::placeSmaller(const PendingJob& pendingJob, std::size_t widest,
                                                    const std::vector<model::NodeName>& avoid) {
  const model::Job& job = *pendingJob.waiting->job;
  int fits = job.spec.elastic->minReplicas;
  int beyond = desiredMembers(job);
  auto found = placer_.placeWith(pendingJob, fits, widest, avoid);
  while (found && beyond - fits > 1) {
    const int size = fits + (beyond - fits) / 2;
    auto more = placer_.placeWith(pendingJob, size, widest, avoid);
    (more ? fits : beyond) = size;
    if (more) found = std::move(more);
  }
  return found;
}

}  // namespace trainyard::core
