#include "cli/simulate.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "codec/job.h"
#include "codec/json_value.h"
#include "codec/member_pod.h"
#include "codec/pod.h"
#include "codec/policy.h"
#include "codec/run_times.h"
#include "codec/shape_plan.h"
#include "codec/status.h"
#include "core/gang/framework_env.h"
#include "core/ledger/ledger.h"
#include "core/planner.h"
#include "core/queues/queue_tree.h"
#include "kube/paths.h"
#include "model/gpu_resources.h"
#include "model/names.h"
#include "operator/run_times_keeper.h"
#include "operator/template_checks.h"

namespace trainyard::cli {
namespace {

using base::ErrorCode;
using base::Result;

const kube::Query kDryRun{{"dryRun", "All"}, {"fieldValidation", "Strict"}};

// The member's pod as a user may create it: without what the admission policies leave to the operator alone.
std::string asAUserMay(const std::string& member) {
  auto pod = nlohmann::json::parse(member, nullptr, false);
  if (!pod.is_object() || !pod.contains("metadata") || !pod.contains("spec")) return member;
  pod["metadata"].erase("ownerReferences");
  for (const char* kind : {"labels", "annotations"}) {
    const auto found = pod["metadata"].find(kind);
    if (found == pod["metadata"].end() || !found->is_object()) continue;
    for (auto each = found->begin(); each != found->end();) {
      const std::string& key = each.key();
      each = key.starts_with("trainyard.dev/") ? found->erase(each) : std::next(each);
    }
  }
  pod["spec"].erase("schedulingGates");
  return pod.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Simulator {
 public:
  Simulator(LiveCluster& cluster, const SimulateOptions& options) : cluster_(cluster), options_(options) {}

  Result<Simulation> run(const std::vector<Manifest>& manifests) {
    auto policy = readPolicy();
    if (!policy) return base::fail(policy.error());
    // Before jobs and nodes are decoded.
    model::setGpuResources(policy->gpuResources);
    for (const Manifest& manifest : manifests) {
      if (auto added = add(manifest); !added) return base::fail(added.error());
    }
    if (jobs_.empty()) return base::fail(ErrorCode::kInvalid, "there is no TrainingJob in the files");
    auto snapshot = cluster_.snapshot();
    if (!snapshot)
      return base::fail(snapshot.error().code,
                        fmt::format("{} ({})", snapshot.error().message, cluster_.source()));
    snapshot->policy = std::move(*policy);
    snapshot->runTimes = readRunTimes();
    input_.snapshot = std::move(*snapshot);
    result_.now = input_.snapshot.now;
    chooseShapes();
    result_.forecasts = core::forecast(std::move(input_), jobs_);
    return std::move(result_);
  }

 private:
  // As the operator does at admission.
  void chooseShapes() {
    const core::Ledger ledger(input_.snapshot);
    const core::QueueTree queues(input_.snapshot);
    for (auto& job : jobs_) {
      if (!core::wantsShape(*job)) continue;
      auto shaped = std::make_shared<model::Job>(*job);
      shaped->specError = core::missingToPlan(*job);
      shaped->status.plan = core::decideShape(*job, ledger, queues, input_.snapshot);
      codec::applyShapePlan(*shaped->status.plan, shaped->spec);
      job = std::move(shaped);
    }
  }

  Result<model::Policy> readPolicy() {
    if (!options_.policyFile.empty()) {
      const auto text = base::readFile(options_.policyFile);
      if (!text) return base::fail(text.error());
      result_.policy = options_.policyFile;
      return codec::decodePolicy(*text, options_.policyFile);
    }
    const std::string& ns = options_.operatorNamespace;
    const std::string name = fmt::format("ConfigMap {}/{}", ns, options_.policyConfigMap);
    const auto body = cluster_.get({kube::kConfigMaps.object(ns, options_.policyConfigMap)}).front();
    if (!body) {
      const ErrorCode code = body.error().code;
      if (code != ErrorCode::kNotFound && code != ErrorCode::kForbidden)
        return base::fail(code, fmt::format("{} ({})", body.error().message, cluster_.source()));
      result_.policy = fmt::format("the defaults, as {} {}", name,
                                   code == ErrorCode::kNotFound ? "does not exist" : "may not be read");
      return model::Policy();
    }
    const auto document = codec::JsonDocument::parse(*body);
    if (!document) return base::fail(document.error());
    const auto text = document->root().find("data").find("policy.yaml").string();
    if (!text) return base::fail(ErrorCode::kInvalid, name + ": has no policy.yaml");
    result_.policy = name;
    return codec::decodePolicy(std::string(*text), name + ", policy.yaml");
  }

  // What the operator has learnt, as far as it has written it down.
  std::shared_ptr<const model::RunTimes> readRunTimes() {
    const std::string name = operator_::RunTimesKeeper::Options{}.name;
    const auto body = cluster_.get({kube::kConfigMaps.object(options_.operatorNamespace, name)}).front();
    if (!body && body.error().code == ErrorCode::kNotFound) return nullptr;
    auto stored =
        body ? codec::decodeRunTimes(*body) : Result<codec::StoredRunTimes>(base::fail(body.error()));
    if (!stored || !stored->complaint.empty()) {
      result_.notes.push_back(fmt::format("the run times that were learnt are left out: {}",
                                          stored ? stored->complaint : stored.error().message));
      return nullptr;
    }
    return std::make_shared<const model::RunTimes>(std::move(stored->times));
  }

  Result<void> add(const Manifest& manifest) {
    if (manifest.kind != model::names::kTrainingJobKind) {
      result_.notes.push_back(fmt::format("{}: {} {} is left out: only TrainingJobs are tried",
                                          manifest.whereOf(""), manifest.kind, manifest.name));
      return {};
    }
    if (!options_.ns.empty() && !manifest.ns.empty() && manifest.ns != options_.ns) {
      return refuse(manifest, fmt::format("metadata.namespace: is {}, and --namespace says {}", manifest.ns,
                                          options_.ns));
    }
    const std::string& given = options_.ns.empty() ? cluster_.ns() : options_.ns;
    const std::string& ns = manifest.ns.empty() ? given : manifest.ns;
    const auto created = cluster_.post(kube::kTrainingJobs.collection(ns), manifest.json, kDryRun);
    if (!created) return refuseCreation(manifest, ns, created.error());
    auto job = codec::decodeJob(*created);
    if (!job) return refuse(manifest, job.error().message);
    const bool twice =
        std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& other) { return other->key == job->key; });
    if (twice) return refuse(manifest, fmt::format("metadata.name: {} is there twice", job->key));
    // In the order of the files, as if applied one after the other; creation times are whole seconds.
    job->created += std::chrono::milliseconds(jobs_.size());
    auto& feedback = input_.feedback[job->key];
    feedback.templateError = job->specError.empty() ? checkTemplates(*job, manifest) : "";
    jobs_.push_back(std::make_shared<const model::Job>(std::move(*job)));
    return {};
  }

  static tl::unexpected<base::Error> refuse(const Manifest& manifest, const std::string& why) {
    return base::fail(ErrorCode::kInvalid, fmt::format("{}: {}", manifest.whereOf(why), why));
  }

  Result<void> refuseCreation(const Manifest& manifest, const std::string& ns, const base::Error& error) {
    switch (error.code) {
      case ErrorCode::kAlreadyExists:
        return refuse(manifest, fmt::format("metadata.name: TrainingJob {}/{} exists already: see `trainyard "
                                            "explain {}/{}`, or try it under another name",
                                            ns, manifest.name, ns, manifest.name));
      case ErrorCode::kInvalid: return refuse(manifest, std::string(codec::saidBy(error)));
      case ErrorCode::kForbidden:
        return refuse(manifest, fmt::format("{} (the API server checks the job as at its creation, without "
                                            "creating it)",
                                            codec::saidBy(error)));
      case ErrorCode::kNotFound:
        if (error.reason == "NotFound" && error.message.find("namespaces") != std::string::npos &&
            error.message.find("could not find the requested resource") == std::string::npos)
          return refuse(manifest, std::string(codec::saidBy(error)));
        return base::fail(
            error.code, fmt::format("this cluster has no TrainingJobs: are Trainyard's CRDs installed? ({})",
                                    cluster_.source()));
      default: return base::fail(error.code, fmt::format("{} ({})", error.message, cluster_.source()));
    }
  }

  // As the operator asks (operator/plan_actions.cpp): what is wrong, empty for nothing. Shapes become those
  // that admission makes of them.
  std::string checkTemplates(model::Job& job, const Manifest& manifest) {
    for (model::Role& role : job.spec.roles) {
      const auto body =
          codec::encodeMemberPod(job, role, 0,
                                 {.environment = core::MemberEnvironments(job).of(role.name, 0, 0),
                                  .launcherImage = "trainyard-launch"});
      if (!body) return fmt::format("spec.roles[{}].template: {}", role.name, body.error().message);
      const auto answer = cluster_.post(kube::kPods.collection(job.key.ns), asAUserMay(*body), kDryRun);
      if (answer) {
        const auto pod = codec::decodePod(*answer);
        if (pod && !operator_::placeAlike(pod->shape, role.shape)) role.shape = pod->shape;
        continue;
      }
      const base::Error& error = answer.error();
      const std::string said = fmt::format("spec.roles[{}].template: {}", role.name, codec::saidBy(error));
      const bool ownRights = said.find("cannot create resource") != std::string::npos ||
                             said.find("cannot set") != std::string::npos;
      if (error.code == ErrorCode::kInvalid || (error.code == ErrorCode::kForbidden && !ownRights))
        return said;
      if (error.code != ErrorCode::kAlreadyExists) {
        result_.notes.push_back(
            fmt::format("{}: the template could not be checked, and is taken as written: {}",
                        manifest.whereOf(said), said));
      }
    }
    return {};
  }

  LiveCluster& cluster_;
  const SimulateOptions& options_;
  core::CycleInput input_;
  std::vector<std::shared_ptr<const model::Job>> jobs_;
  Simulation result_;
};

}  // namespace

Result<Simulation> simulate(LiveCluster& cluster, const std::vector<Manifest>& manifests,
                            const SimulateOptions& options) {
  return Simulator(cluster, options).run(manifests);
}

}  // namespace trainyard::cli
