#include "core/schedule/limit_holds.h"

#include <algorithm>

#include "core/resize.h"
#include "core/schedule/pending_rights.h"

namespace trainyard::core {

bool LimitHolds::add(const PendingJob& pendingJob, const Excess& beyond, Ends& seen) {
  const auto same = [&](const LimitHold& each) {
    return each.at == beyond.queue && each.dimension == beyond.dimension;
  };
  if (std::any_of(holds_.begin(), holds_.end(), same)) return false;
  // A demand names no GPU type, so quota is kept for as many of its GPUs as may be of the type.
  std::int64_t demand = startDemandOf(in_, pendingJob)[beyond.dimension];
  if (demand <= 0) {
    const model::Job& job = *pendingJob.waiting->job;
    const auto minimum = minimumOf(job, in_.snapshot.policy);
    demand = in_.types.mostOf(minimum ? *minimum : job, in_.request.cache.shapeOf(job, pendingJob.position),
                              beyond.dimension);
  }
  if (demand > in_.tree.node(beyond.queue).limit[beyond.dimension]) return false;
  holds_.push_back({.job = pendingJob.waiting->job,
                    .own = pendingJob.queue,
                    .queuePosition = pendingJob.queuePosition,
                    .at = beyond.queue,
                    .dimension = beyond.dimension,
                    .demand = demand,
                    .reserved = capacityBelowLimit(in_.tree, beyond.queue, beyond.dimension, demand, seen,
                                                   *in_.request.reservedSince, in_.snapshot.now)});
  return true;
}

void LimitHolds::addAll(const PendingJob& pendingJob, const Amounts& demand, const ReservedTime& reserved) {
  for (const QueueTree::Index at : in_.tree.node(pendingJob.queue).path) {
    for (std::size_t d = 0; d < demand.size(); ++d) {
      if (demand[d] <= 0 || in_.tree.node(at).limit[d] == QueueTree::kNoLimit) continue;
      holds_.push_back({.job = pendingJob.waiting->job,
                        .own = pendingJob.queue,
                        .queuePosition = pendingJob.queuePosition,
                        .at = at,
                        .dimension = d,
                        .demand = demand[d],
                        .reserved = reserved});
    }
  }
}

BackfillVerdict LimitHolds::judge(const LimitHold& hold, const PendingJob& pendingJob, const Amounts& held) {
  if (hold.leavesCapacity(in_.tree, pendingJob.queue, held) || isEntitled(in_, pendingJob)) return {};
  if (hold.own == pendingJob.queue && pendingJob.priority > hold.queuePosition.priority) return {};
  return lendReserved(backfillRequestOf(in_, pendingJob, hold.own, *hold.job), hold.reserved,
                      in_.snapshot.now, in_.snapshot.policy);
}

std::optional<LimitHolds::Kept> LimitHolds::keptFrom(const PendingJob& pendingJob, const Amounts& held) {
  for (const LimitHold& hold : holds_) {
    const BackfillVerdict verdict = judge(hold, pendingJob, held);
    in_.wakeAt(verdict.again);
    if (!verdict.isReserved()) continue;
    const QueueTree::Node& node = in_.tree.node(hold.at);
    return Kept{hold.job, {hold.at, hold.dimension, node.usage[hold.dimension], node.limit[hold.dimension]}};
  }
  return std::nullopt;
}

const LimitHold* LimitHolds::find(const model::Job& holder) const {
  const auto hold = std::find_if(holds_.begin(), holds_.end(),
                                 [&](const LimitHold& each) { return each.job.get() == &holder; });
  return hold == holds_.end() ? nullptr : &*hold;
}

}  // namespace trainyard::core
