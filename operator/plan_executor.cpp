#include "operator/plan_executor.h"

#include <algorithm>

#include "codec/job_status.h"
#include "codec/status.h"
#include "codec/stripping.h"
#include "operator/plan_executor_step.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;

constexpr base::Instant::duration kFirstRetry = std::chrono::milliseconds(200);
constexpr base::Instant::duration kLastRetry = std::chrono::seconds(30);
// This many failures in a row, within six seconds, are no accident.
constexpr int kMaxFailures = 5;
// Bounds the bodies of pods to create, by their templates. Requests and sent data hold further copies.
constexpr std::size_t kMaxBodyBytes = std::size_t{16} << 20;
// Far above the jobs of one cluster. Reaching it costs at most one repeated write per job.
constexpr std::size_t kMaxStatusHashes = 50'000;
// Sent deletes are remembered for as long as a watch may lag.
constexpr base::Instant::duration kDeleteMemory = std::chrono::seconds(10);

}  // namespace

PlanExecutor::PlanExecutor(Dependencies dependencies, std::function<void()> settled)
    : deps_(std::move(dependencies)),
      settled_(std::move(settled)),
      singles_(deps_.cache, deps_.settings),
      bodies_(kMaxBodyBytes),
      evidence_(deps_.api, deps_.executor, deps_.offload) {}

PlanExecutor::~PlanExecutor() { *alive_ = false; }

kube::ApiCallback PlanExecutor::guarded(std::function<void(const Answer&)> callback) const {
  return [alive = alive_, callback = std::move(callback)](const Answer& answer) {
    if (*alive) callback(answer);
  };
}

void PlanExecutor::execute(const core::Plan& plan) {
  const base::Instant now = deps_.executor.now();
  deferredWrites_.beginCycle(now, singles_.unboundPods(), plan.capacityWanted);
  std::erase_if(deletesSent_, [&](const auto& entry) { return now - entry.second > kDeleteMemory; });
  forgetGoneJobs();
  for (const core::DeletePod& orphan : plan.orphans) {
    deps_.log.info("deleting a pod of a TrainingJob that no longer exists",
                   {{"namespace", orphan.pod.ns}, {"pod", orphan.pod.name}});
    deletePod(orphan, [](bool) {});
  }
  for (const core::JobDecision& decision : plan.decisions) start(decision);
}

void PlanExecutor::forgetGoneJobs() {
  std::erase_if(jobs_, [&](const auto& entry) {
    return !entry.second.busy && deps_.cache.jobs.find(entry.first) == nullptr;
  });
}

void PlanExecutor::start(const core::JobDecision& decision) {
  const model::ObjectKey& key = decision.job->key;
  if (const auto known = jobs_.find(key); known != jobs_.end() && known->second.busy) return;
  auto step = std::make_shared<Step>();
  step->decision = decision;
  if (decision.podIsRecord) {
    singles_.making(*decision.job, decision.status->gang, deps_.executor.wallNow());
    recordEvents(*step);
  } else if (decision.status) {
    const base::Instant now = deps_.executor.now();
    if (mayWriteNow(decision, now)) {
      deferredWrites_.note(key, now);
    } else {
      step->decision.status.reset();
      step->decision.events.clear();
      if (decision.job->recordUnwritten && decision.urgency != core::Urgency::kSpare) noteHeld(*decision.job);
      if (step->decision.actions.empty()) return;
    }
  }
  JobState& state = jobs_[key];
  // State of an earlier job with this name does not apply to this job.
  if (state.uid != decision.job->uid) state = JobState();
  state.busy = true;
  state.uid = decision.job->uid;
  if (step->decision.status) state.statusDeferred = false;
  if (step->decision.status && !decision.podIsRecord) return writeStatus(step);
  runActions(step);
}

bool PlanExecutor::mayWriteNow(const core::JobDecision& decision, base::Instant now) {
  // A bound pod stands for its record while the write waits. Without a bound pod, the write is due.
  const bool isRecord = decision.job->recordUnwritten && decision.status->gang.placed.has_value();
  switch (decision.urgency) {
    case core::Urgency::kNow: return true;
    case core::Urgency::kSoon:
      return deferredWrites_.isDue(decision.job->key, core::DeferredStatus::kBound, isRecord, now);
    case core::Urgency::kPaced:
      return deferredWrites_.isDue(decision.job->key, core::DeferredStatus::kStarted, isRecord, now);
    case core::Urgency::kSpare: return deferredWrites_.allow(decision.job->key, now);
  }
  return true;
}

void PlanExecutor::noteHeld(const model::Job& job) {
  JobState& state = jobs_[job.key];
  if (state.uid != job.uid) state = JobState();
  state.uid = job.uid;
  state.statusDeferred = true;
}

void PlanExecutor::writeStatus(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  // The decision may rest on an unwritten record: the patch starts from the status that the server has.
  const auto read = deps_.cache.jobs.find(job.key);
  if (read && read->uid == job.uid && read->resourceVersion == job.resourceVersion) step->asRead = read;
  const auto patch = codec::encodeStatusPatch(step->asRead ? *step->asRead : job, *step->decision.status,
                                              codec::PatchGuard::kResourceVersion);
  if (!patch) return runActions(step);
  step->path = kube::kTrainingJobs.object(job.key.ns, job.key.name);
  step->statusHash =
      std::hash<std::string_view>{}(std::string_view(*patch).substr(patch->find("\"status\"")));
  jobs_[job.key].write(step->decision.status->gang);
  deps_.metrics.countWrite("trainingjobs/status");
  deps_.api.patch(kube::PatchType::kMerge, step->path + "/status", *patch,
                  guarded([this, step](const Answer& answer) { statusWritten(step, answer); }));
}

void PlanExecutor::statusWritten(const StepPtr& step, const Answer& answer) {
  const model::Job& job = *step->decision.job;
  if (answer) {
    deps_.cache.jobs.applyWrite(answer->body);
    jobs_[job.key].writing.reset();
    deferredWrites_.written(job.key);
    step->good = tookEffect(*step);
    const auto& proposal = step->decision.status->gang.proposal;
    if (proposal && proposal->phase == model::ProposalPhase::kAborting) templateChecks_.forget(job);
    recordEvents(*step);
    deps_.metrics.noteTransition(job, *step->decision.status, deps_.executor.wallNow());
    return runActions(step);
  }
  if (codec::isTooLargeError(answer.error()) && !step->shrunk && job.status.gang.placed) return shrink(step);
  step->decision.actions.clear();
  switch (answer.error().code) {
    case ErrorCode::kConflict: return reread(step, Reread::kAfterConflict);
    case ErrorCode::kOutcomeUnknown: return reread(step, Reread::kOutcomeUnknown);
    case ErrorCode::kNotFound:
      deps_.cache.jobs.forget(job.key, job.uid.str());
      jobs_[job.key].writing.reset();
      return finish(step);
    default:
      deps_.log.warning("status could not be written", {{"namespace", job.key.ns},
                                                        {"job", job.key.name},
                                                        {"code", base::toString(answer.error().code)},
                                                        {"error", answer.error().message}});
      jobs_[job.key].writing.reset();
      step->good = false;
      return finish(step);
  }
}

// True if the next cycle will see the write. If the server's answer cannot be decoded, or an older
// schema drops fields, each cycle would write the same status again, for ever. Such a job backs off
// instead.
bool PlanExecutor::tookEffect(const Step& step) {
  const model::Job& job = *step.decision.job;
  if (lastStatusHash_.size() >= kMaxStatusHashes) lastStatusHash_.clear();
  const bool repeated = std::exchange(lastStatusHash_[job.uid], step.statusHash) == step.statusHash;
  const auto now = deps_.cache.jobs.find(job.key);
  const bool seen = !now || now->uid != job.uid || now->resourceVersion != job.resourceVersion;
  return seen && !repeated;
}

void PlanExecutor::recordEvents(const Step& step) {
  const model::Job& job = *step.decision.job;
  for (const core::JobEvent& event : step.decision.events) {
    deps_.events.record(job, event);
    deps_.log.info(event.reason, {{"namespace", job.key.ns}, {"job", job.key.name}, {"note", event.note}});
  }
}

// The record of a running gang must be written, or the gang could not be preempted. Its owner may have filled
// the object up to the API server's limit. Removes labels and annotations, which the owner may add at any
// time and which do not decide whether the gang may run.
void PlanExecutor::shrink(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  step->shrunk = true;
  deps_.log.warning("too large to be written: its labels and annotations are removed",
                    {{"namespace", job.key.ns}, {"job", job.key.name}});
  deps_.events.record(job, {true, "TooLargeToWrite",
                            "the job was too large to be written: its labels and annotations were removed"});
  deps_.metrics.countWrite("trainingjobs");
  deps_.api.patch(kube::PatchType::kMerge, step->path, codec::encodeStrippingPatch(job),
                  guarded([this, step](const Answer&) { reread(step, Reread::kAfterConflict); }));
}

// After a conflict or an unknown outcome, only a read shows what the record is now.
void PlanExecutor::reread(const StepPtr& step, Reread why) {
  deps_.api.get(step->path, guarded([this, step, why](const Answer& answer) {
                  const model::Job& job = *step->decision.job;
                  if (!answer && answer.error().code != ErrorCode::kNotFound) {
                    deps_.executor.postAfter(std::chrono::seconds(1), [this, step, why, alive = alive_] {
                      if (*alive) reread(step, why);
                    });
                    return;
                  }
                  if (answer) {
                    deps_.cache.jobs.applyWrite(answer->body);
                  } else {
                    deps_.cache.jobs.forget(job.key, job.uid.str());
                  }
                  if (why == Reread::kAfterConflict && writeAgain(step)) return;
                  // An unchanged object gives the next attempt no better chance, so the job backs off.
                  const auto now = deps_.cache.jobs.find(job.key);
                  const bool same = now && now->resourceVersion == job.resourceVersion;
                  if (same || why == Reread::kAfterConflict) step->good = false;
                  jobs_[job.key].writing.reset();
                  finish(step);
                }));
}

// A client that edits a label all the time must not starve the job. If nothing that the decision rests on has
// changed, the status is written again at once. Waiting for the next cycle widens the gap between read and
// write to a cycle's rest, in which such a client always comes first. No edit of the spec changes what holds
// a placed gang's capacity, so there the decision stands.
bool PlanExecutor::writeAgain(const StepPtr& step) {
  const model::Job& decidedOn = step->asRead ? *step->asRead : *step->decision.job;
  const auto now = deps_.cache.jobs.find(decidedOn.key);
  if (!now || now->resourceVersion == decidedOn.resourceVersion) return false;
  const bool sameSpec = now->generation == decidedOn.generation || decidedOn.status.gang.placed.has_value();
  const bool asDecidedOn = now->uid == decidedOn.uid && sameSpec && now->deleting == decidedOn.deleting &&
                           now->hasReleaseFinalizer == decidedOn.hasReleaseFinalizer &&
                           now->status == decidedOn.status;
  if (!asDecidedOn || ++step->conflicts > kMaxConflicts) return false;
  step->decision.job = now;
  writeStatus(step);
  return true;
}

void PlanExecutor::runActions(const StepPtr& step) {
  const auto& actions = step->decision.actions;
  // One part more than actions, so that immediate answers cannot end the step before all actions were
  // started.
  step->openParts = actions.size() + 1;
  for (const core::Action& action : actions) {
    std::visit([&](const auto& concrete) { run(step, concrete); }, action);
  }
  partDone(step, true);
}

void PlanExecutor::partDone(const StepPtr& step, bool good) {
  step->good = step->good && good;
  if (--step->openParts == 0) finish(step);
}

void PlanExecutor::finish(const StepPtr& step) {
  JobState& state = jobs_[step->decision.job->key];
  state.busy = false;
  if (step->good) {
    if (step->ensuredEpoch != 0 && state.refusedEpoch != step->ensuredEpoch)
      state.auxiliariesEpoch = step->ensuredEpoch;
    if (step->notifiesEpoch != 0) state.notifiedEpoch = step->notifiesEpoch;
    state.failures = 0;
    state.notBefore = base::Instant::min();
  } else {
    base::Instant::duration delay = kFirstRetry;
    for (int i = 0; i < state.failures && delay < kLastRetry; ++i) delay *= 2;
    ++state.failures;
    state.notBefore = deps_.executor.now() + std::min(delay, kLastRetry);
  }
  if (state.isDefault()) jobs_.erase(step->decision.job->key);
  settled_();
}

std::map<model::ObjectKey, core::JobFeedback> PlanExecutor::feedback(const model::Snapshot& snapshot) const {
  const base::Instant now = deps_.executor.now();
  std::map<model::ObjectKey, core::JobFeedback> all;
  // Both are sorted by key.
  auto state = jobs_.begin();
  TemplateChecks::Fine fine(templateChecks_, now);
  for (const auto& job : snapshot.jobs) {
    while (state != jobs_.end() && state->first < job->key) ++state;
    const bool known = state != jobs_.end() && state->first == job->key;
    const model::GangRecord& gang = job->status.gang;
    const bool waits = !gang.placed && !gang.proposal && !job->finished();
    if (!known && (!waits || fine(*job))) continue;
    core::JobFeedback feedback = known ? feedbackOn(*job, state->second, now) : core::JobFeedback();
    if (known && state->second.statusDeferred) feedback.held = deferredWrites_.deferredStatus(job->key, now);
    if (waits) {
      feedback.templateError = templateChecks_.outcome(*job, now);
      feedback.templateAsked = !feedback.templateError && templateChecks_.asked(*job);
    }
    all.emplace_hint(all.end(), job->key, std::move(feedback));
  }
  return all;
}

core::JobFeedback PlanExecutor::feedbackOn(const model::Job& job, const JobState& state, base::Instant now) {
  core::JobFeedback feedback;
  feedback.busy = state.busy || now < state.notBefore;
  if (state.uid != job.uid) return feedback;
  feedback.writing = state.writing.has_value();
  feedback.failing = state.failures >= kMaxFailures;
  if (state.failedEpoch == job.status.gang.lastEpoch) feedback.failure = state.failure;
  const auto& proposal = job.status.gang.proposal;
  if (!proposal) return feedback;
  feedback.auxiliariesReady = state.auxiliariesEpoch == proposal->epoch;
  feedback.membersNotified = state.notifiedEpoch == proposal->epoch;
  if (state.refusedEpoch == proposal->epoch) feedback.creationRefused = state.creationRefused;
  if (state.releasedEpoch == proposal->epoch) feedback.released = state.released;
  return feedback;
}

void PlanExecutor::overlay(model::Snapshot& snapshot) {
  singles_.overlay(snapshot);
  templateChecks_.overlay(snapshot);
  for (auto& [key, state] : jobs_) {
    if (!state.writing) continue;
    const std::size_t at = snapshot.jobs.positionOf(key);
    if (at == snapshot.jobs.size() || snapshot.jobs[at]->uid != state.uid) continue;
    auto written = state.asWritten(snapshot.jobs[at]);
    snapshot.jobs.edit()[at] = std::move(written);
  }
}

std::optional<base::Instant> PlanExecutor::nextWake() const {
  std::optional<base::Instant> wake = deferredWrites_.nextWake();
  const base::Instant now = deps_.executor.now();
  if (const auto recheck = templateChecks_.nextWake(now)) wake = wake ? std::min(*wake, *recheck) : *recheck;
  for (const auto& [key, state] : jobs_) {
    if (state.notBefore > now && (!wake || state.notBefore < *wake)) wake = state.notBefore;
  }
  return wake;
}

std::size_t PlanExecutor::busyJobs() const {
  std::size_t busy = 0;
  for (const auto& [key, state] : jobs_) busy += state.busy ? 1 : 0;
  return busy;
}

}  // namespace trainyard::operator_
