#include "operator/execute/member_pods.h"

#include <fmt/format.h>

#include "codec/member_pod.h"
#include "codec/pod.h"
#include "codec/release_patch.h"
#include "core/ledger/members.h"
#include "model/gang_size.h"
#include "model/names.h"

// Every action may be repeated: an answer that the change was made before counts as success.
namespace trainyard::operator_ {
namespace {

using base::ErrorCode;

// Delay before a repeated read that the job cannot go on without.
constexpr base::Instant::duration kReadAgain = std::chrono::seconds(1);

// True for transient errors: the same request may succeed in a moment.
bool isTransient(ErrorCode code) {
  switch (code) {
    case ErrorCode::kExpired:  // for a single object: from a proxy, or from a server that is behind
    case ErrorCode::kUnauthorized:
    case ErrorCode::kThrottled:
    case ErrorCode::kUnavailable:
    case ErrorCode::kOutcomeUnknown: return true;
    default: return false;
  }
}

}  // namespace

void MemberPods::create(const StepPtr& step, const core::CreateMember& action) {
  const model::Role* role = step->decision.job->spec.findRole(action.role);
  if (role == nullptr) return steps_.partDone(step, true);
  // Larger gangs do this in EnsureAuxiliaries.
  if (model::isSinglePod(*step->decision.job)) auxiliaries_.runForSinglePod(step);
  const std::size_t bytes = bodyBytes(*role, step->environments());
  bodies_.enter(step->decision.job->key.ns, bytes,
                [this, step, action, bytes] { createMember(step, action, bytes); });
}

void MemberPods::createMember(const StepPtr& step, const core::CreateMember& action, std::size_t bytes) {
  const model::Job& job = *step->decision.job;
  const model::Role& role = *job.spec.findRole(action.role);
  const auto body =
      codec::encodeMemberPod(job, role, action.index,
                             {.epoch = action.epoch,
                              .gated = !action.pinned,
                              .pinned = action.pinned,
                              .schedulerName = deps_.schedulerName,
                              .environment = step->environments().of(role.name, action.index, action.epoch),
                              .preflight = preflight_.of(job),
                              .launcherImage = deps_.launcherImage});
  if (!body) {
    steps_.refuseCreation(step, "Invalid", templateComplaint(role.name, body.error()));
    bodies_.leave(bytes);
    return steps_.partDone(step, true);
  }
  const std::string name = model::podName(job.key.name, action.role, action.index);
  deps_.metrics.countWrite("pods");
  deps_.api.create(kube::kPods.collection(job.key.ns), *body,
                   steps_.guarded([this, step, name, bytes](const Answer& answer) {
                     bodies_.leave(bytes);
                     if (answer) {
                       deps_.cache.pods.applyWrite(answer->body, kube::WriteKind::kCreate);
                       return steps_.partDone(step, true);
                     }
                     switch (answer.error().code) {
                       case ErrorCode::kAlreadyExists: return readMember(step, name);
                       case ErrorCode::kInvalid:
                       case ErrorCode::kForbidden:
                         steps_.refuseCreation(step, answer.error());
                         return steps_.partDone(step, true);
                       // An attempt must not end while it is unknown whether this pod exists.
                       case ErrorCode::kOutcomeUnknown: return readMember(step, name);
                       default: return steps_.partDone(step, false);
                     }
                   }));
}

// Reads the pod that has, or may have, the name of a member. It comes from an earlier attempt, from an older
// epoch (the protocol removes it), or it is a foreign pod.
void MemberPods::readMember(const StepPtr& step, const std::string& name) {
  const model::ObjectKey key{step->decision.job->key.ns, name};
  deps_.api.get(kube::kPods.object(key.ns, key.name), steps_.guarded([this, step, key](const Answer& answer) {
    if (!answer && !isTransient(answer.error().code)) return steps_.partDone(step, false);
    if (!answer) {
      return steps_.later(kReadAgain, [this, step, name = key.name] { readMember(step, name); });
    }
    const auto pod = codec::decodePod(answer->body);
    const bool ours = pod && pod->controllerUid == step->decision.job->uid &&
                      pod->controllerKind == model::names::kTrainingJobKind;
    if (pod && !ours && core::isOfFormerJob(*pod, *step->decision.job))
      return reportFormerPod(step, answer->body);
    if (!ours) {
      steps_.refuseCreation(step, "NameTaken", fmt::format("pod {} is not owned by this TrainingJob", key));
      return steps_.partDone(step, true);
    }
    deps_.cache.pods.applyWrite(answer->body, kube::WriteKind::kCreate);
    if (singles_.made(step->decision.job->key) != nullptr) return singleNameTaken(step, *pod);
    // Any other pod is still in the way: back off before the next attempt.
    const bool member = pod->member && step->decision.job->status.gang.proposal &&
                        pod->member->epoch == step->decision.job->status.gang.proposal->epoch;
    steps_.partDone(step, member && !pod->terminating);
  }));
}

// The pod goes with its deleted job. A single-pod job has recorded nothing yet, so its plan is dropped.
void MemberPods::reportFormerPod(const StepPtr& step, const std::string& pod) {
  const model::Job& job = *step->decision.job;
  deps_.cache.pods.applyWrite(pod, kube::WriteKind::kCreate);
  if (singles_.made(job.key) != nullptr) {
    singles_.forget(job.key);
  } else {
    steps_.refuseCreation(step, "NameTaken",
                          "a pod of an earlier TrainingJob of this name is still terminating");
  }
  steps_.partDone(step, true);
}

// For a single-pod job the first created pod decides. Only a pod that is bound, or pinned to the node that
// this leader chose, counts: otherwise any user's pod would do.
void MemberPods::singleNameTaken(const StepPtr& step, const model::Pod& pod) {
  const model::GangRecord& made = *singles_.made(step->decision.job->key);
  const bool sameEpoch = pod.member && pod.member->epoch == made.lastEpoch;
  if (sameEpoch && pod.bound()) {
    singles_.forget(step->decision.job->key);
    return steps_.partDone(step, true);
  }
  if (sameEpoch && !pod.terminating && pod.pinned == made.proposal->add.front().node)
    return steps_.partDone(step, true);
  deleter_.remove({pod.key, pod.uid}, [this, step](bool) { steps_.partDone(step, false); });
}

void MemberPods::release(const StepPtr& step, const core::ReleaseMember& action) {
  // Uses the created pod's terms: admission may have added some, and the patch replaces the whole list.
  const auto pod = deps_.cache.pods.find(action.pod);
  if (!pod || pod->uid != action.uid) return steps_.partDone(step, true);
  deps_.metrics.countWrite("pods");
  deps_.api.patch(kube::PatchType::kStrategicMerge, kube::kPods.object(action.pod.ns, action.pod.name),
                  codec::encodeReleasePatch(action.uid, pod->shape, action.node),
                  steps_.guarded([this, step, action](const Answer& answer) {
                    if (answer) {
                      deps_.cache.pods.applyWrite(answer->body);
                      noteRelease(*step->decision.job);
                      return steps_.partDone(step, true);
                    }
                    if (answer.error().code == ErrorCode::kNotFound) {
                      deps_.cache.pods.forget(action.pod, action.uid.str());
                    }
                    steps_.partDone(step, false);
                  }));
}

void MemberPods::noteRelease(const model::Job& job) {
  const auto& proposal = job.status.gang.proposal;
  if (!proposal) return;
  JobState& state = steps_.of(job.key);
  state.releasedEpoch = proposal->epoch;
  state.released = deps_.executor.wallNow();
}

}  // namespace trainyard::operator_
