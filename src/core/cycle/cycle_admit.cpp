#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/plain_text.h"
#include "core/cycle/admission.h"
#include "core/cycle/cycle_phases.h"
#include "core/gang/gang_proposals.h"
#include "core/planner.h"
#include "model/gang_size.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

constexpr std::chrono::milliseconds kNextPlans{100};

}  // namespace

void Cycle::admitOrRefuse(const JobPtr& job) {
  if (wantsShape(*job)) {
    // A plan shows what the queue may hold, so a job that may not use the queue gets no plan.
    if (const auto refusal = refuseUse(*job, input_.snapshot, queues_)) return refuse(job, *refusal);
    return awaitPlan(job);
  }
  const Admission admission = admit(*job, input_.snapshot, queues_, *feedback_);
  if (admission.refusal) return refuse(job, *admission.refusal);
  if (admission.needsTemplateCheck) {
    if (!feedback_->templateAsked) add(job).actions.emplace_back(CheckTemplates{});
    return keepQueuePosition(job);
  }
  StatusUpdate update;
  if (const model::Pod* former = podOfFormerJob(*job)) {
    ++plan_.waiting;
    update.pending = model::Pending{
        model::PendingReason::kCleaningUp,
        fmt::format("pod {} of an earlier TrainingJob of this name {}", former->key.name,
                    former->terminating ? "is still terminating" : "has not been deleted yet")};
    return write(job, job->status.gang, {}, update);
  }
  if (update.pending = backingOff(*job); update.pending) {
    ++plan_.waiting;
    return write(job, job->status.gang, {}, update);
  }
  if (!job->volumeProblem.empty()) {
    ++plan_.waiting;
    update.pending = model::Pending{model::PendingReason::kWaitingForVolume, job->volumeProblem};
    return write(job, job->status.gang, {}, update);
  }
  cache_.notes().of(position_).waits = podsOf(*job).empty() && !job->status.gang.backoff;
  wait(job);
}

// A suspended job waits for nothing, but its Admitted condition reports whether its spec is usable.
void Cycle::holdSuspended(const JobPtr& job) {
  StatusUpdate update{.suspended = true};
  const bool planned = !wantsShape(*job);  // otherwise its size, and so its templates, are not final
  Admission admission;
  if (planned) {
    admission = admit(*job, input_.snapshot, queues_, *feedback_);
  } else {
    admission.refusal = refuseUse(*job, input_.snapshot, queues_);
  }
  std::vector<JobEvent> events;
  if (const auto& refusal = admission.refusal) {
    const model::Condition* reported = job->condition(model::conditions::kAdmitted);
    const bool hasChanged = reported == nullptr || reported->status != model::ConditionStatus::kFalse ||
                            reported->reason != model::toString(refusal->reason);
    if (hasChanged) events.push_back({true, std::string(model::toString(refusal->reason)), refusal->message});
    update.pending = refusal;
    update.admitted = false;
  }
  update.admissionKnown = !admission.needsTemplateCheck;
  JobDecision& decision = derive(job, job->status.gang, update);
  decision.events = std::move(events);
  if (admission.needsTemplateCheck && !feedback_->templateAsked)
    decision.actions.emplace_back(CheckTemplates{});
}

void Cycle::refuse(const JobPtr& job, model::Pending refusal) {
  // The message may quote text that the user wrote.
  refusal.message = base::plainText(refusal.message, false);
  StatusUpdate update;
  update.pending = refusal;
  update.admitted = false;
  const bool hasChanged = !job->status.pending || job->status.pending->message != refusal.message;
  std::vector<JobEvent> events;
  if (hasChanged) events.push_back({true, std::string(model::toString(refusal.reason)), refusal.message});
  write(job, job->status.gang, std::move(events), update);
}

// For spec.plan.mode Auto, the shape is written before the job's size is checked. The next cycle, and every
// other reader, then sees the job with the size of that shape.
void Cycle::awaitPlan(const JobPtr& job) {
  if (std::string missing = missingToPlan(*job); !missing.empty())
    return refuse(job, {model::PendingReason::kInvalidSpec, std::move(missing)});
  ++plan_.waiting;
  unplanned_.push_back(job);
}

// Choosing a shape takes up to a tenth of a second, for thousands of workers on thousands of nodes, so each
// cycle chooses one. The job that follows the last planned job by name is next. So the many jobs of one user
// do not come before those of all other users.
void Cycle::planNext() {
  if (unplanned_.empty()) return;
  std::optional<model::ObjectKey>& last = cache_.schedule().plannedLast;
  auto next = last ? std::find_if(unplanned_.begin(), unplanned_.end(),
                                  [&](const JobPtr& each) { return *last < each->key; })
                   : unplanned_.begin();
  if (next == unplanned_.end()) next = unplanned_.begin();
  const JobPtr& job = *next;
  last = job->key;
  if (unplanned_.size() > 1) wakeAt(input_.snapshot.now + kNextPlans);
  model::ShapePlan shape = decideShape(*job, ledger_, queues_, input_.snapshot);
  shape.message = base::plainText(shape.message, false);
  JobDecision& decision = add(job);
  decision.status = job->status;
  decision.events.push_back(
      {shape.roles.empty(), shape.roles.empty() ? "NotPlanned" : "Planned", shape.message});
  decision.status->plan = std::move(shape);
}

// A pod of a deleted job of the same name: this job's own pod cannot be created before that one is gone. Only
// single-pod jobs are affected. Larger jobs have a finalizer, so their names are free only without pods.
const model::Pod* Cycle::podOfFormerJob(const Job& job) const {
  if (model::gangMembers(job) != 1) return nullptr;
  const auto role = std::find_if(job.spec.roles.begin(), job.spec.roles.end(),
                                 [&](const model::Role& each) { return model::gangMembers(job, each) == 1; });
  if (role == job.spec.roles.end()) return nullptr;
  const model::ObjectKey key{job.key.ns, model::podName(job.key.name, role->name, 0)};
  const auto& pods = input_.snapshot.pods.items();
  const auto at = std::lower_bound(pods.begin(), pods.end(), key,
                                   [](const auto& pod, const auto& wanted) { return pod->key < wanted; });
  const bool found = at != pods.end() && (*at)->key == key;
  return found && isOfFormerJob(**at, job) ? at->get() : nullptr;
}

// Returns why the next attempt has to wait; nothing if it does not.
std::optional<model::Pending> Cycle::backingOff(const Job& job) {
  const auto until = backsOffUntil(job.status.gang, input_.snapshot.now);
  if (!until) return std::nullopt;
  wakeAt(until);
  const auto& backoff = job.status.gang.backoff;
  if (backoff->count == 0) {
    return model::Pending{
        model::PendingReason::kBackingOff,
        fmt::format("{}; the next start is at {}", backoff->reason, base::formatTime(backoff->until))};
  }
  return model::Pending{model::PendingReason::kBackingOff,
                        fmt::format("attempt {} was aborted ({}); the next one starts at {}", backoff->count,
                                    backoff->reason, base::formatTime(backoff->until))};
}

}  // namespace trainyard::core
