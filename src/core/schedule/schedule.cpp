#include "core/schedule/schedule.h"

#include "core/queues/guarantee.h"
#include "core/queues/holdings.h"
#include "core/schedule/scheduler.h"

namespace trainyard::core {

const model::ObjectKey* Schedule::reservedFor(const model::Job& job, int priority,
                                              const std::vector<model::Assignment>& assignments,
                                              const Ledger& ledger, const QueueTree& tree) const {
  if (reservedPools.empty() && limitHolds.empty()) return nullptr;
  const QueueTree::Index queue = tree.queueOf(job);
  const Amounts held = heldBy(tree.capacity(), job, assignments);
  if (isWithinGuarantee(tree, queue, held)) return nullptr;
  for (const ReservedPool& pool : reservedPools) {
    if (pool.queue == queue && pool.priority < priority) continue;
    for (const model::Assignment& each : assignments) {
      const auto node = ledger.find(each.node);
      if (node && pool.nodes[*node] != 0) return &pool.holder;
    }
  }
  for (const LimitHold& each : limitHolds) {
    if (each.own == queue && each.queuePosition.priority < priority) continue;
    if (!each.leavesCapacity(tree, queue, held)) return &each.job->key;
  }
  return nullptr;
}

Schedule schedule(const ScheduleRequest& request) { return Scheduler(request).run(); }

}  // namespace trainyard::core
