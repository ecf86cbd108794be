#include "core/schedule/quota_placer.h"

#include <utility>

#include "core/queues/holdings.h"
#include "core/resize.h"

namespace trainyard::core {

QuotaPlacement QuotaPlacer::place(const PendingJob& pendingJob, std::uint32_t shape, std::size_t widest) {
  const model::Job& job = *pendingJob.waiting->job;
  return within(pendingJob, in_.placer.request(job, widest), in_.placer.place(job, shape, widest));
}

QuotaPlacement QuotaPlacer::placeSized(const PendingJob& pendingJob, const model::Job& sized,
                                       std::size_t widest) {
  return within(pendingJob, in_.placer.request(sized, widest), in_.placer.tryPlace(sized, widest));
}

// Returns this placement, or another one within quota.
QuotaPlacement QuotaPlacer::within(const PendingJob& pendingJob, PlaceRequest request,
                                   std::optional<Placement> placement) {
  QuotaPlacement result;
  const model::Job& job = *request.job;
  while (placement) {
    const Amounts held = heldBy(in_.tree.capacity(), job, placement->assignments);
    auto beyond = exceededQuota(in_.tree, pendingJob.queue, held, job.spec.preemptible);
    std::shared_ptr<const model::Job> keptFor;
    if (!beyond) {
      auto kept = book_.limitHolds().keptFrom(pendingJob, held);
      if (!kept) return {.placement = std::move(placement)};
      beyond = kept->beyond;
      keptFor = std::move(kept->holder);
    }
    if (!result.exhausted) {
      result.exhausted = beyond;
      result.keptFor = std::move(keptFor);
    }
    if (!request.beyondQuota.add(in_.tree.capacity(), beyond->dimension)) return result;
    placement = in_.placer.tryPlace(request);
  }
  return result;
}

std::optional<Placement> QuotaPlacer::placeWith(const PendingJob& pendingJob, int members, std::size_t widest,
                                                const std::vector<model::NodeName>& avoid) {
  const auto sized = withDesiredSize(*pendingJob.waiting->job, members);
  PlaceRequest request = in_.placer.request(*sized, widest);
  const auto& backoff = sized->status.gang.backoff;
  // As for a whole gang, a node that failed an attempt is better than none.
  auto placement =
      avoidingAsPossible(backoff ? backoff->avoidNodes : std::vector<model::NodeName>{},
                         [&](std::vector<model::NodeName> avoided) {
                           request.avoidNodes = std::move(avoided);
                           request.avoidNodes.insert(request.avoidNodes.end(), avoid.begin(), avoid.end());
                           return in_.placer.tryPlace(request);
                         });
  return within(pendingJob, std::move(request), std::move(placement)).placement;
}

std::optional<Placement> QuotaPlacer::placeOffReserved(const PendingJob& pendingJob, const GangShape& shape,
                                                       const Placement& found) {
  auto [nodes, reserved] = book_.nodesAround(found.assignments);
  if (!nodes.empty()) {
    auto placement = placeOffNodes(nodes, pendingJob, shape);
    if (placement && !book_.judge(pendingJob, placement->assignments).isReserved()) return placement;
  }
  if (reserved.empty()) return std::nullopt;
  nodes.insert(nodes.end(), reserved.begin(), reserved.end());
  auto placement = placeOffNodes(std::move(nodes), pendingJob, shape);
  if (placement && !book_.judge(pendingJob, placement->assignments).isReserved()) return placement;
  return std::nullopt;
}

std::optional<Placement> QuotaPlacer::placeOffNodes(std::vector<model::NodeName> nodes,
                                                    const PendingJob& pendingJob, const GangShape& shape) {
  const model::Job& job = *pendingJob.waiting->job;
  PlaceRequest request = in_.placer.request(job, shape.relaxation.widest);
  request.avoidNodes = std::move(nodes);
  auto placement = in_.placer.tryPlace(request);
  return within(pendingJob, std::move(request), std::move(placement)).placement;
}

}  // namespace trainyard::core
