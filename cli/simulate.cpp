#include "cli/simulate.h"

#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/job_check.h"
#include "codec/json_value.h"
#include "codec/policy.h"
#include "codec/run_times.h"
#include "codec/status.h"
#include "kube/paths.h"
#include "model/gpu_resources.h"
#include "operator/console/tried_jobs.h"
#include "operator/run_times_keeper.h"
#include "operator/simulation_json.h"

namespace trainyard::cli {
namespace {

using base::ErrorCode;
using base::Result;

class Simulator {
 public:
  Simulator(LiveCluster& cluster, const SimulateOptions& options) : cluster_(cluster), options_(options) {}

  Result<Simulation> run(const std::vector<Manifest>& manifests) {
    auto policy = readPolicy();
    if (!policy) return base::fail(policy.error());
    // Must be set before jobs and nodes are decoded.
    model::setGpuResources(codec::gpuNamesOf(*policy));
    auto checked = checkJobs(cluster_, manifests, options_.ns, result_.notes);
    if (!checked) return base::fail(checked.error());
    auto snapshot = cluster_.snapshot();
    if (!snapshot) return refuse(snapshot.error());
    snapshot->policy = std::move(*policy);
    snapshot->runTimes = readRunTimes();
    core::CycleInput input;
    input.snapshot = std::move(*snapshot);
    result_.now = input.snapshot.now;
    auto jobs = take(std::move(*checked), input);
    result_.forecasts = operator_::tryJobs(std::move(input), std::move(jobs));
    return std::move(result_);
  }

 private:
  [[nodiscard]] tl::unexpected<base::Error> refuse(const base::Error& error) const {
    return base::fail(error.code,
                      fmt::format("{}{} ({})", error.message,
                                  error.code == ErrorCode::kForbidden
                                      ? "; without it, --console asks the operator's console, if there is one"
                                      : "",
                                  cluster_.source()));
  }

  static std::vector<std::shared_ptr<const model::Job>> take(std::vector<CheckedJob> checked,
                                                             core::CycleInput& input) {
    std::vector<std::shared_ptr<const model::Job>> jobs;
    for (CheckedJob& each : checked) {
      model::Job& job = each.job;
      for (model::Role& role : job.spec.roles) {
        const auto pod = each.tried.pods.find(role.name);
        // If the pod cannot be read, the template counts.
        if (pod != each.tried.pods.end()) (void)operator_::takeAdmittedPod(pod->second, job.key.ns, role);
      }
      // In the order of the files, as if they were applied in turn; creation times are whole seconds.
      job.created += std::chrono::milliseconds(jobs.size());
      input.feedback[job.key].templateError = each.tried.templateError;
      jobs.push_back(std::make_shared<const model::Job>(std::move(job)));
    }
    return jobs;
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

  // Returns the run times that the operator has learnt, as far as it has stored them.
  std::shared_ptr<const model::RunTimes> readRunTimes() {
    const std::string name = operator_::RunTimesKeeper::Options{}.name;
    const auto body = cluster_.get({kube::kConfigMaps.object(options_.operatorNamespace, name)}).front();
    if (!body && body.error().code == ErrorCode::kNotFound) return nullptr;
    auto stored =
        body ? codec::decodeRunTimes(*body) : Result<codec::StoredRunTimes>(base::fail(body.error()));
    if (!stored || !stored->complaint.empty()) {
      result_.notes.push_back(fmt::format("the learnt run times are ignored: {}",
                                          stored ? stored->complaint : stored.error().message));
      return nullptr;
    }
    return std::make_shared<const model::RunTimes>(std::move(stored->times));
  }

  LiveCluster& cluster_;
  const SimulateOptions& options_;
  Simulation result_;
};

base::Error explainConsole(const base::Error& error, const LiveCluster& console) {
  const bool older = error.code == ErrorCode::kNotFound || error.code == ErrorCode::kUnsupported;
  return {error.code, fmt::format("{} ({})",
                                  older ? "there is no console at this address, or it cannot try jobs"
                                        : std::string(codec::serverMessage(error)),
                                  console.source())};
}

}  // namespace

Result<Simulation> simulate(LiveCluster& cluster, const std::vector<Manifest>& manifests,
                            const SimulateOptions& options) {
  return Simulator(cluster, options).run(manifests);
}

Result<Simulation> simulateByConsole(LiveCluster& cluster, LiveCluster& console,
                                     const std::vector<Manifest>& manifests, const std::string& ns) {
  std::vector<std::string> notes;
  auto checked = checkJobs(cluster, manifests, ns, notes);
  if (!checked) return base::fail(checked.error());
  std::vector<operator_::console::TriedJob> jobs;
  for (CheckedJob& each : *checked) jobs.push_back(std::move(each.tried));
  const std::string body = operator_::console::writeTriedJobs(jobs);
  if (body.size() > operator_::console::kMaxTriedBytes)
    return base::fail(ErrorCode::kInvalid,
                      fmt::format("the jobs are {} bytes with their pods; the console takes {}: try fewer at "
                                  "once",
                                  body.size(), operator_::console::kMaxTriedBytes));
  const auto answer = console.post("/api/simulate", body, {});
  if (!answer) return base::fail(explainConsole(answer.error(), console));
  auto simulation = operator_::readSimulation(*answer);
  if (!simulation)
    return base::fail(ErrorCode::kInternal,
                      fmt::format("{} ({})", simulation.error().message, console.source()));
  simulation->policy += fmt::format(" ({})", console.source());
  simulation->notes.insert(simulation->notes.begin(), notes.begin(), notes.end());
  return simulation;
}

}  // namespace trainyard::cli
