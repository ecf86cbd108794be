#include <fmt/format.h>

#include "codec/config_map.h"
#include "codec/container_env.h"
#include "codec/disruption_budget.h"
#include "codec/elastic_pod.h"
#include "codec/finalizers.h"
#include "codec/framework_files.h"
#include "codec/member_pod.h"
#include "codec/object_meta.h"
#include "codec/pod.h"
#include "codec/service.h"
#include "codec/status.h"
#include "codec/stripping.h"
#include "core/ledger/members.h"
#include "model/gang_size.h"
#include "model/message_text.h"
#include "model/names.h"
#include "model/process_group.h"
#include "operator/plan_executor.h"
#include "operator/plan_executor_step.h"

// Carries out each action of a plan against the API. Every action may be repeated: an answer that the change
// was made before counts as success.
namespace trainyard::operator_ {
namespace {

using base::Error;
using base::ErrorCode;

// The API server names "spec.containers…"; in the job that is below spec.roles[…].template.
std::string templateComplaint(const std::string& role, const Error& error) {
  return fmt::format("spec.roles[{}].template: {}", role, codec::serverMessage(error));
}

// Lower bound of a body's size: the template and the environment that many members share.
std::size_t bodyBytes(const model::Role& role, const core::MemberEnvironments& environments) {
  return role.templateJson.size() + environments.sharedBytes();
}

// Every placed member that has a pod in the cache.
std::vector<Witness> witnessesOf(const model::Job& job, const kube::ObjectCache<model::Pod>& pods) {
  std::vector<Witness> witnesses;
  if (!job.status.gang.placed) return witnesses;
  for (const model::Assignment& assignment : job.status.gang.placed->assignments) {
    for (const int index : assignment.indices.values()) {
      const model::ObjectKey key{job.key.ns, model::podName(job.key.name, assignment.role, index)};
      const auto pod = pods.find(key);
      if (!pod || pod->controllerUid != job.uid) continue;
      Witness& each = witnesses.emplace_back(Witness{key, assignment.role, index});
      each.ended = core::endOf(*pod, job.spec.findRole(assignment.role)) != core::MemberEnd::kNone;
      if (pod->exit) each.endedAt = pod->exit->finishedAt;
      if (pod->failure && !pod->failure->containers.empty())
        each.container = pod->failure->containers.front().name;
    }
  }
  return witnesses;
}

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

bool isDefinite(ErrorCode code) { return code == ErrorCode::kInvalid || code == ErrorCode::kForbidden; }

}  // namespace

// --- checks of the templates
// ------------------------------------------------------------------------------------

void PlanExecutor::run(const StepPtr& step, const core::CheckTemplates&) {
  const model::Job& job = *step->decision.job;
  if (!templateChecks_.ask(job)) return partDone(step, true);
  // One more than the dry-runs, so that immediate answers cannot conclude the check before all are sent.
  step->templates.open = job.spec.roles.size() + 1;
  for (const model::Role& role : job.spec.roles) {
    const std::size_t bytes = bodyBytes(role, step->environments());
    bodies_.enter(step->decision.job->key.ns, bytes,
                  [this, step, &role, bytes] { checkTemplate(step, role, bytes); });
  }
  checkClaims(step);
  concludeTemplates(step);
}

void PlanExecutor::checkTemplate(const StepPtr& step, const model::Role& role, std::size_t bytes) {
  const model::Job& job = *step->decision.job;
  // The first member may declare ports that the others do not.
  const int typical = model::gangMembers(job, role) > 1 ? 1 : 0;
  const auto body = codec::encodeMemberPod(job, role, typical,
                                           {.epoch = 0,
                                            .gated = true,
                                            .schedulerName = deps_.schedulerName,
                                            .environment = step->environments().of(role.name, typical, 0),
                                            .preflight = preflightOf(job),
                                            .launcherImage = deps_.launcherImage});
  if (!body) {
    if (step->templates.unusable.empty())
      step->templates.unusable = templateComplaint(role.name, body.error());
    bodies_.leave(bytes);
    return concludeTemplates(step);
  }
  deps_.metrics.countWrite("pods?dryRun");
  deps_.api.create(kube::kPods.collection(job.key.ns), *body,
                   guarded([this, step, bytes, name = role.name](const Answer& answer) {
                     bodies_.leave(bytes);
                     templateAnswered(step, name, answer);
                   }),
                   {{"dryRun", "All"}, {"fieldValidation", "Strict"}});
}

void PlanExecutor::templateAnswered(const StepPtr& step, const std::string& role, const Answer& answer) {
  TemplateAnswers& answers = step->templates;
  if (answer) {
    const auto pod = codec::decodePodToSchedule(answer->body);
    const model::Role* asWritten = step->decision.job->spec.findRole(role);
    if (pod && asWritten != nullptr && !equalForPlacement(pod->shape, asWritten->shape))
      answers.shapes.emplace(role, pod->shape);
    return concludeTemplates(step);
  }
  switch (answer.error().code) {
    // The API server checks the name after validation: AlreadyExists means that the template is valid.
    case ErrorCode::kAlreadyExists: break;
    // Both may be transient: validation sees what LimitRanges, webhooks and policies made of the template.
    case ErrorCode::kInvalid:
    case ErrorCode::kForbidden:
      if (answers.refused.empty()) answers.refused = templateComplaint(role, answer.error());
      break;
    default: answers.unclear = true; break;
  }
  concludeTemplates(step);
}

void PlanExecutor::concludeTemplates(const StepPtr& step) {
  TemplateAnswers& answers = step->templates;
  if (--answers.open > 0) return;
  const model::Job& job = *step->decision.job;
  if (!answers.unusable.empty()) {
    templateChecks_.failed(job, answers.unusable);
  } else if (!answers.refused.empty()) {
    templateChecks_.failedForNow(job, answers.refused, deps_.executor.now());
  } else if (answers.unclear) {
    templateChecks_.unanswered(job);
  } else {
    templateChecks_.passed(job, std::move(answers.shapes));
  }
  partDone(step, !answers.unclear);
}

// --- the finalizer
// --------------------------------------------------------------------------------------------------

void PlanExecutor::run(const StepPtr& step, const core::AddFinalizer&) { patchFinalizers(step, true); }

void PlanExecutor::run(const StepPtr& step, const core::RemoveFinalizer&) { patchFinalizers(step, false); }

void PlanExecutor::patchFinalizers(const StepPtr& step, bool present) {
  const model::Job& job = *step->decision.job;
  // A status write of this step may have changed the resourceVersion.
  const auto newest = deps_.cache.jobs.find(job.key);
  if (!newest || newest->uid != job.uid) return partDone(step, true);
  step->path = kube::kTrainingJobs.object(job.key.ns, job.key.name);
  deps_.metrics.countWrite("trainingjobs");
  deps_.api.patch(kube::PatchType::kMerge, step->path, codec::encodeFinalizerPatch(*newest, present),
                  guarded([this, step, present, from = newest->resourceVersion](const Answer& answer) {
                    const model::Job& owner = *step->decision.job;
                    if (answer) {
                      // Removing the last finalizer deletes the object.
                      const auto meta = codec::decodeObjectMeta(answer->body);
                      if (!present && meta && !meta->hasFinalizers)
                        deps_.cache.jobs.forgetForGood(owner.key, owner.uid.str());
                      else
                        deps_.cache.jobs.applyWrite(answer->body);
                      return partDone(step, true);
                    }
                    const bool conflict = answer.error().code == ErrorCode::kConflict;
                    if (conflict && ++step->conflicts <= kMaxConflicts)
                      return rereadFinalizers(step, present, from);
                    const bool gone = answer.error().code == ErrorCode::kNotFound;
                    if (gone) deps_.cache.jobs.forget(owner.key, owner.uid.str());
                    partDone(step, gone);
                  }));
}

void PlanExecutor::rereadFinalizers(const StepPtr& step, bool present, const std::string& patchedFrom) {
  deps_.api.get(step->path, guarded([this, step, present, patchedFrom](const Answer& answer) {
                  if (!answer) return partDone(step, false);
                  deps_.cache.jobs.applyWrite(answer->body);
                  const auto now = deps_.cache.jobs.find(step->decision.job->key);
                  // The object cannot be decoded here, so the same patch would fail again.
                  if (now && now->resourceVersion == patchedFrom) return partDone(step, false);
                  patchFinalizers(step, present);
                }));
}

// --- Service and ConfigMap
// ------------------------------------------------------------------------------------------

void PlanExecutor::run(const StepPtr& step, const core::EnsureAuxiliaries&) {
  const model::Job& job = *step->decision.job;
  if (job.status.gang.proposal) step->ensuredEpoch = job.status.gang.proposal->epoch;
  ++step->openParts;
  ensureOwned(step, kube::kServices, codec::serviceName(job), codec::encodeService(job));
  ensureOwned(step, kube::kConfigMaps, codec::configMapName(job), codec::encodeConfigMap(job));
  if (auto files = codec::encodeFrameworkFiles(job)) {
    ++step->openParts;
    ensureOurs(step, kube::kConfigMaps, std::move(*files));
  }
  if (model::launchesOverSsh(job)) {
    ++step->openParts;
    ensureSshKeys(step);
  }
  ensureDisruptionBudget(step);
  ensureMemberServices(step);
  if (codec::usesLauncher(job.spec) && job.spec.mayHavePeers()) {
    ++step->openParts;
    ensureLaunchToken(step);
  }
  warnOfOwnVariables(step);
}

// Runs before the first pod is created, so that a node drain is refused from the beginning.
void PlanExecutor::ensureDisruptionBudget(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  if (!job.spec.disruptionBudget) return;
  ++step->openParts;
  ensureOurs(step, kube::kDisruptionBudgets, codec::encodeDisruptionBudget(job));
}

// For the members that the change adds; the others already have their Services.
void PlanExecutor::ensureMemberServices(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  const auto& proposal = job.status.gang.proposal;
  if (!job.spec.memberServices || !proposal) return;
  for (const model::Assignment& added : proposal->add) {
    for (const int index : added.indices.values()) {
      ++step->openParts;
      ensureOwned(step, kube::kServices, model::podName(job.key.name, added.role, index),
                  codec::encodeMemberService(job, added.role, index));
    }
  }
}

// The name is specific to the job: an object that exists comes from an earlier attempt for the same job.
void PlanExecutor::ensureOurs(const StepPtr& step, const kube::ResourceType& type, std::string body) {
  deps_.metrics.countWrite(type.plural);
  deps_.api.create(type.collection(step->decision.job->key.ns), std::move(body),
                   guarded([this, step](const Answer& answer) {
                     if (!answer && isDefinite(answer.error().code)) {
                       refuseCreation(step, answer.error());
                       return partDone(step, true);
                     }
                     partDone(step, answer || answer.error().code == ErrorCode::kAlreadyExists);
                   }));
}

const model::Preflight* PlanExecutor::preflightOf(const model::Job& job) const {
  return job.spec.health.preflight && !preflight_.image.empty() ? &preflight_ : nullptr;
}

// Records these Events for a Start only: a restarted gang has the same templates.
void PlanExecutor::warnOfOwnVariables(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  const auto& proposal = job.status.gang.proposal;
  if (proposal && proposal->kind != model::ProposalKind::kStart) return;
  if (job.spec.health.preflight && preflightOf(job) == nullptr)
    deps_.events.record(
        job, {true, "NoPreflight",
              "spec.health.preflight has no effect: the cluster's policy names no check (preflight)"});
  std::vector<std::string> said;
  for (const model::Role& role : job.spec.roles) {
    const auto own = codec::findOwnVariables(role, step->environments().of(role.name, 0, 0));
    if (!own.empty()) said.push_back(fmt::format("{} (role {})", model::joinList(own), role.name));
  }
  if (said.empty()) return;
  deps_.events.record(job, {false, "OwnVariables",
                            fmt::format("The template's variables override those of the framework: {}",
                                        fmt::join(said, "; "))});
}

void PlanExecutor::ensureOwned(const StepPtr& step, const kube::ResourceType& type, const std::string& name,
                               std::string body) {
  const model::Job& job = *step->decision.job;
  deps_.metrics.countWrite(type.plural);
  deps_.api.create(type.collection(job.key.ns), std::move(body),
                   guarded([this, step, &type, name](const Answer& answer) {
                     if (!answer && answer.error().code == ErrorCode::kAlreadyExists) {
                       // The ConfigMap's name contains the job's uid, so an earlier attempt made it.
                       if (type.plural == kube::kConfigMaps.plural) return partDone(step, true);
                       return checkOwner(step, type, name);
                     }
                     if (!answer && isDefinite(answer.error().code)) {
                       refuseCreation(step, answer.error());
                       return partDone(step, true);
                     }
                     partDone(step, answer.has_value());
                   }));
}

void PlanExecutor::checkOwner(const StepPtr& step, const kube::ResourceType& type, const std::string& name) {
  const model::Job& job = *step->decision.job;
  deps_.api.get(type.object(job.key.ns, name), guarded([this, step, &type, name](const Answer& answer) {
                  if (!answer) return partDone(step, false);
                  const auto meta = codec::decodeObjectMeta(answer->body);
                  const model::Job& owner = *step->decision.job;
                  const bool former = meta && meta->controllerKind == model::names::kTrainingJobKind &&
                                      meta->controllerName == owner.key.name;
                  if (meta && former && meta->controllerUid != owner.uid.str()) {
                    // Belongs to the deleted job of this name. Kubernetes garbage-collects it soon.
                    return partDone(step, false);
                  }
                  if (!meta || meta->controllerUid != owner.uid.str()) {
                    refuseCreation(step, "NameTaken",
                                   fmt::format("{} \"{}\" in namespace {} is not owned by this TrainingJob",
                                               type.plural, name, owner.key.ns));
                  }
                  partDone(step, true);
                }));
}

// --- members
// --------------------------------------------------------------------------------------------------------

void PlanExecutor::run(const StepPtr& step, const core::CreateMember& action) {
  const model::Role* role = step->decision.job->spec.findRole(action.role);
  if (role == nullptr) return partDone(step, true);
  // Larger gangs do this in EnsureAuxiliaries.
  if (model::gangMembers(*step->decision.job) == 1) {
    warnOfOwnVariables(step);
    ensureDisruptionBudget(step);
  }
  const std::size_t bytes = bodyBytes(*role, step->environments());
  bodies_.enter(step->decision.job->key.ns, bytes,
                [this, step, action, bytes] { createMember(step, action, bytes); });
}

void PlanExecutor::createMember(const StepPtr& step, const core::CreateMember& action, std::size_t bytes) {
  const model::Job& job = *step->decision.job;
  const model::Role& role = *job.spec.findRole(action.role);
  const auto body =
      codec::encodeMemberPod(job, role, action.index,
                             {.epoch = action.epoch,
                              .gated = !action.pinned,
                              .pinned = action.pinned,
                              .schedulerName = deps_.schedulerName,
                              .environment = step->environments().of(role.name, action.index, action.epoch),
                              .preflight = preflightOf(job),
                              .launcherImage = deps_.launcherImage});
  if (!body) {
    refuseCreation(step, "Invalid", templateComplaint(role.name, body.error()));
    bodies_.leave(bytes);
    return partDone(step, true);
  }
  const std::string name = model::podName(job.key.name, action.role, action.index);
  deps_.metrics.countWrite("pods");
  deps_.api.create(kube::kPods.collection(job.key.ns), *body,
                   guarded([this, step, name, bytes](const Answer& answer) {
                     bodies_.leave(bytes);
                     if (answer) {
                       deps_.cache.pods.applyWrite(answer->body, kube::WriteKind::kCreate);
                       return partDone(step, true);
                     }
                     switch (answer.error().code) {
                       case ErrorCode::kAlreadyExists: return readMember(step, name);
                       case ErrorCode::kInvalid:
                       case ErrorCode::kForbidden:
                         refuseCreation(step, answer.error());
                         return partDone(step, true);
                       // An attempt must not end while it is unknown whether this pod exists.
                       case ErrorCode::kOutcomeUnknown: return readMember(step, name);
                       default: return partDone(step, false);
                     }
                   }));
}

// Reads the pod that has, or may have, the name of a member. It comes from an earlier attempt, from an older
// epoch (the protocol removes it), or it is a foreign pod.
void PlanExecutor::readMember(const StepPtr& step, const std::string& name) {
  const model::ObjectKey key{step->decision.job->key.ns, name};
  deps_.api.get(kube::kPods.object(key.ns, key.name), guarded([this, step, key](const Answer& answer) {
                  if (!answer && !isTransient(answer.error().code)) return partDone(step, false);
                  if (!answer) {
                    deps_.executor.postAfter(kReadAgain, [this, step, name = key.name, alive = alive_] {
                      if (*alive) readMember(step, name);
                    });
                    return;
                  }
                  const auto pod = codec::decodePod(answer->body);
                  const bool ours = pod && pod->controllerUid == step->decision.job->uid &&
                                    pod->controllerKind == model::names::kTrainingJobKind;
                  if (pod && !ours && core::isOfFormerJob(*pod, *step->decision.job))
                    return reportFormerPod(step, answer->body);
                  if (!ours) {
                    refuseCreation(step, "NameTaken",
                                   fmt::format("pod {} is not owned by this TrainingJob", key));
                    return partDone(step, true);
                  }
                  deps_.cache.pods.applyWrite(answer->body, kube::WriteKind::kCreate);
                  if (singles_.made(step->decision.job->key) != nullptr) return singleNameTaken(step, *pod);
                  // Any other pod is still in the way: back off before the next attempt.
                  const bool member = pod->member && step->decision.job->status.gang.proposal &&
                                      pod->member->epoch == step->decision.job->status.gang.proposal->epoch;
                  partDone(step, member && !pod->terminating);
                }));
}

// The pod goes with its deleted job. A single-pod job has recorded nothing yet, so its plan is dropped.
void PlanExecutor::reportFormerPod(const StepPtr& step, const std::string& pod) {
  const model::Job& job = *step->decision.job;
  deps_.cache.pods.applyWrite(pod, kube::WriteKind::kCreate);
  if (singles_.made(job.key) != nullptr) {
    singles_.forget(job.key);
  } else {
    refuseCreation(step, "NameTaken", "a pod of an earlier TrainingJob of this name is still terminating");
  }
  partDone(step, true);
}

// For a single-pod job the first created pod decides. Only a pod that is bound, or pinned to the node that
// this leader chose, counts: otherwise any user's pod would do.
void PlanExecutor::singleNameTaken(const StepPtr& step, const model::Pod& pod) {
  const model::GangRecord& made = *singles_.made(step->decision.job->key);
  const bool sameEpoch = pod.member && pod.member->epoch == made.lastEpoch;
  if (sameEpoch && pod.bound()) {
    singles_.forget(step->decision.job->key);
    return partDone(step, true);
  }
  if (sameEpoch && !pod.terminating && pod.pinned == made.proposal->add.front().node)
    return partDone(step, true);
  deletePod({pod.key, pod.uid}, [this, step](bool) { partDone(step, false); });
}

void PlanExecutor::run(const StepPtr& step, const core::ReleaseMember& action) {
  // Uses the created pod's terms: admission may have added some, and the patch replaces the whole list.
  const auto pod = deps_.cache.pods.find(action.pod);
  if (!pod || pod->uid != action.uid) return partDone(step, true);
  deps_.metrics.countWrite("pods");
  deps_.api.patch(kube::PatchType::kStrategicMerge, kube::kPods.object(action.pod.ns, action.pod.name),
                  codec::encodeReleasePatch(action.uid, pod->shape, action.node),
                  guarded([this, step, action](const Answer& answer) {
                    if (answer) {
                      deps_.cache.pods.applyWrite(answer->body);
                      noteRelease(*step->decision.job);
                      return partDone(step, true);
                    }
                    if (answer.error().code == ErrorCode::kNotFound) {
                      deps_.cache.pods.forget(action.pod, action.uid.str());
                    }
                    partDone(step, false);
                  }));
}

void PlanExecutor::noteRelease(const model::Job& job) {
  const auto& proposal = job.status.gang.proposal;
  if (!proposal) return;
  JobState& state = jobs_[job.key];
  state.releasedEpoch = proposal->epoch;
  state.released = deps_.executor.wallNow();
}

void PlanExecutor::run(const StepPtr& step, const core::DeletePod& action) {
  deletePod(action, [this, step](bool good) { partDone(step, good); });
}

void PlanExecutor::deletePod(const core::DeletePod& action, std::function<void(bool)> done) {
  const base::Instant now = deps_.executor.now();
  const std::pair sent{action.uid, action.force};
  if (!deletesSent_.emplace(sent, now).second) return done(true);
  kube::DeleteOptions options;
  options.uid = action.uid.str();
  if (action.grace) options.gracePeriodSeconds = static_cast<int>(action.grace->count());
  if (action.force) options.gracePeriodSeconds = 0;
  deps_.metrics.countWrite("pods");
  deps_.api.remove(kube::kPods.object(action.pod.ns, action.pod.name), options,
                   guarded([this, action, sent, done = std::move(done)](const Answer& answer) {
                     if (answer) return done(true);
                     if (answer.error().code == ErrorCode::kConflict) return checkGone(action, sent, done);
                     if (codec::isTooLargeError(answer.error())) return strip(action, sent, done);
                     const bool gone = answer.error().code == ErrorCode::kNotFound;
                     if (gone) deps_.cache.pods.forget(action.pod, action.uid.str());
                     if (!gone) deletesSent_.erase(sent);
                     done(gone);
                   }));
}

// --- the end of a gang
// --------------------------------------------------------------------------------------------------

void PlanExecutor::run(const StepPtr& step, const core::CollectEvidence&) {
  evidence_.collect(witnessesOf(*step->decision.job, deps_.cache.pods),
                    [this, step, alive = alive_](core::Failure failure) {
                      if (!*alive) return;
                      const model::Job& job = *step->decision.job;
                      deps_.log.info("a gang failed", {{"namespace", job.key.ns},
                                                       {"job", job.key.name},
                                                       {"class", model::toString(failure.failure)},
                                                       {"pod", failure.pod},
                                                       {"message", failure.message}});
                      JobState& state = jobs_[job.key];
                      state.failedEpoch = job.status.gang.lastEpoch;
                      state.failure = std::move(failure);
                      partDone(step, true);
                    });
}

// The finalizer keeps the job until its pods are gone.
void PlanExecutor::run(const StepPtr& step, const core::DeleteJob&) {
  const model::Job& job = *step->decision.job;
  kube::DeleteOptions options;
  options.uid = job.uid.str();
  options.propagationPolicy = "Background";
  deps_.metrics.countWrite("trainingjobs");
  deps_.api.remove(kube::kTrainingJobs.object(job.key.ns, job.key.name), options,
                   guarded([this, step](const Answer& answer) {
                     const model::Job& gone = *step->decision.job;
                     const bool absent = !answer && answer.error().code == ErrorCode::kNotFound;
                     if (absent) deps_.cache.jobs.forget(gone.key, gone.uid.str());
                     // Another job has the name by now. The watch will deliver it.
                     const bool other = !answer && answer.error().code == ErrorCode::kConflict;
                     partDone(step, answer.has_value() || absent || other);
                   }));
}

// Even a forced deletion first writes the pod, so a pod that its owner filled up to the storage limit would
// stay for ever. This removes what was added to the pod; the next cycle deletes it.
void PlanExecutor::strip(const core::DeletePod& action, const std::pair<model::Uid, bool>& sent,
                         const std::function<void(bool)>& done) {
  deletesSent_.erase(sent);
  const std::string path = kube::kPods.object(action.pod.ns, action.pod.name);
  deps_.api.get(path, guarded([this, action, path, done](const Answer& answer) {
                  const auto patch = answer ? codec::encodeStrippingPatch(action.uid, answer->body)
                                            : tl::unexpected(base::Error(answer.error()));
                  if (!patch) return done(false);
                  deps_.log.warning("too large to be deleted: what was added to it is removed",
                                    {{"namespace", action.pod.ns}, {"pod", action.pod.name}});
                  deps_.metrics.countWrite("pods");
                  deps_.api.patch(kube::PatchType::kMerge, path, *patch,
                                  guarded([done](const Answer&) { done(false); }));
                }));
}

// A conflict suggests that another pod has the name by now. A pod that still exists must not be forgotten,
// because no watch event would bring it back.
void PlanExecutor::checkGone(const core::DeletePod& action, const std::pair<model::Uid, bool>& sent,
                             const std::function<void(bool)>& done) {
  deps_.api.get(kube::kPods.object(action.pod.ns, action.pod.name),
                guarded([this, action, sent, done](const Answer& answer) {
                  const auto meta = answer ? codec::decodeObjectMeta(answer->body)
                                           : tl::unexpected(base::Error(answer.error()));
                  const bool replaced = meta && meta->uid != action.uid.str();
                  const bool gone = replaced || (!answer && answer.error().code == ErrorCode::kNotFound);
                  if (gone) deps_.cache.pods.forget(action.pod, action.uid.str());
                  if (!gone) deletesSent_.erase(sent);
                  done(gone);
                }));
}

void PlanExecutor::refuseCreation(const StepPtr& step, const Error& error) {
  refuseCreation(step, error.code == ErrorCode::kForbidden ? "Forbidden" : "Invalid",
                 std::string(codec::serverMessage(error)));
}

void PlanExecutor::refuseCreation(const StepPtr& step, std::string reason, std::string message) {
  JobState& state = jobs_[step->decision.job->key];
  const auto& proposal =
      step->decision.status ? step->decision.status->gang.proposal : step->decision.job->status.gang.proposal;
  if (!proposal) return;
  state.refusedEpoch = proposal->epoch;
  state.creationRefused = core::JobFeedback::CreationRefused{std::move(reason), std::move(message)};
}

}  // namespace trainyard::operator_
