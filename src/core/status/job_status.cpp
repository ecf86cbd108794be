#include "core/status/job_status.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cut_text.h"
#include "base/plain_text.h"
#include "base/saturating.h"
#include "core/gang.h"
#include "core/resize.h"
#include "core/status/condition_writer.h"
#include "core/status/job_conditions.h"
#include "core/status/member_tally.h"
#include "core/status/resize_status.h"
#include "model/gang_size.h"
#include "model/limits.h"
#include "model/message_text.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::JobStatus;
namespace conditions = model::conditions;

// The values of the scale subresource: the elastic role, or the whole gang of a rigid job.
void fillScale(const Job& job, JobStatus& status) {
  status.selector = fmt::format("{}={}", model::names::kJobNameLabel, job.key.name);
  status.replicas = 0;
  for (const model::RoleStatus& role : status.roles) {
    if (!job.spec.elastic || job.spec.elastic->role == role.name) status.replicas += role.desired;
  }
  // Members under way do not count: a client that scales polls for the size that is in effect.
  if (const auto resize = resizeUnderWay(job.spec, status.gang); resize && resize->to > resize->from)
    status.replicas = resize->from;
  if (job.spec.elastic)
    status.selector += fmt::format(",{}={}", model::names::kRoleLabel, job.spec.elastic->role);
}

// Sets the speed with the progress, so that one write covers both.
void takeProgress(const Job& job, const LifeSign* life, JobStatus& status) {
  if (life == nullptr || !life->progress) return;
  const bool hasChanged = !job.status.progress || job.status.progress->at != life->progress->at;
  if (hasChanged && job.spec.elastic) {
    noteSpeed(*life->progress, job.spec.elastic->maxReplicas, status.resize.speeds);
    notePause(job.status.progress ? &*job.status.progress : nullptr, *life->progress,
              status.resize.lastPauseMillis);
  }
  status.progress = life->progress;
}

std::string admittedText(const model::JobSpec& spec) {
  if (spec.unsupported.empty()) return "the spec is valid";
  return fmt::format("the spec is valid, but not fully supported: {}", fmt::join(spec.unsupported, ", "));
}

std::string phaseOf(const JobStatus& status, const StatusUpdate& update, const Job& job, bool running) {
  if (update.verdict.outcome == Outcome::kSucceeded) return "Succeeded";
  if (update.verdict.outcome == Outcome::kFailed) return "Failed";
  if (job.conditionTrue(conditions::kSucceeded)) return "Succeeded";
  if (job.conditionTrue(conditions::kFailed)) return "Failed";
  const auto resize = resizeUnderWay(job.spec, status.gang);
  if (resize && status.gang.proposal->phase != model::ProposalPhase::kAborting) return "Resizing";
  if (isRestarting(status.gang)) return "Restarting";
  if (status.gang.placed) return running ? "Running" : "Starting";
  if (status.gang.proposal) return "Starting";
  if (update.suspended) return "Suspended";
  if (!update.admitted || job.deleting) return "Pending";
  return update.pending ? "Queued" : "Pending";
}

// A waiting period ends if the job is no longer pending, or waits for something else.
void addDelay(const JobStatus& before, JobStatus& after, base::WallTime now) {
  if (!before.pending) return;
  if (after.pending && after.pending->since == before.pending->since) return;
  const auto waited = std::max(std::chrono::duration_cast<std::chrono::seconds>(now - before.pending->since),
                               std::chrono::seconds(0));
  switch (before.pending->delay) {
    case model::DelayKind::kNone: return;
    case model::DelayKind::kFairShare: after.delays.fairShare += waited; return;
    case model::DelayKind::kFragmentation: after.delays.fragmentation += waited; return;
  }
}

// The record of a single-pod job may be written long after its pod is bound. The time is bounded by the job's
// own times: any client can write the pod's labels and owner.
base::WallTime placedAt(const Job& job, const std::vector<Member>& members, base::WallTime now) {
  if (!job.recordUnwritten || members.empty() || members.front().pod == nullptr) return now;
  const base::WallTime known = std::max({job.created, job.status.service.updatedAt,
                                         job.status.pending ? job.status.pending->since : base::WallTime{}});
  return std::min(now, std::max(known, members.front().pod->created));
}

// GPUs count while the gang has a placement, whether it computes or starts. The sum is updated whenever the
// gang stops or changes its size.
void addService(const model::JobSpec& spec, const JobStatus& before, JobStatus& after, Outcome outcome,
                base::WallTime placed, base::WallTime now) {
  const bool held = before.gang.placed.has_value() && !before.completionTime;
  const bool holds = after.gang.placed.has_value() && !before.completionTime;
  if (!held && holds) after.service.updatedAt = placed;
  if (!held || before.service.updatedAt == base::WallTime{}) return;
  const std::int64_t gpus = model::placedGpus(spec, before.gang);
  const bool stops = !holds || outcome == Outcome::kSucceeded || outcome == Outcome::kFailed;
  if (!stops && model::placedGpus(spec, after.gang) == gpus) return;
  const auto seconds = std::max<std::int64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(now - before.service.updatedAt).count(), 0);
  model::Service& service = after.service;
  service.gpuSeconds = base::saturatingAdd(service.gpuSeconds, base::saturatingMultiply(seconds, gpus));
  service.runSeconds = base::saturatingAdd(service.runSeconds, seconds);
  // The fraction of a second carries over to the next sum.
  service.updatedAt = stops ? now : before.service.updatedAt + std::chrono::seconds(seconds);
}

// Replicas beyond the desired number are the cluster's decision until the user changes the spec. From then on
// the spec owns the size: a resize may take effect long after this status has observed the new spec.
void leaveSizeToSpec(const Job& job, JobStatus& status) {
  if (!job.spec.elastic || job.generation == job.status.observedGeneration) return;
  const model::Elastic& elastic = *job.spec.elastic;
  if (status.replicas > std::max(elastic.replicas, elastic.minReplicas))
    status.resize.decidedBy = model::SizeOwner::kSpec;
}

void describeSuspended(const Job& job, ConditionWriter& write) {
  const std::string text = job.heldByKueue.empty() ? "spec.run.suspend is true" : job.heldByKueue;
  write.set(conditions::kSuspended, true, "Suspended", text);
  for (const std::string_view type : {conditions::kQueued, conditions::kScheduled, conditions::kRunning})
    write.clear(type, "Suspended", text);
}

}  // namespace

StatusUpdate holdUpdate(const Job& job) {
  if (job.heldByKueue.empty()) return {.suspended = true};
  return {.pending = model::Pending{model::PendingReason::kWaitingForKueue, job.heldByKueue}};
}

JobStatus deriveStatus(const Job& job, model::GangRecord record, const std::vector<Member>& members,
                       const StatusUpdate& update, base::WallTime now) {
  JobStatus status = job.status;
  status.gang = std::move(record);
  status.observedGeneration = job.generation;
  const MemberTally tally = countMembers(job.spec, status.gang, members, status.roles);
  fillScale(job, status);
  leaveSizeToSpec(job, status);
  status.ready = fmt::format("{}/{}", tally.ready, tally.size);
  // The schema has 32 bits for it; specs that ask for more are refused, but still show a number.
  status.gpus = std::min<std::int64_t>(model::gangGpus(job.spec, status.gang), INT32_MAX);

  status.pending = update.suspended ? std::nullopt : update.pending;
  if (status.pending) {
    status.pending->needs.clear();
    std::string& message = status.pending->message;
    message = base::plainText(message, false);
    message.resize(base::cutText(message, model::limits::kConditionMessage).size());
    const bool sameReason = job.status.pending && job.status.pending->reason == status.pending->reason &&
                            job.status.pending->delay == status.pending->delay;
    status.pending->since = sameReason ? job.status.pending->since : now;
  }
  const base::WallTime placed = placedAt(job, members, now);
  addDelay(job.status, status, placed);
  addService(job.spec, job.status, status, update.verdict.outcome, placed, now);
  if (update.failure) status.lastFailure = update.failure;
  if (update.restarts != RestartKind::kNone)
    status.restarts.add(update.failure->failure, update.restarts == RestartKind::kCounted);
  if (update.lossesInARow) status.restarts.lossesInARow = *update.lossesInARow;
  if (update.preemptedBy) {
    ++status.preemptions.count;
    if (update.preemptedByOtherQueue) ++status.preemptions.byOtherQueues;
    status.preemptions.last = now;
    status.preemptions.by = update.preemptedBy;
  }

  // Times of conditions start with the pod, even if the record is written later.
  const bool isRecordedLate = job.recordUnwritten && update.verdict.outcome == Outcome::kRunning;
  ConditionWriter write(status.conditions, isRecordedLate ? placed : now, job.generation);
  // The gang runs on; the lost member is replaced later.
  const bool replacesLater = status.gang.placed && !status.gang.proposal && update.pending.has_value();
  if (replacesLater) {
    write.set(conditions::kRestarting, true, model::toString(update.pending->reason),
              update.pending->message);
  } else if (!isRestarting(status.gang)) {
    write.clear(conditions::kRestarting, "Settled", "no member is being replaced");
  }
  if (update.admitted) {
    if (update.admissionKnown) write.set(conditions::kAdmitted, true, "Admitted", admittedText(job.spec));
  } else {
    write.set(conditions::kAdmitted, false, model::toString(update.pending->reason), update.pending->message);
  }
  if (update.suspended) {
    describeSuspended(job, write);
  } else {
    write.clear(conditions::kSuspended, "Resumed", "spec.run.suspend is false");
  }

  takeProgress(job, update.life, status);
  const bool ended = update.verdict.outcome != Outcome::kRunning;
  const bool running = tally.gang > 0 && tally.running + tally.succeeded == tally.gang;
  if (ended) {
    describeEnd(write, update.verdict);
    status.completionTime = now;
  } else if (isRestarting(status.gang)) {
    describeRestarting(write, *status.gang.proposal, update, describeStuck(members, now),
                       resizeUnderWay(job.spec, status.gang), backsOffUntil(status.gang, now).has_value());
  } else if (status.gang.placed && !update.suspended) {
    describePlaced(write, update, tally, members);
    if (!status.startTime) status.startTime = placed;
  } else if (status.gang.proposal) {
    describeStarting(write, *status.gang.proposal, update, members);
  } else if (!update.suspended) {
    describeWaiting(write, update);
    if (job.deleting) write.clear(conditions::kRunning, "Deleted", "the job is being deleted");
  }
  setResizeStatus(job, {}, now, status);
  status.phase = phaseOf(status, update, job, running);
  describeReady(write, status, update,
                !ended && status.gang.placed && !isRestarting(status.gang) && !update.suspended);
  return status;
}

}  // namespace trainyard::core
