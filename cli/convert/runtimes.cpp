#include "cli/convert/runtimes.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

namespace trainyard::cli {
namespace {

constexpr const char* kFrameworkLabel = "trainer.kubeflow.org/framework";
constexpr const char* kStepLabel = "trainer.kubeflow.org/trainjob-ancestor-step";

// A part of a runtime's label, of its mlPolicy or of its name.
struct WordFact {
  std::string_view word;
  std::string_view framework;
};

constexpr std::array<WordFact, 12> kWords{{{"openmpi", "MPI"},
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
  for (const WordFact& each : kWords) {
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
  // No framework: nodes get their number only.
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
  for (const Json& job : jobs) {
    const std::string name = textOf(get(job, "name"));
    if (name == textOf(get(chosen, "name")) || name == "launcher") continue;
    result.others += (result.others.empty() ? "" : ", ") + name;
  }
  result.pod = get(chosen, "template", "spec", "template");
  result.retries = get(chosen, "template", "spec", "backoffLimit");
  const Json containers = listOf(get(result.pod, "spec", "containers"));
  if (!containers.empty()) result.container = textOf(get(containers[0], "name"));
  for (const Json& each : containers) {
    if (textOf(get(each, "name")) == "node") result.container = "node";
  }
}

}  // namespace

Runtime runtimeOf(const Json& reference, const Beside& beside) {
  const std::string name = textOf(get(reference, "name"));
  const std::string kind =
      get(reference, "kind").is_null() ? "ClusterTrainingRuntime" : textOf(get(reference, "kind"));
  Runtime result;
  for (const std::string& each : beside.objects) {
    const Json object = Json::parse(each, nullptr, false);
    if (textOf(get(object, "kind")) != kind || textOf(get(object, "metadata", "name")) != name) continue;
    result.found = true;
    result.framework = frameworkOf(object, name);
    const Json policy = get(object, "spec", "mlPolicy");
    result.nodes = get(policy, "numNodes");
    for (const auto& [key, value] : policy.items()) {
      if (const Json processes = get(value, "numProcPerNode"); !processes.is_null())
        result.processes = processes;
    }
    readJobs(object, result);
    return result;
  }
  result.framework = frameworkIn(name);
  return result;
}

}  // namespace trainyard::cli
