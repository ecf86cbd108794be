#include "core/cycle/admission_step.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/plain_text.h"
#include "core/admission/admission.h"
#include "core/gang/gang_proposals.h"
#include "core/planner.h"
#include "model/gang_size.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

constexpr std::chrono::milliseconds kNextPlans{100};

// A pod of a deleted job of the same name: this job's own pod cannot be created before that one is gone. Only
// single-pod jobs are affected. Larger jobs have a finalizer, so their names are free only without pods.
const model::Pod* podOfFormerJob(const model::Job& job, const model::SharedList<model::Pod>& all) {
  if (!model::isSinglePod(job)) return nullptr;
  const auto role = std::find_if(job.spec.roles.begin(), job.spec.roles.end(),
                                 [&](const model::Role& each) { return model::gangMembers(job, each) == 1; });
  if (role == job.spec.roles.end()) return nullptr;
  const model::Pod* pod = all.find(model::ObjectKey{job.key.ns, model::podName(job.key.name, role->name, 0)});
  return pod != nullptr && isOfFormerJob(*pod, job) ? pod : nullptr;
}

// Whether the job has given up a start, or is about to, and is in the back-off after it. A job that failed
// for another reason than missing capacity, or whose gang failed, has no claim on what others start with
// meanwhile.
bool restsAsHolder(const model::Job& job, const model::GangRecord& record, base::WallTime now) {
  const auto& proposal = record.proposal;
  const bool isPending = !record.placed && !job.deleting && !job.spec.run.suspend &&
                         (!proposal || (proposal->kind == model::ProposalKind::kStart &&
                                        proposal->phase == model::ProposalPhase::kAborting));
  const auto& backoff = record.backoff;
  return isPending && backoff && backoff->count > 0 && now < backoff->until &&
         (backoff->unbindable == 0 || backoff->unbindable != job.generation);
}

}  // namespace

void AdmissionStep::admitOrRefuse(const CurrentJob& current) {
  const JobPtr& job = current.job;
  if (wantsShape(*job)) {
    // A plan shows what the queue may hold, so a job that may not use the queue gets no plan.
    if (const auto refusal = refuseUse(*job, in_.input.snapshot, in_.queues)) return refuse(job, *refusal);
    return awaitPlan(job);
  }
  const Admission admission = admit(*job, in_.input.snapshot, in_.queues, current.feedback);
  if (admission.refusal) return refuse(job, *admission.refusal);
  if (admission.needsTemplateCheck) {
    if (!current.feedback.templateAsked) decisions_.add(job).actions.emplace_back(CheckTemplates{});
    return keepQueuePosition(current);
  }
  StatusUpdate update;
  update.pending = waitsBeforeStart(*job);
  if (update.pending) {
    ++in_.plan.waiting;
    rest(job, job->status.gang);
    decisions_.write(job, job->status.gang, {}, update);
    return;
  }
  in_.cache.notes().of(current.position).waits = in_.podsOf(*job).empty() && !job->status.gang.backoff;
  wait(job);
}

void AdmissionStep::holdSuspended(const CurrentJob& current) {
  const JobPtr& job = current.job;
  StatusUpdate update = holdUpdate(*job);
  const bool planned = !wantsShape(*job);  // otherwise its size, and so its templates, are not final
  Admission admission;
  if (planned) {
    admission = admit(*job, in_.input.snapshot, in_.queues, current.feedback);
  } else {
    admission.refusal = refuseUse(*job, in_.input.snapshot, in_.queues);
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
  JobDecision& decision = decisions_.derive(job, job->status.gang, update);
  decision.events = std::move(events);
  if (admission.needsTemplateCheck && !current.feedback.templateAsked)
    decision.actions.emplace_back(CheckTemplates{});
}

void AdmissionStep::refuse(const JobPtr& job, model::Pending refusal) {
  // The message may quote text that the user wrote.
  refusal.message = base::plainText(refusal.message, false);
  StatusUpdate update;
  update.pending = refusal;
  update.admitted = false;
  const bool hasChanged = !job->status.pending || job->status.pending->message != refusal.message;
  std::vector<JobEvent> events;
  if (hasChanged) events.push_back({true, std::string(model::toString(refusal.reason)), refusal.message});
  decisions_.write(job, job->status.gang, std::move(events), update);
}

// A job cannot be planned while its last write is under way, but it keeps its turn in the queue. Jobs behind
// it must not take the capacity that it waits for. It has no turn while its writes fail, because it may never
// be written. A job that would not be admitted has none either; its status may not show that yet.
void AdmissionStep::keepQueuePosition(const CurrentJob& current) {
  const JobPtr& job = current.job;
  const model::GangRecord& gang = job->status.gang;
  const bool waits =
      !gang.placed && !gang.proposal && !job->deleting && !job->finished() && !job->spec.run.suspend;
  const bool backsOff = backsOffUntil(gang, in_.input.snapshot.now).has_value();
  const model::Condition* admitted = job->condition(model::conditions::kAdmitted);
  const bool refused = admitted != nullptr && admitted->status == model::ConditionStatus::kFalse;
  if (!waits || backsOff) return rest(job, gang);
  if (refused || current.feedback.failing) return;
  if (admit(*job, in_.input.snapshot, in_.queues, current.feedback).refusal) return;
  waiting_.push_back({job, true});
}

void AdmissionStep::rest(const JobPtr& job, const model::GangRecord& record) {
  if (restsAsHolder(*job, record, in_.input.snapshot.now)) waiting_.push_back({.job = job, .rests = true});
}

void AdmissionStep::wait(const JobPtr& job) {
  ++in_.plan.waiting;
  waiting_.push_back({job});
}

// For spec.plan.mode Auto, the shape is written before the job's size is checked. The next cycle, and every
// other reader, then sees the job with the size of that shape.
void AdmissionStep::awaitPlan(const JobPtr& job) {
  if (std::string missing = missingToPlan(*job); !missing.empty())
    return refuse(job, {model::PendingReason::kInvalidSpec, std::move(missing)});
  ++in_.plan.waiting;
  unplanned_.push_back(job);
}

// Returns what has to happen before the job may take its turn in the queue; nothing if it may now.
std::optional<model::Pending> AdmissionStep::waitsBeforeStart(const model::Job& job) {
  if (const model::Pod* former = podOfFormerJob(job, in_.input.snapshot.pods)) {
    return model::Pending{
        model::PendingReason::kCleaningUp,
        fmt::format("pod {} of an earlier TrainingJob of this name {}", former->key.name,
                    former->terminating ? "is still terminating" : "has not been deleted yet")};
  }
  if (auto pause = backingOff(in_, job)) return pause;
  if (!job.volumeProblem.empty())
    return model::Pending{model::PendingReason::kWaitingForVolume, job.volumeProblem};
  if (!job.deviceProblem.empty())
    return model::Pending{model::PendingReason::kUnusableDeviceClaim, job.deviceProblem};
  return std::nullopt;
}

// Choosing a shape takes up to a tenth of a second, for thousands of workers on thousands of nodes, so each
// cycle chooses one. The job that follows the last planned job by name is next. So the many jobs of one user
// do not come before those of all other users.
void AdmissionStep::planNext() {
  if (unplanned_.empty()) return;
  std::optional<model::ObjectKey>& last = in_.cache.schedule().progress.plannedLast;
  auto next = last ? std::find_if(unplanned_.begin(), unplanned_.end(),
                                  [&](const JobPtr& each) { return *last < each->key; })
                   : unplanned_.begin();
  if (next == unplanned_.end()) next = unplanned_.begin();
  const JobPtr& job = *next;
  last = job->key;
  if (unplanned_.size() > 1) in_.wakeAt(in_.input.snapshot.now + kNextPlans);
  model::ShapePlan shape = decideShape(*job, in_.ledger, in_.queues, in_.input.snapshot);
  shape.message = base::plainText(shape.message, false);
  JobDecision& decision = decisions_.add(job);
  decision.status = job->status;
  decision.events.push_back(
      {shape.roles.empty(), shape.roles.empty() ? "NotPlanned" : "Planned", shape.message});
  decision.status->plan = std::move(shape);
}

std::optional<model::Pending> backingOff(CycleContext& context, const model::Job& job) {
  const auto until = backsOffUntil(job.status.gang, context.input.snapshot.now);
  if (!until) return std::nullopt;
  context.wakeAt(until);
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
