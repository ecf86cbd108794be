#include "core/schedule/pending_rights.h"

#include "core/queues/guarantee.h"
#include "core/queues/holdings.h"
#include "core/queues/priority.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"

namespace trainyard::core {

Amounts typedDemandOf(ScheduleContext& in, const PendingJob& pendingJob, const model::Job& sized) {
  const bool namesTypes = in.tree.dimensions().namesTypes();
  if (!namesTypes && &sized == pendingJob.waiting->job.get()) return pendingJob.demand;
  Amounts ofAnyType = demandOf(in.tree.capacity(), sized);
  if (!namesTypes || beyondLimit(in.tree, pendingJob.queue, ofAnyType)) return ofAnyType;
  return in.types.demandOf(sized, in.request.cache.shapeOf(*pendingJob.waiting->job, pendingJob.position));
}

Amounts startDemandOf(const ScheduleContext& in, const PendingJob& pendingJob) {
  const auto minimum = minimumOf(*pendingJob.waiting->job, in.snapshot.policy);
  return minimum ? demandOf(in.tree.capacity(), *minimum) : pendingJob.demand;
}

bool isEntitled(ScheduleContext& in, const PendingJob& pendingJob) {
  return isWithinGuarantee(in.tree, pendingJob.queue,
                           typedDemandOf(in, pendingJob, *pendingJob.waiting->job));
}

Preemptor preemptorOf(ScheduleContext& in, const PendingJob& pendingJob) {
  const model::Job& job = *pendingJob.waiting->job;
  return {.job = &job,
          .priority = pendingJob.priority,
          .queue = pendingJob.queue,
          .demand = typedDemandOf(in, pendingJob, job),
          .isHolder = pendingJob.pendingFacts->reservedSince || in.preemption.gangs().isHolder(job),
          .queuePosition = pendingJob.queuePosition,
          .overdue = pendingJob.overdue};
}

BackfillRequest backfillRequestOf(ScheduleContext& in, const PendingJob& pendingJob, QueueTree::Index holders,
                                  const model::Job& holder) {
  const model::Job& job = *pendingJob.waiting->job;
  const bool isForbidden = holders == pendingJob.queue && forbidsPreemptionWithin(in.tree.node(holders));
  return {.isPreemptible = job.spec.preemptible && !isForbidden && Priorities(in.snapshot).mayPreempt(holder),
          .run = cautiousRun(job, in.snapshot.now, in.runs),
          .deadline = job.spec.run.activeDeadline};
}

EquivalenceKey equivalenceKeyOf(const PendingJob& pendingJob, const GangShape& shape) {
  return {.queue = pendingJob.queue,
          .widest = shape.relaxation.widest,
          .priority = pendingJob.priority,
          .shape = shape.key,
          .preemptible = pendingJob.pendingFacts->preemptible,
          .mayPreempt = pendingJob.pendingFacts->mayPreempt};
}

}  // namespace trainyard::core
