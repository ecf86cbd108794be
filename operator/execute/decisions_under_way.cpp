#include "operator/execute/decisions_under_way.h"

#include <algorithm>
#include <utility>

#include "codec/status.h"

namespace trainyard::operator_ {
namespace {

constexpr base::Instant::duration kFirstRetry = std::chrono::milliseconds(200);
constexpr base::Instant::duration kLastRetry = std::chrono::seconds(30);
// This many failures in a row, within six seconds, are no accident.
constexpr int kMaxFailures = 5;

}  // namespace

bool DecisionsUnderWay::isBusy(const model::ObjectKey& job) const {
  const auto known = jobs_.find(job);
  return known != jobs_.end() && known->second.busy;
}

JobState& DecisionsUnderWay::open(const model::Job& job) {
  JobState& state = jobs_[job.key];
  if (state.uid != job.uid) state = JobState();
  state.uid = job.uid;
  return state;
}

void DecisionsUnderWay::partDone(const StepPtr& step, bool good) {
  step->good = step->good && good;
  if (--step->openParts == 0) finish(step);
}

void DecisionsUnderWay::finish(const StepPtr& step) {
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

void DecisionsUnderWay::refuseCreation(const StepPtr& step, const base::Error& error) {
  refuseCreation(step, error.code == base::ErrorCode::kForbidden ? "Forbidden" : "Invalid",
                 std::string(codec::serverMessage(error)));
}

void DecisionsUnderWay::refuseCreation(const StepPtr& step, std::string reason, std::string message) {
  JobState& state = jobs_[step->decision.job->key];
  const auto& proposal =
      step->decision.status ? step->decision.status->gang.proposal : step->decision.job->status.gang.proposal;
  if (!proposal) return;
  state.refusedEpoch = proposal->epoch;
  state.creationRefused = core::JobFeedback::CreationRefused{std::move(reason), std::move(message)};
}

void DecisionsUnderWay::later(base::Instant::duration delay, std::function<void()> callback) {
  deps_.executor.postAfter(delay, guarded(std::move(callback)));
}

const JobState* DecisionsUnderWay::Reader::find(const model::ObjectKey& job) {
  while (at_ != decisions_.jobs_.end() && at_->first < job) ++at_;
  return at_ != decisions_.jobs_.end() && at_->first == job ? &at_->second : nullptr;
}

core::JobFeedback feedbackOn(const model::Job& job, const JobState& state, base::Instant now) {
  core::JobFeedback feedback;
  feedback.busy = state.busy || now < state.notBefore;
  if (state.uid != job.uid) return feedback;
  feedback.writing = state.writing.has_value();
  feedback.failing = state.failures >= kMaxFailures;
  if (state.failedEpoch == job.status.gang.lastEpoch) feedback.failure = state.failure;
  const auto& proposal = job.status.gang.proposal;
  if (!proposal) return feedback;
  feedback.auxiliariesReady = state.auxiliariesEpoch == proposal->epoch;
  feedback.ownerStarted = state.startedEpoch == proposal->epoch;
  feedback.membersNotified = state.notifiedEpoch == proposal->epoch;
  if (state.refusedEpoch == proposal->epoch) feedback.creationRefused = state.creationRefused;
  if (state.releasedEpoch == proposal->epoch) feedback.released = state.released;
  return feedback;
}

void DecisionsUnderWay::overlay(model::Snapshot& snapshot) {
  for (auto& [key, state] : jobs_) {
    if (!state.writing) continue;
    const std::size_t at = snapshot.jobs.positionOf(key);
    if (at == snapshot.jobs.size() || snapshot.jobs[at]->uid != state.uid) continue;
    auto written = state.asWritten(snapshot.jobs[at]);
    snapshot.jobs.edit()[at] = std::move(written);
  }
}

void DecisionsUnderWay::forgetGoneJobs() {
  std::erase_if(jobs_, [&](const auto& entry) {
    return !entry.second.busy && deps_.cache.jobs.find(entry.first) == nullptr;
  });
}

std::optional<base::Instant> DecisionsUnderWay::nextWake() const {
  std::optional<base::Instant> wake;
  const base::Instant now = deps_.executor.now();
  for (const auto& [key, state] : jobs_) {
    if (state.notBefore > now && (!wake || state.notBefore < *wake)) wake = state.notBefore;
  }
  return wake;
}

std::size_t DecisionsUnderWay::busyJobs() const {
  std::size_t busy = 0;
  for (const auto& [key, state] : jobs_) busy += state.busy ? 1 : 0;
  return busy;
}

}  // namespace trainyard::operator_
