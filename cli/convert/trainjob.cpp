#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/quantity.h"
#include "cli/convert/draft.h"
#include "cli/convert/runtimes.h"
#include "cli/convert/scratch.h"
#include "cli/convert/ssh_launch.h"
#include "model/process_group.h"

namespace trainyard::cli {
namespace {

const std::string kLauncher(model::kLauncherRole);
constexpr int kDefaultRetries = 6;  // backoffLimit of a Job
constexpr const char* kController = "trainer.kubeflow.org/trainjob-controller";

// The variables that Kubeflow's XGBoost runtime sets.
constexpr std::array<VariableFact, 4> kXgBoost{{{"DMLC_TRACKER_URI", "$(TRAINYARD_COORDINATOR)"},
                                                {"DMLC_TRACKER_PORT", "29500"},
                                                {"DMLC_TASK_ID", "$(TRAINYARD_RANK)"},
                                                {"DMLC_NUM_WORKER", "$(TRAINYARD_SIZE)"}}};

class TrainJob {
 public:
  TrainJob(const Json& source, JobDraft& draft)
      : spec_(get(source, "spec")),
        trainer_(get(spec_, "trainer")),
        runtime_(runtimeOf(get(spec_, "runtimeRef"), draft.companions())),
        draft_(draft),
        notes_(draft.notes()) {}

  void draft() {
    noteRuntime(runtime_, draft_);
    const bool xgboost = runtime_.framework == "XGBoost";
    const bool known = !runtime_.framework.empty() && !xgboost;
    draft_.spec()["framework"] = known ? runtime_.framework : "Custom";
    overSsh_ = launchesOverSsh(runtime_.framework);
    addRoles();
    if (xgboost) addVariables();
    addProcesses();
    addOverwritten();
    if (overSsh_) moveHostFile(draft_, runtime_.implementation);
    addRetries();
    addMetadata();
    draft_.addSuspend(get(spec_, "suspend"), "spec.suspend");
    addRun();
    if (!get(spec_, "initializer").is_null())
      notes_.cannotWork(
          "spec.initializer: data and model are not loaded; load them in an init container of the template, "
          "or "
          "from a volume");
    const std::string manager = textOf(get(spec_, "managedBy"));
    if (!manager.empty() && manager != kController)
      notes_.lost(fmt::format("spec.managedBy {}: not carried over; see spec.managedBy", manager));
    notes_.noteUnknown(spec_, "spec", "spec");
  }

 private:
  // Returns the template of one job of the runtime, with overrides and the trainer's container settings.
  Json podOf(const Json& given, const char* job, bool runsCommand) {
    Json pod = given.is_object() ? given : Json::object();
    if (!get(pod, "spec", "containers").is_array() || get(pod, "spec", "containers").empty()) {
      Json container = Json::object();
      container["name"] = "node";
      pod["spec"]["containers"] = Json::array({std::move(container)});
    }
    applyOverrides(pod, job);
    Json& node = trainerOf(pod);
    copy(trainer_, "image", node, "image");
    if (runsCommand) {
      for (const char* key : {"command", "args"}) copy(trainer_, key, node, key);
    }
    if (const Json resources = get(trainer_, "resourcesPerNode"); !resources.is_null())
      node["resources"] = resources;
    if (const Json env = get(trainer_, "env"); env.is_array()) {
      Json merged = listOf(get(node, "env"));
      mergeInto(merged, env);
      node["env"] = std::move(merged);
    }
    if (get(node, "image").is_null()) {
      node["image"] = "IMAGE";
      notes_.cannotWork("spec.trainer names no image: the runtime has it; put it in place of IMAGE");
    }
    return pod;
  }

  // Returns the trainer's container; the first container if none has that name.
  Json& trainerOf(Json& pod) const {
    Json& containers = pod["spec"]["containers"];
    for (Json& each : containers) {
      if (textOf(get(each, "name")) == runtime_.container) return each;
    }
    return containers.front();
  }

  void applyOverrides(Json& pod, const std::string& target) {
    for (const char* key : {"podTemplateOverrides", "podSpecOverrides"}) {
      for (const Json& each : listOf(get(spec_, key))) {
        if (!targets(get(each, "targetJobs"), target)) {
          if (!targets(get(each, "targetJobs"), "node") && !targets(get(each, "targetJobs"), kLauncher))
            notes_.lost(
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
        notes_.kept(fmt::format("spec.{}: merged into the template", key));
      }
    }
    for (const Json& each : listOf(get(spec_, "runtimePatches"))) {
      const Json jobs = listOf(get(each, "trainingRuntimeSpec", "template", "spec", "replicatedJobs"));
      bool others = jobs.empty();
      for (const Json& job : jobs) {
        const Json patch = get(job, "template", "spec", "template");
        const std::string name = textOf(get(job, "name"));
        if (patch.is_null() || (name != "node" && !(overSsh_ && name == kLauncher))) {
          others = true;
        } else if (name == target) {
          mergeInto(pod, patch);
          notes_.kept(fmt::format("spec.runtimePatches: that of job {} is merged into the template", name));
        }
      }
      if (others) notes_.lost("spec.runtimePatches: those of other jobs than node are not carried over");
    }
  }

  static bool targets(const Json& jobs, const std::string& name) {
    if (!jobs.is_array()) return true;
    return std::any_of(jobs.begin(), jobs.end(),
                       [&](const Json& each) { return textOf(get(each, "name")) == name; });
  }

  void addRoles() {
    Json nodes = get(trainer_, "numNodes");
    if (nodes.is_null()) nodes = runtime_.nodes;
    Json pod = podOf(runtime_.pod, "node", !overSsh_);
    if (overSsh_) {
      addLauncher();
      dropSshServer(pod);
    }
    RoleDraft* worker = draft_.roles().add("worker", nodes, std::move(pod));
    if (worker == nullptr) return;
    worker->original = "node";
    if (runtime_.found && textOf(get(worker->pod, "spec", "restartPolicy")) != "Never")
      noteScratch(*worker, draft_);
    if (!draft_.name().empty()) worker->formerPrefix = draft_.name() + "-node-0";
  }

  // Uses the runtime's own launcher, or else the template of its nodes without the ssh server.
  void addLauncher() {
    const bool own = runtime_.launcher.is_object();
    Json given = own ? runtime_.launcher : runtime_.pod;
    if (!own && given.is_object()) dropSshServer(given);
    Json launcher = podOf(given, kLauncher.c_str(), true);
    if (own && !runtime_.launcherIsNode) {
      trainerOf(launcher).erase("resources");
      copy(trainerOf(given), "resources", trainerOf(launcher), "resources");
    } else {
      for (Json& each : launcher["spec"]["containers"]) each.erase("resources");
    }
    RoleDraft* role = draft_.roles().add(kLauncher, 1, std::move(launcher));
    if (role != nullptr && !draft_.name().empty()) role->formerPrefix = draft_.name() + "-launcher-0";
    notes_.kept(
        "role launcher runs the command and has no GPU; the workers' image needs sshd, which is started "
        "for them (docs/frameworks.md)");
  }

  // The operator starts an ssh server of its own.
  void dropSshServer(Json& pod) {
    if (listOf(get(pod, "spec", "containers")).empty()) return;
    dropServerCommand(trainerOf(pod), fmt::format("runtime \"{}\": the command of its nodes", runtime_.name),
                      draft_);
  }

  void addVariables() {
    for (RoleDraft& role : draft_.roles()) {
      for (const VariableFact& each : kXgBoost)
        role.variables.emplace_back(std::string(each.name), std::string(each.value));
    }
    notes_.kept("runtime of XGBoost: variables DMLC_*");
  }

  void addProcesses() {
    Json processes = get(trainer_, "numProcPerNode");
    if (processes.is_null()) processes = runtime_.processes;
    std::string word = valueText(processes);
    const bool torch = draft_.spec()["framework"] == "PyTorch";
    // Without GPUs, the number is that of the CPUs of the node's container.
    if (torch && (word.empty() || word == "auto" || word == "cpu")) {
      if (const std::string cpus = cpusWithoutGpus(); !cpus.empty()) word = cpus;
    }
    if (word.empty()) return;
    if (!torch) return noteSlots(word);
    for (RoleDraft& role : draft_.roles()) role.variables.emplace_back("PET_NPROC_PER_NODE", word);
    notes_.kept(fmt::format("numProcPerNode {}: variable PET_NPROC_PER_NODE", word));
  }

  // Kubeflow reads 1 as the number of GPUs, if the node has more.
  void noteSlots(const std::string& word) {
    const RoleDraft* worker = draft_.roles().find("worker");
    const std::int64_t slots = worker == nullptr ? 1 : std::max<std::int64_t>(1, gpusOf(worker->pod));
    if (!overSsh_)
      return notes_.lost(
          fmt::format("numProcPerNode {}: not carried over: framework {} starts one process a node", word,
                      textOf(draft_.spec()["framework"])));
    if (word == std::to_string(slots) || word == "1" || word == "auto")
      return notes_.kept(
          fmt::format("numProcPerNode {}: the host file has {} slots for each node", word, slots));
    notes_.changed(
        fmt::format("numProcPerNode {}: not carried over; the host file has a slot for each GPU, {} a node, "
                    "and the command decides how many processes it starts",
                    word, slots));
  }

  // Empty if the container has GPUs, or neither requests nor limits of CPUs.
  std::string cpusWithoutGpus() {
    const RoleDraft* worker = draft_.roles().find("worker");
    if (worker == nullptr) return {};
    for (const Json& container : listOf(get(worker->pod, "spec", "containers"))) {
      if (textOf(get(container, "name")) != runtime_.container) continue;
      const Json resources = get(container, "resources");
      if (resources.dump().find("gpu") != std::string::npos) return {};
      std::string cpu = valueText(get(resources, "limits", "cpu"));
      if (cpu.empty()) cpu = valueText(get(resources, "requests", "cpu"));
      const auto amount = base::Quantity::parse(cpu);
      if (!amount || amount->milli() <= 0) return {};
      constexpr std::int64_t kMilli = 1000;
      return std::to_string((amount->milli() + kMilli - 1) / kMilli);
    }
    return {};
  }

  void addRetries() {
    for (const RoleDraft& role : draft_.roles()) draft_.failures().role(role.name, OnFailure::kRestart);
    const Json restarts = get(runtime_.object, "spec", "template", "spec", "failurePolicy", "maxRestarts");
    const Json retries = runtime_.retries.is_null() ? Json(kDefaultRetries) : runtime_.retries;
    const std::int64_t starts = (countOf(retries) + 1) * (restarts.is_null() ? 1 : countOf(restarts) + 1);
    draft_.failures().limit(std::min<std::int64_t>(starts - 1, kMaxRestarts));
  }

  void addRun() {
    Json seconds = get(spec_, "activeDeadlineSeconds");
    if (seconds.is_null()) seconds = runtime_.deadline;
    if (!seconds.is_null()) draft_.set("run", "activeDeadlineSeconds", std::move(seconds));
    if (Json life = get(runtime_.object, "spec", "template", "spec", "ttlSecondsAfterFinished");
        !life.is_null())
      draft_.set("run", "ttlSecondsAfterFinished", std::move(life));
  }

  // Kubeflow replaces these variables of the template.
  void addOverwritten() {
    const std::string framework = textOf(draft_.spec()["framework"]);
    std::set<std::string> names;
    if (framework == "PyTorch")
      names = {"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"};
    else if (framework == "JAX")
      names = {"JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS"};
    else if (overSsh_)
      names = {"OMPI_MCA_orte_default_hostfile", "OMPI_MCA_plm_rsh_args",
               "OMPI_MCA_orte_keep_fqdn_hostnames"};
    else if (runtime_.framework == "XGBoost")
      for (const VariableFact& each : kXgBoost) names.insert(std::string(each.name));
    for (RoleDraft& role : draft_.roles()) role.overwritten = names;
  }

  void addMetadata() {
    for (const char* part : {"labels", "annotations"}) {
      const Json more = get(spec_, part);
      if (!more.is_object()) continue;
      draft_.addMetadata(part, more);
      notes_.kept(fmt::format("spec.{}: {} of the job", part, part));
    }
  }

  const Json spec_;
  const Json trainer_;
  Runtime runtime_;
  bool overSsh_ = false;
  JobDraft& draft_;
  ConversionNotes& notes_;
};

}  // namespace

void draftTrainJob(const Json& source, JobDraft& draft) { TrainJob(source, draft).draft(); }

}  // namespace trainyard::cli
