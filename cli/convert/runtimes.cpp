#include "cli/convert/runtimes.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

namespace trainyard::cli {
namespace {

constexpr const char* kFrameworkLabel = "trainer.kubeflow.org/framework";
constexpr const char* kLauncherJob = "launcher";
constexpr const char* kStepLabel = "trainer.kubeflow.org/trainjob-ancestor-step";

// A part of a runtime's label, mlPolicy or name, and the framework that it stands for.
struct FrameworkPattern {
  std::string_view word;
  std::string_view framework;
};

constexpr std::array<FrameworkPattern, 12> kWords{{{"openmpi", "MPI"},
                                                   {"intelmpi", "MPI"},
                                                   {"mpich", "MPI"},
                                                   {"mpi", "MPI"},
                                                   {"deepspeed", "MPI"},
                                                   {"mlx", "MPI"},
                                                   {"jax", "JAX"},
                                                   {"torchtune", "PyTorch"},
                                                   {"pytorch", "PyTorch"},
                                                   {"torch", "PyTorch"},
                                                   {"xgboost", "XGBoost"},
                                                   {"plainml", "Custom"}}};

std::string frameworkIn(const std::string& text) {
  for (const FrameworkPattern& each : kWords) {
    if (re2::RE2::PartialMatch(text, fmt::format("(^|[^a-z])({})([^a-z]|$)", each.word)))
      return std::string(each.framework);
  }
  return {};
}

std::string frameworkOf(const Json& runtime, const std::string& name) {
  const Json policy = get(runtime, "spec", "mlPolicy");
  for (const auto& [key, value] : policy.items()) {
    if (std::string found = frameworkIn(key); !found.empty()) return found;
  }
  if (std::string found = frameworkIn(textOf(get(runtime, "metadata", "labels", kFrameworkLabel)));
      !found.empty())
    return found;
  if (!get(runtime, "metadata", "labels", kFrameworkLabel).is_null()) return "Custom";
  if (std::string found = frameworkIn(name); !found.empty()) return found;
  // Without a framework, nodes receive only their number.
  return "Custom";
}

bool isTrainer(const Json& job) {
  const std::string name = textOf(get(job, "name"));
  const Json labels = get(job, "template", "metadata", "labels");
  return textOf(get(labels, kStepLabel)) == "trainer" || name == "node" || name == "trainer-node";
}

void readJobs(const Json& runtime, Runtime& result) {
  const Json jobs = listOf(get(runtime, "spec", "template", "spec", "replicatedJobs"));
  Json chosen;
  for (const Json& job : jobs) {
    if (isTrainer(job) || (jobs.size() == 1 && chosen.is_null())) {
      if (chosen.is_null() || textOf(get(job, "name")) == "node") chosen = job;
    }
  }
  Json begun = chosen;  // the TrainJob ends with this job
  for (const Json& job : jobs) {
    const std::string name = textOf(get(job, "name"));
    if (name == textOf(get(chosen, "name"))) continue;
    if (name == kLauncherJob && result.framework == "MPI") {
      result.launcher = get(job, "template", "spec", "template");
      begun = job;
      continue;
    }
    result.others.push_back(name);
  }
  result.pod = get(chosen, "template", "spec", "template");
  result.retries = get(begun, "template", "spec", "backoffLimit");
  result.deadline = get(begun, "template", "spec", "activeDeadlineSeconds");
  const Json containers = listOf(get(result.pod, "spec", "containers"));
  if (!containers.empty()) result.container = textOf(get(containers[0], "name"));
  for (const Json& each : containers) {
    if (textOf(get(each, "name")) == "node") result.container = "node";
  }
}

// Notes how the runtime's JobSet controls its Jobs.
void noteJobSet(const Runtime& runtime, const std::string& origin, JobDraft& draft) {
  const Json set = get(runtime.object, "spec", "template", "spec");
  if (!get(set, "failurePolicy", "maxRestarts").is_null())
    draft.notes().changed(fmt::format(
        "{}: failurePolicy.maxRestarts: the Job's retries and the JobSet's restarts are one count here, "
        "spec.failure.maxRestarts",
        origin));
  if (!get(set, "ttlSecondsAfterFinished").is_null())
    draft.notes().changed(
        fmt::format("{}: ttlSecondsAfterFinished: spec.run.ttlSecondsAfterFinished deletes the TrainingJob, "
                    "not only its pods",
                    origin));
  if (textOf(get(set, "startupPolicy", "startupPolicyOrder")) == "InOrder")
    draft.notes().changed(fmt::format("{}: startupPolicy: all roles start together", origin));
  const Json success = get(set, "successPolicy");
  const Json targets = listOf(get(success, "targetReplicatedJobs"));
  const bool usual = textOf(get(success, "operator")) != "Any" &&
                     std::all_of(targets.begin(), targets.end(),
                                 [](const Json& each) { return each == "node" || each == kLauncherJob; });
  if (!usual)
    draft.notes().lost(fmt::format("{}: successPolicy: not carried over; see spec.success", origin));
  if (!get(runtime.object, "spec", "mlPolicy", "torch", "elasticPolicy").is_null())
    draft.notes().lost(fmt::format(
        "{}: mlPolicy.torch.elasticPolicy: the job has a fixed size; write spec.elastic to have it resized",
        origin));
  if (!get(runtime.object, "spec", "podGroupPolicy", "volcano", "networkTopology").is_null())
    draft.notes().lost(
        fmt::format("{}: podGroupPolicy.volcano.networkTopology: name a level in spec.locality", origin));
}

void noteJob(const Json& job, const std::string& origin, JobDraft& draft) {
  draft.notes().noteUnknown(job, "runtime.spec.template.spec.replicatedJobs[]", origin);
  const Json spec = get(job, "template", "spec");
  if (!get(spec, "podFailurePolicy").is_null())
    draft.notes().lost(
        fmt::format("{}: podFailurePolicy: not carried over; write spec.failure.rules", origin));
  for (const Json& each : listOf(get(job, "dependsOn"))) {
    const std::string name = textOf(get(each, "name"));
    if (name == "node" || name == kLauncherJob)
      draft.notes().changed(fmt::format("{}: dependsOn {}: all roles start together", origin, name));
  }
}

}  // namespace

void noteRuntime(const Runtime& runtime, JobDraft& draft) {
  const std::string origin = fmt::format("runtime \"{}\"", runtime.name);
  const std::string ask =
      fmt::format("add `kubectl get clustertrainingruntime {} -o yaml` to the files", runtime.name);
  if (!runtime.found && runtime.framework.empty())
    return draft.notes().cannotWork(
        fmt::format("{} is not known: framework Custom sets no variables of a framework; {}", origin, ask));
  if (!runtime.found)
    return draft.notes().changed(fmt::format(
        "{} is not among the files: volumes, init containers and commands that it adds are not carried "
        "over; {}",
        origin, ask));
  draft.notes().kept(fmt::format("{} is read from the files", origin));
  if (!runtime.others.empty())
    draft.notes().cannotWork(
        fmt::format("{}: its jobs {} are not carried over", origin, fmt::join(runtime.others, ", ")));
  draft.notes().noteUnknown(get(runtime.object, "spec"), "runtime.spec", origin + ": spec");
  noteJobSet(runtime, origin, draft);
  for (const Json& job : listOf(get(runtime.object, "spec", "template", "spec", "replicatedJobs"))) {
    const std::string name = textOf(get(job, "name"));
    if (std::find(runtime.others.begin(), runtime.others.end(), name) == runtime.others.end())
      noteJob(job, fmt::format("{}: job {}", origin, name), draft);
  }
}

Runtime runtimeOf(const Json& reference, const Companions& companions) {
  const std::string name = textOf(get(reference, "name"));
  const std::string kind =
      get(reference, "kind").is_null() ? "ClusterTrainingRuntime" : textOf(get(reference, "kind"));
  Runtime result;
  result.name = name;
  for (const std::string& each : companions.objects) {
    const Json object = Json::parse(each, nullptr, false);
    if (textOf(get(object, "kind")) != kind || textOf(get(object, "metadata", "name")) != name) continue;
    result.found = true;
    result.object = object;
    result.framework = frameworkOf(object, name);
    const Json policy = get(object, "spec", "mlPolicy");
    result.nodes = get(policy, "numNodes");
    for (const auto& [key, value] : policy.items()) {
      if (const Json processes = get(value, "numProcPerNode"); !processes.is_null())
        result.processes = processes;
    }
    result.launcherIsNode = get(policy, "mpi", "runLauncherAsNode") == true;
    result.implementation = textOf(get(policy, "mpi", "mpiImplementation"));
    readJobs(object, result);
    return result;
  }
  result.framework = frameworkIn(name);
  return result;
}

}  // namespace trainyard::cli
