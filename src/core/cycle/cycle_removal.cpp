#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/cycle/clean_up.h"
#include "core/cycle/cycle_phases.h"

namespace trainyard::core {

void Cycle::drainDeleted(const JobPtr& job) {
  if (podsOf(*job).empty() && !job->hasReleaseFinalizer) return clearDeleted(job);
  JobDecision& decision = add(job);
  removePods(podsOf(*job), decision);
  if (podsOf(*job).empty() && job->hasReleaseFinalizer) decision.actions.emplace_back(RemoveFinalizer{});
}

// Only finalizers of other controllers keep the object. Without pods the job holds no capacity, so its queue
// is no longer charged for it.
void Cycle::clearDeleted(const JobPtr& job) {
  const GangRecord& before = job->status.gang;
  if (job->finished() || (!before.placed && !before.charge)) return;
  GangRecord record = before;
  record.placed.reset();
  record.charge.reset();
  record.backoff.reset();
  StatusUpdate update;
  update.pending =
      model::Pending{model::PendingReason::kCleaningUp,
                     fmt::format("it is being deleted and holds no nodes; its deletion waits for {}",
                                 job->otherFinalizers.empty()
                                     ? std::string("objects that depend on it")
                                     : fmt::format("finalizer {}", fmt::join(job->otherFinalizers, ", ")))};
  write(job, std::move(record), {}, update);
}

void Cycle::cleanUpFinished(const JobPtr& job) {
  const std::optional<base::WallTime> goneAt = deletionDue(*job);
  if (goneAt && input_.snapshot.now >= *goneAt) {
    add(job).actions.emplace_back(DeleteJob{});
    return;
  }
  Removal removal(ledger_, settings_, input_.snapshot.now);
  for (const auto& pod : podsOf(*job)) {
    if (mustCleanUp(*job, *pod, ledger_)) removal.remove(*pod);
  }
  wakeAt(goneAt);
  if (!removal.done()) return finishRemoval(removal, add(job));
  const JobPods& pods = podsOf(*job);
  // While a pod runs on, its queue is charged for it.
  if (std::all_of(pods.begin(), pods.end(), [](const auto& pod) { return pod->finished(); })) settle(goneAt);
}

void Cycle::stopForSuspension(const JobPtr& job) {
  if (podsOf(*job).empty()) {
    GangRecord record = job->status.gang;
    record.placed.reset();
    record.charge.reset();
    return write(job, std::move(record), {{false, "Suspended", "All pods are gone; the nodes are free"}},
                 {.suspended = true});
  }
  JobDecision& decision = derive(job, job->status.gang, {.suspended = true});
  removePods(podsOf(*job), decision);
}

void Cycle::removeStrays(const JobPtr& job, const std::vector<const model::Pod*>& strays) {
  StatusUpdate update;
  update.pending =
      model::Pending{model::PendingReason::kCleaningUp,
                     fmt::format("{} pods of an earlier attempt are still terminating", strays.size())};
  JobDecision& decision = derive(job, job->status.gang, update);
  Removal removal(ledger_, settings_, input_.snapshot.now);
  for (const model::Pod* stray : strays) removal.remove(*stray);
  finishRemoval(removal, decision);
  ++plan_.waiting;
}

void Cycle::removePods(const JobPods& pods, JobDecision& decision) {
  Removal removal(ledger_, settings_, input_.snapshot.now);
  for (const auto& pod : pods) removal.remove(*pod);
  finishRemoval(removal, decision);
}

void Cycle::finishRemoval(Removal& removal, JobDecision& decision) {
  for (Action& action : removal.takeActions()) decision.actions.push_back(std::move(action));
  wakeAt(removal.wakeAt());
}

}  // namespace trainyard::core
