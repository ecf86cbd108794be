#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/job_draft.h"
#include "model/process_group.h"

namespace trainyard::cli {
namespace {

const std::string kLauncher(model::kLauncherRole);

class VolcanoJob {
 public:
  VolcanoJob(const Json& source, JobDraft& draft)
      : spec_(get(source, "spec")),
        aborted_(get(source, "status", "state", "phase") == "Aborted"),
        draft_(draft) {}

  void draft() {
    const Json plugins = get(spec_, "plugins");
    draft_.spec()["framework"] = framework(plugins);
    readPluginArguments(plugins);
    const Json tasks = get(spec_, "tasks");
    for (const Json& task : tasks.is_array() ? tasks : Json::array()) {
      const std::string role = addTask(task);
      if (role.empty()) continue;
      if (!get(task, "dependsOn").is_null())
        draft_.note(fmt::format("task {}: dependsOn: all roles start together", role));
      for (const Json& policy : get(task, "policies")) addTaskPolicy(role, policy);
      if (const Json own = get(task, "minAvailable"); !own.is_null() && own != get(task, "replicas"))
        draft_.note(
            fmt::format("task {}: minAvailable: spec.gang.minAvailable counts members of all roles", role));
      if (!get(task, "maxRetry").is_null())
        draft_.note(
            fmt::format("task {}: maxRetry: the whole gang starts again, spec.failure.maxRestarts", role));
      draft_.noteRest(task, fmt::format("task {}", role),
                      {"name", "replicas", "template", "dependsOn", "policies", "minAvailable", "maxRetry"});
    }
    for (const Json& policy : get(spec_, "policies")) addJobPolicy(policy);
    copy(spec_, "queue", draft_.spec(), "queue");
    copy(spec_, "priorityClassName", draft_.spec(), "priorityClassName");
    const Json least = get(spec_, "minAvailable");
    if (!least.is_null() && countOf(least) < draft_.members()) draft_.spec()["gang"]["minAvailable"] = least;
    if (Json restarts = get(spec_, "maxRetry"); !restarts.is_null())
      draft_.spec()["failure"]["maxRestarts"] = restarts;
    if (Json life = get(spec_, "ttlSecondsAfterFinished"); !life.is_null())
      draft_.spec()["run"]["ttlSecondsAfterFinished"] = life;
    if (aborted_) {
      draft_.spec()["run"]["suspend"] = true;
      draft_.note("it is aborted, until somebody resumes it: run.suspend");
    }
    if (!get(spec_, "networkTopology").is_null())
      draft_.note("spec.networkTopology: say how close in spec.locality (required: rack, for example)");
    if (!get(spec_, "volumes").is_null()) draft_.note("spec.volumes: write them into the templates");
    if (!get(spec_, "minSuccess").is_null())
      draft_.note("spec.minSuccess: spec.success says which roles have to succeed");
    draft_.noteRest(spec_, "spec",
                    {"plugins", "tasks", "policies", "queue", "priorityClassName", "minAvailable", "maxRetry",
                     "ttlSecondsAfterFinished", "networkTopology", "volumes", "minSuccess", "schedulerName"});
    if (plugins.contains("svc"))
      draft_.note(
          "plugin svc: members find each other as JOB-ROLE-INDEX.JOB.NAMESPACE.svc; there is no "
          "/etc/volcano; the list "
          "of members is in TRAINYARD's variables (docs/frameworks.md)");
    if (plugins.contains("ssh") && draft_.spec()["framework"] == "Custom")
      draft_.note(
          "plugin ssh: members are given keys with framework MPI or Horovod only: choose one of them, or "
          "bring a Secret of yours");
    for (const auto& [plugin, arguments] : plugins.items()) {
      static const std::set<std::string> known{"svc", "env", "ssh", "pytorch", "tensorflow", "mpi", "jax"};
      if (known.count(plugin) == 0) draft_.note(fmt::format("plugin {}: not carried over", plugin));
    }
    if (plugins.contains("env"))
      draft_.note("plugin env: VC_TASK_INDEX is not set; TRAINYARD_INDEX tells the same");
  }

 private:
  // Volcano's plug-ins name the tasks that have a part of their own; here their roles have set names.
  void readPluginArguments(const Json& plugins) {
    if (!plugins.is_object()) return;
    for (const auto& [plugin, arguments] : plugins.items()) {
      for (const Json& each : arguments.is_array() ? arguments : Json::array()) {
        static const re2::RE2 kTask("--(master|worker|chief|ps|evaluator)=(.+)");
        std::string part;
        std::string task;
        if (!re2::RE2::FullMatch(textOf(each), kTask, &part, &task)) {
          draft_.note(fmt::format("plugin {}: {}: not carried over", plugin, textOf(each)));
          continue;
        }
        roleOfTask_[task] = plugin == "mpi" && part == "master" ? kLauncher : part;
      }
      if (plugin != "mpi") continue;
      for (const auto& [task, role] :
           {std::pair{"master", kLauncher}, std::pair{"worker", std::string("worker")}}) {
        const bool told = std::any_of(roleOfTask_.begin(), roleOfTask_.end(),
                                      [&](const auto& each) { return each.second == role; });
        if (!told) roleOfTask_.try_emplace(task, role);
      }
    }
    // Nobody else's.
    for (const auto& [task, role] : roleOfTask_) draft_.keepName(role);
  }

  std::string addTask(const Json& task) {
    const std::string name = textOf(get(task, "name"));
    Json pod = get(task, "template");
    const auto known = roleOfTask_.find(name);
    if (known == roleOfTask_.end()) return draft_.addRole(name, get(task, "replicas"), std::move(pod));
    const std::string role = known->second;
    if (role != name) draft_.note(fmt::format("task {} is role {}", name, role));
    draft_.giveName(role);
    if (draft_.spec()["framework"] == "MPI" && role == "worker") dropSshServer(pod);
    if (role == kLauncher && pod.dump().find("MPI_HOST") != std::string::npos)
      draft_.note(
          "role launcher: MPI_HOST is not set: mpirun finds the hosts by itself, without --host "
          "(docs/frameworks.md)");
    return draft_.addRole(role, get(task, "replicas"), std::move(pod));
  }

  void dropSshServer(Json& pod) {
    const Json containers = get(pod, "spec", "containers");
    if (!containers.is_array() || containers.empty()) return;
    const auto serves = [](const Json& container) {
      return (get(container, "command").dump() + get(container, "args").dump()).find("sshd") !=
             std::string::npos;
    };
    if (!serves(containers[0])) {
      if (std::any_of(containers.begin(), containers.end(), serves))
        draft_.note("role worker: the operator has sshd started by the first container, not by another one");
      return;
    }
    for (const char* key : {"command", "args"}) pod["spec"]["containers"][0].erase(key);
    draft_.note("role worker: its command, which began sshd, is left out: the operator has it started");
  }

  static std::string framework(const Json& plugins) {
    for (const auto& [plugin, name] : {std::pair{"pytorch", "PyTorch"}, std::pair{"tensorflow", "TensorFlow"},
                                       std::pair{"mpi", "MPI"}, std::pair{"jax", "JAX"}}) {
      if (plugins.contains(plugin)) return name;
    }
    return "Custom";
  }

  void addTaskPolicy(const std::string& role, const Json& policy) {
    const std::string event = eventOf(policy);
    const std::string action = textOf(get(policy, "action"));
    if (event == "TaskCompleted" && action == "CompleteJob") {
      draft_.spec()["success"]["roles"].push_back(role);
      return;
    }
    draft_.note(fmt::format("task {}: policy {} → {}: see spec.failure", role, event, action));
    notePolicy(policy, fmt::format("task {}: policy {}", role, event));
  }

  void addJobPolicy(const Json& policy) {
    const std::string event = eventOf(policy);
    const std::string action = textOf(get(policy, "action"));
    // What happens here anyway.
    const bool usual = action == "RestartJob" && (event == "PodEvicted" || event == "PodFailed");
    if (!usual)
      draft_.note(fmt::format("policy {} → {}: see spec.failure and docs/failures.md", event, action));
    notePolicy(policy, fmt::format("policy {}", event));
  }

  void notePolicy(const Json& policy, const std::string& path) {
    draft_.noteRest(policy, path, {"event", "events", "exitCode", "action"});
  }

  // "PodFailed", "PodFailed, PodEvicted", "exit code 3".
  static std::string eventOf(const Json& policy) {
    std::string events = textOf(get(policy, "event"));
    const Json several = get(policy, "events");
    for (const Json& each : several.is_array() ? several : Json::array()) {
      events += (events.empty() ? "" : ", ") + textOf(each);
    }
    const Json code = get(policy, "exitCode");
    if (code.is_number_integer())
      events += fmt::format("{}exit code {}", events.empty() ? "" : ", ", code.get<std::int64_t>());
    return events;
  }

  const Json spec_;
  const bool aborted_;
  JobDraft& draft_;
  std::map<std::string, std::string> roleOfTask_;  // those that a plug-in names
};

}  // namespace

void draftVolcanoJob(const Json& source, JobDraft& draft) { VolcanoJob(source, draft).draft(); }

}  // namespace trainyard::cli
