#include "core/schedule/schedule_context.h"

#include <utility>

#include "core/queues/holdings.h"

namespace trainyard::core {

ScheduleContext::ScheduleContext(const ScheduleRequest& of)
    : request(of),
      snapshot(of.snapshot),
      ledger(of.ledger),
      tree(of.queues),
      placer(snapshot, ledger, of.domains, of.cache),
      types(snapshot, ledger, tree, placer, of.cache),
      runs(snapshot, of.cache.liveRuns),
      ends(snapshot, of.cache.notes, ledger, runs),
      preemption(
          {.snapshot = snapshot,
           .notes = of.cache.notes,
           .ledger = ledger,
           .tree = tree,
           .placer = placer,
           .ends = ends,
           .runs = runs,
           .queuePositionOf = [this](const model::Job& job,
                                     int priority) { return queuePositionOf(job, priority, snapshot, runs); },
           .taken = of.changing}),
      starting(of.startingMembers, of.maxStartingMembers) {}

void ScheduleContext::start(const PendingJob& pendingJob, Placement placement, Conditions conditions) {
  const auto& job = pendingJob.waiting->job;
  take(*job, placement);
  ends.add(*job, placement.assignments);
  tree.charge(pendingJob.queue, heldBy(tree.capacity(), *job, placement.assignments), !job->spec.preemptible);
  schedule.changes.push_back({.job = job,
                              .kind = ChangeKind::kStart,
                              .add = std::move(placement),
                              .backfilled = std::move(conditions),
                              .silent = pendingJob.waiting->silent});
  failed.onStart();
}

void ScheduleContext::take(const model::Job& job, const Placement& placement) {
  for (const model::Assignment& assignment : placement.assignments) {
    const model::Role* role = job.spec.findRole(assignment.role);
    ledger.take(*ledger.find(assignment.node), role->shape.requests,
                static_cast<int>(assignment.indices.size()), &job);
    starting.add(job.key.ns, static_cast<std::int64_t>(assignment.indices.size()));
  }
}

}  // namespace trainyard::core
