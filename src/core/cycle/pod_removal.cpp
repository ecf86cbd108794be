#include "core/cycle/pod_removal.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/cycle/clean_up.h"
#include "core/gang/owned_steps.h"

namespace trainyard::core {

void PodRemoval::drainDeleted(const JobPtr& job) {
  if (isEmpty(*job) && !job->hasReleaseFinalizer) return clearDeleted(job);
  // As of a gang that has ended, its pods count as leaving.
  if (job->status.gang.placed && !job->finished()) in_.endHoldings(job);
  JobDecision& decision = decisions_.add(job);
  removePods(*job, decision);
  if (isEmpty(*job) && job->hasReleaseFinalizer) decision.actions.emplace_back(RemoveFinalizer{});
}

// Only finalizers of other controllers keep the object. Without pods the job holds no capacity, so its queue
// is no longer charged for it.
void PodRemoval::clearDeleted(const JobPtr& job) {
  const model::GangRecord& before = job->status.gang;
  if (job->finished() || (!before.placed && !before.charge)) return;
  model::GangRecord record = before;
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
  decisions_.write(job, std::move(record), {}, update);
}

void PodRemoval::cleanUpFinished(const CurrentJob& current) {
  const JobPtr& job = current.job;
  const std::optional<base::WallTime> goneAt = deletionDue(*job);
  if (goneAt && in_.input.snapshot.now >= *goneAt) {
    decisions_.add(job).actions.emplace_back(DeleteJob{});
    return;
  }
  Removal removal(in_.ledger, in_.settings, in_.input.snapshot.now);
  for (const auto& pod : in_.podsOf(*job)) {
    if (job->owner == nullptr && mustCleanUp(*job, *pod, in_.ledger)) removal.remove(*pod);
  }
  in_.wakeAt(goneAt);
  if (!removal.done()) return finish(removal.takeActions(), removal, decisions_.add(job));
  const JobPods& pods = in_.podsOf(*job);
  // While a pod runs on, its queue is charged for it.
  if (std::all_of(pods.begin(), pods.end(), [](const auto& pod) { return pod->finished(); }))
    in_.settle(current.position, goneAt);
}

// As of a gang that has ended, its pods count as leaving.
void PodRemoval::stopForSuspension(const JobPtr& job) {
  in_.endHoldings(job);
  if (isEmpty(*job)) {
    model::GangRecord record = job->status.gang;
    record.placed.reset();
    record.charge.reset();
    decisions_.write(job, std::move(record), {{false, "Suspended", "All pods are gone; the nodes are free"}},
                     holdUpdate(*job));
  }
  JobDecision& decision = decisions_.derive(job, job->status.gang, {.suspended = true});
  removePods(*job, decision);
}

void PodRemoval::awaitStrays(const JobPtr& job, const std::vector<const model::Pod*>& strays) {
  StatusUpdate update;
  update.pending =
      model::Pending{model::PendingReason::kCleaningUp,
                     fmt::format("{} pods of an earlier attempt are still terminating", strays.size())};
  JobDecision& decision = decisions_.derive(job, job->status.gang, update);
  Removal removal(in_.ledger, in_.settings, in_.input.snapshot.now);
  for (const model::Pod* stray : strays) removal.remove(*stray);
  finish(removal.takeActions(), removal, decision);
  ++in_.plan.waiting;
}

bool PodRemoval::isEmpty(const model::Job& job) const {
  const JobPods& pods = in_.podsOf(job);
  return std::all_of(pods.begin(), pods.end(), [&](const auto& pod) { return isLeftToOwner(job, *pod); });
}

void PodRemoval::removePods(const model::Job& job, JobDecision& decision) {
  Removal removal(in_.ledger, in_.settings, in_.input.snapshot.now);
  for (const auto& pod : in_.podsOf(job)) {
    if (!isLeftToOwner(job, *pod)) removal.remove(*pod);
  }
  finish(stopOwned(job, removal.takeActions()), removal, decision);
}

void PodRemoval::removeStrays(const model::Job& job, JobDecision& decision) {
  Removal removal(in_.ledger, in_.settings, in_.input.snapshot.now);
  for (const model::Pod* stray : strayPods(job, in_.podsOf(job))) removal.remove(*stray);
  finish(removal.takeActions(), removal, decision);
}

void PodRemoval::finish(std::vector<Action> actions, const Removal& removal, JobDecision& decision) {
  for (Action& action : actions) decision.actions.push_back(std::move(action));
  in_.wakeAt(removal.wakeAt());
}

}  // namespace trainyard::core
