#include "operator/execute/auxiliary_objects.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codec/config_map.h"
#include "codec/container_env.h"
#include "codec/disruption_budget.h"
#include "codec/elastic_pod.h"
#include "codec/framework_files.h"
#include "codec/launch_secret.h"
#include "codec/member_pod.h"
#include "codec/object_meta.h"
#include "codec/service.h"
#include "codec/ssh_secret.h"
#include "codec/status.h"
#include "model/message_text.h"
#include "model/names.h"
#include "model/process_group.h"
#include "net/random_token.h"
#include "net/ssh_key.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;

bool isDefinite(ErrorCode code) { return code == ErrorCode::kInvalid || code == ErrorCode::kForbidden; }

}  // namespace

void AuxiliaryObjects::run(const StepPtr& step) {
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
void AuxiliaryObjects::ensureDisruptionBudget(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  if (!job.spec.disruptionBudget) return;
  ++step->openParts;
  ensureOurs(step, kube::kDisruptionBudgets, codec::encodeDisruptionBudget(job));
}

// For the members that the change adds; the others already have their Services.
void AuxiliaryObjects::ensureMemberServices(const StepPtr& step) {
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
void AuxiliaryObjects::ensureOurs(const StepPtr& step, const kube::ResourceType& type, std::string body) {
  deps_.metrics.countWrite(type.plural);
  deps_.api.create(type.collection(step->decision.job->key.ns), std::move(body),
                   steps_.guarded([this, step](const Answer& answer) {
                     if (!answer && isDefinite(answer.error().code)) {
                       steps_.refuseCreation(step, answer.error());
                       return steps_.partDone(step, true);
                     }
                     steps_.partDone(step, answer || answer.error().code == ErrorCode::kAlreadyExists);
                   }));
}

void AuxiliaryObjects::ensureOwned(const StepPtr& step, const kube::ResourceType& type,
                                   const std::string& name, std::string body) {
  const model::Job& job = *step->decision.job;
  deps_.metrics.countWrite(type.plural);
  deps_.api.create(type.collection(job.key.ns), std::move(body),
                   steps_.guarded([this, step, &type, name](const Answer& answer) {
                     if (!answer && answer.error().code == ErrorCode::kAlreadyExists) {
                       // The ConfigMap's name contains the job's uid, so an earlier attempt made it.
                       if (type.plural == kube::kConfigMaps.plural) return steps_.partDone(step, true);
                       return checkOwner(step, type, name);
                     }
                     if (!answer && isDefinite(answer.error().code)) {
                       steps_.refuseCreation(step, answer.error());
                       return steps_.partDone(step, true);
                     }
                     steps_.partDone(step, answer.has_value());
                   }));
}

void AuxiliaryObjects::checkOwner(const StepPtr& step, const kube::ResourceType& type,
                                  const std::string& name) {
  const model::Job& job = *step->decision.job;
  deps_.api.get(
      type.object(job.key.ns, name), steps_.guarded([this, step, &type, name](const Answer& answer) {
        if (!answer) return steps_.partDone(step, false);
        const auto meta = codec::decodeObjectMeta(answer->body);
        const model::Job& owner = *step->decision.job;
        const bool former = meta && meta->controllerKind == model::names::kTrainingJobKind &&
                            meta->controllerName == owner.key.name;
        if (meta && former && meta->controllerUid != owner.uid.str()) {
          // Belongs to the deleted job of this name. Kubernetes garbage-collects it soon.
          return steps_.partDone(step, false);
        }
        if (!meta || meta->controllerUid != owner.uid.str()) {
          steps_.refuseCreation(step, "NameTaken",
                                fmt::format("{} \"{}\" in namespace {} is not owned by this TrainingJob",
                                            type.plural, name, owner.key.ns));
        }
        steps_.partDone(step, true);
      }));
}

// Records these Events for a Start only: a restarted gang has the same templates.
void AuxiliaryObjects::warnOfOwnVariables(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  const auto& proposal = job.status.gang.proposal;
  if (proposal && proposal->kind != model::ProposalKind::kStart) return;
  if (job.spec.health.preflight && preflight_.of(job) == nullptr)
    deps_.events.record(
        job, {true, "NoPreflight",
              "spec.health.preflight has no effect: the cluster's policy names no check (preflight)"});
  std::vector<std::string> texts;
  for (const model::Role& role : job.spec.roles) {
    const auto own = codec::findOwnVariables(role, step->environments().of(role.name, 0, 0));
    if (!own.empty()) texts.push_back(fmt::format("{} (role {})", model::joinList(own), role.name));
  }
  if (texts.empty()) return;
  deps_.events.record(job, {false, "OwnVariables",
                            fmt::format("The template's variables override those of the framework: {}",
                                        fmt::join(texts, "; "))});
}

// Makes keys each time and discards them if the job has some: reading them would need the right to read all
// Secrets.
void AuxiliaryObjects::ensureSshKeys(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  auto user = net::makeSshKey("trainyard");
  auto host = net::makeSshKey("trainyard");
  if (!user || !host) {
    deps_.log.error("no ssh keys could be made", {{"namespace", job.key.ns},
                                                  {"job", job.key.name},
                                                  {"error", (user ? host.error() : user.error()).message}});
    return steps_.partDone(step, false);
  }
  ensureOurs(step, kube::kSecrets,
             codec::encodeSshSecret(job, {user->privateKey, user->publicLine},
                                    {host->privateKey, host->publicLine}));
}

// Makes a token each time and discards it if the job has one: reading it would need access to all Secrets.
void AuxiliaryObjects::ensureLaunchToken(const StepPtr& step) {
  const model::Job& job = *step->decision.job;
  const auto token = net::makeRandomToken();
  if (!token) {
    deps_.log.error("no token could be made",
                    {{"namespace", job.key.ns}, {"job", job.key.name}, {"error", token.error().message}});
    return steps_.partDone(step, false);
  }
  ensureOurs(step, kube::kSecrets, codec::encodeLaunchSecret(job, *token));
}

void AuxiliaryObjects::runForSinglePod(const StepPtr& step) {
  warnOfOwnVariables(step);
  ensureDisruptionBudget(step);
}

}  // namespace trainyard::operator_
