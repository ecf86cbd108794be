#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/quantity.h"
#include "cli/convert/draft.h"
#include "cli/convert/runtimes.h"
#include "model/process_group.h"

namespace trainyard::cli {
namespace {

const std::string kLauncher(model::kLauncherRole);
constexpr int kDefaultRetries = 6;  // of Jobs
constexpr const char* kController = "trainer.kubeflow.org/trainjob-controller";

// What Kubeflow's XGBoost runtime sets.
constexpr std::array<VariableFact, 4> kXgBoost{{{"DMLC_TRACKER_URI", "$(TRAINYARD_COORDINATOR)"},
                                                {"DMLC_TRACKER_PORT", "29500"},
                                                {"DMLC_TASK_ID", "$(TRAINYARD_RANK)"},
                                                {"DMLC_NUM_WORKER", "$(TRAINYARD_SIZE)"}}};

class TrainJob {
 public:
  TrainJob(const Json& source, JobDraft& draft)
      : spec_(get(source, "spec")),
        trainer_(get(spec_, "trainer")),
        runtime_(runtimeOf(get(spec_, "runtimeRef"), draft.beside())),
        draft_(draft) {}

  void draft() {
    noteRuntime();
    const bool xgboost = runtime_.framework == "XGBoost";
    const bool known = !runtime_.framework.empty() && !xgboost;
    draft_.spec()["framework"] = known ? runtime_.framework : "Custom";
    overSsh_ = runtime_.framework == "MPI";
    addRoles();
    if (xgboost) addVariables();
    addProcesses();
    addRetries();
    addMetadata();
    draft_.addSuspend(get(spec_, "suspend"), "spec.suspend");
    if (Json seconds = get(spec_, "activeDeadlineSeconds"); !seconds.is_null())
      draft_.set("run", "activeDeadlineSeconds", std::move(seconds));
    if (!get(spec_, "initializer").is_null())
      draft_.cannotWork(
          "spec.initializer: data and model are not loaded; load them in an init container of the template, "
          "or "
          "from a volume");
    const std::string manager = textOf(get(spec_, "managedBy"));
    if (!manager.empty() && manager != kController)
      draft_.lost(fmt::format("spec.managedBy {}: not carried over; see spec.run.managedBy", manager));
    draft_.noteUnknown(trainer_, "spec.trainer", "spec.trainer");
    draft_.noteUnknown(spec_, "spec", "spec");
  }

 private:
  [[nodiscard]] std::string runtimeName() const { return textOf(get(spec_, "runtimeRef", "name")); }

  void noteRuntime() {
    if (runtime_.found) {
      draft_.kept(fmt::format("runtime \"{}\" is read from the files", runtimeName()));
      if (!runtime_.others.empty())
        draft_.cannotWork(
            fmt::format("runtime \"{}\": its jobs {} are not carried over", runtimeName(), runtime_.others));
      return;
    }
    if (runtime_.framework.empty())
      return draft_.cannotWork(
          fmt::format("runtime \"{}\" is not known: framework Custom sets no variables of a framework; add "
                      "`kubectl get clustertrainingruntime {} -o yaml` to the files",
                      runtimeName(), runtimeName()));
    draft_.changed(
        fmt::format("runtime \"{}\" is not among the files: volumes, init containers and commands that it "
                    "adds are not carried "
                    "over; add `kubectl get clustertrainingruntime {} -o yaml` to the files",
                    runtimeName(), runtimeName()));
  }

  // The runtime's template with its overrides and the trainer's container.
  Json nodePod() {
    Json pod = runtime_.pod.is_object() ? runtime_.pod : Json::object();
    if (!get(pod, "spec", "containers").is_array() || get(pod, "spec", "containers").empty()) {
      Json container = Json::object();
      container["name"] = "node";
      pod["spec"]["containers"] = Json::array({std::move(container)});
      runtime_.container = "node";
    }
    applyOverrides(pod);
    Json* node = nullptr;
    for (Json& each : pod["spec"]["containers"]) {
      if (node == nullptr || textOf(get(each, "name")) == runtime_.container) node = &each;
    }
    for (const char* key : {"image", "command", "args"}) copy(trainer_, key, *node, key);
    if (const Json resources = get(trainer_, "resourcesPerNode"); !resources.is_null())
      (*node)["resources"] = resources;
    if (const Json env = get(trainer_, "env"); env.is_array()) {
      Json merged = listOf(get(*node, "env"));
      mergeInto(merged, env);
      (*node)["env"] = std::move(merged);
    }
    if (get(*node, "image").is_null()) {
      (*node)["image"] = "IMAGE";
      draft_.cannotWork("spec.trainer names no image: the runtime has it; put it in place of IMAGE");
    }
    return pod;
  }

  void applyOverrides(Json& pod) {
    for (const char* key : {"podTemplateOverrides", "podSpecOverrides"}) {
      for (const Json& each : listOf(get(spec_, key))) {
        if (!targetsNodes(get(each, "targetJobs"))) {
          draft_.lost(
              fmt::format("spec.{}: those of other jobs than the trainer's are not carried over", key));
          continue;
        }
        Json patch = Json::object();
        copy(each, "metadata", patch, "metadata");
        if (get(each, "spec").is_object()) {
          copy(each, "spec", patch, "spec");
        } else {
          for (const auto& [name, value] : each.items()) {
            if (name != "targetJobs" && name != "metadata") patch["spec"][name] = value;
          }
        }
        mergeInto(pod, patch);
        draft_.kept(fmt::format("spec.{}: merged into the template", key));
      }
    }
    for (const Json& each : listOf(get(spec_, "runtimePatches"))) {
      const Json jobs = listOf(get(each, "trainingRuntimeSpec", "template", "spec", "replicatedJobs"));
      bool others = jobs.empty();
      for (const Json& job : jobs) {
        const Json patch = get(job, "template", "spec", "template");
        if (textOf(get(job, "name")) != "node" || patch.is_null()) {
          others = true;
          continue;
        }
        mergeInto(pod, patch);
        draft_.kept("spec.runtimePatches: that of job node is merged into the template");
      }
      if (others) draft_.lost("spec.runtimePatches: those of other jobs than node are not carried over");
    }
  }

  static bool targetsNodes(const Json& targets) {
    if (!targets.is_array()) return true;
    return std::any_of(targets.begin(), targets.end(),
                       [](const Json& each) { return textOf(get(each, "name")) == "node"; });
  }

  void addRoles() {
    Json nodes = get(trainer_, "numNodes");
    if (nodes.is_null()) nodes = runtime_.nodes;
    Json pod = nodePod();
    if (overSsh_) {
      Json launcher = pod;
      for (Json& each : launcher["spec"]["containers"]) each.erase("resources");
      for (Json& each : pod["spec"]["containers"]) {
        if (textOf(get(each, "name")) != runtime_.container && pod["spec"]["containers"].size() > 1) continue;
        each.erase("command");
        each.erase("args");
      }
      draft_.addRole(kLauncher, 1, std::move(launcher));
      draft_.kept(
          "role launcher runs the command and has no GPU; the workers' image needs sshd, which is started "
          "for them (docs/frameworks.md)");
    }
    RoleDraft* worker = draft_.addRole("worker", nodes, std::move(pod));
    if (worker == nullptr || draft_.name().empty()) return;
    worker->formerPrefix = draft_.name() + "-node-0";
  }

  void addVariables() {
    for (RoleDraft& role : draft_.roles()) {
      for (const VariableFact& each : kXgBoost)
        role.variables.emplace_back(std::string(each.name), std::string(each.value));
    }
    draft_.kept("runtime of XGBoost: variables DMLC_*");
  }

  void addProcesses() {
    Json processes = get(trainer_, "numProcPerNode");
    if (processes.is_null()) processes = runtime_.processes;
    std::string word = wordOf(processes);
    const bool torch = draft_.spec()["framework"] == "PyTorch";
    // Without GPUs it is the number of CPUs that the node's container has.
    if (torch && (word.empty() || word == "auto" || word == "cpu")) {
      if (const std::string cpus = cpusWithoutGpus(); !cpus.empty()) word = cpus;
    }
    if (word.empty()) return;
    if (!torch)
      return draft_.changed(
          fmt::format("numProcPerNode {}: not carried over; the host file has a slot for each GPU, "
                      "and the command decides how many processes it starts",
                      word));
    for (RoleDraft& role : draft_.roles()) role.variables.emplace_back("PET_NPROC_PER_NODE", word);
    draft_.kept(fmt::format("numProcPerNode {}: variable PET_NPROC_PER_NODE", word));
  }

  // Empty where the container has GPUs, or neither requests nor limits of CPUs.
  std::string cpusWithoutGpus() {
    const RoleDraft* worker = draft_.findRole("worker");
    if (worker == nullptr) return {};
    for (const Json& container : listOf(get(worker->pod, "spec", "containers"))) {
      if (textOf(get(container, "name")) != runtime_.container) continue;
      const Json resources = get(container, "resources");
      if (resources.dump().find("gpu") != std::string::npos) return {};
      std::string cpu = wordOf(get(resources, "limits", "cpu"));
      if (cpu.empty()) cpu = wordOf(get(resources, "requests", "cpu"));
      const auto amount = base::Quantity::parse(cpu);
      if (!amount || amount->milli() <= 0) return {};
      constexpr std::int64_t kMilli = 1000;
      return std::to_string((amount->milli() + kMilli - 1) / kMilli);
    }
    return {};
  }

  void addRetries() {
    for (const RoleDraft& role : draft_.roles()) draft_.failures().role(role.name, OnFailure::kRestart);
    draft_.failures().limit(runtime_.retries.is_null() ? Json(kDefaultRetries) : runtime_.retries);
  }

  void addMetadata() {
    for (const char* part : {"labels", "annotations"}) {
      const Json more = get(spec_, part);
      if (!more.is_object()) continue;
      draft_.addMetadata(part, more);
      draft_.kept(fmt::format("spec.{}: {} of the job", part, part));
    }
  }

  const Json spec_;
  const Json trainer_;
  Runtime runtime_;
  bool overSsh_ = false;
  JobDraft& draft_;
};

}  // namespace

void draftTrainJob(const Json& source, JobDraft& draft) { TrainJob(source, draft).draft(); }

}  // namespace trainyard::cli
