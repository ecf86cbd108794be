#include "cli/convert.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>
#include <nlohmann/json.hpp>

#include "cli/foreign_job.h"
#include "cli/plain_text.h"
#include "model/process_group.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kRoleLetters = 16;
const std::string kLauncher(model::kLauncherRole);
constexpr const char* kApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr const char* kQueueLabel = "kueue.x-k8s.io/queue-name";
constexpr const char* kPriorityLabel = "kueue.x-k8s.io/priority-class";

using Json = nlohmann::ordered_json;  // in the order in which people wrote it

Json get(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found == object.end() ? Json() : *found;
}

// object.a.b.c, null where one of them is missing.
template <typename... Keys>
Json get(const Json& object, const char* key, Keys... more) {
  return get(get(object, key), more...);
}

void copy(const Json& from, const char* key, Json& to, const char* as) {
  if (Json value = get(from, key); !value.is_null()) to[as] = std::move(value);
}

std::string textOf(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

class Converter {
 public:
  explicit Converter(const Json& source)
      : spec_(get(source, "spec")), aborted_(get(source, "status", "state", "phase") == "Aborted") {
    result_["apiVersion"] = "trainyard.dev/v1alpha1";
    result_["kind"] = "TrainingJob";
    Json meta = Json::object();
    for (const char* key : {"name", "generateName", "namespace", "labels", "annotations"}) {
      copy(get(source, "metadata"), key, meta, key);
    }
    if (get(meta, "annotations").is_object()) meta["annotations"].erase(kApplied);
    if (get(meta, "annotations").empty()) meta.erase("annotations");
    static const re2::RE2 label("[a-z]([-a-z0-9]{0,61}[a-z0-9])?");
    if (const std::string name = textOf(get(meta, "name"));
        !name.empty() && !re2::RE2::FullMatch(name, label))
      note(
          "metadata.name: names of TrainingJobs are like those of Services, 63 letters, digits and \"-\" at "
          "most, first a letter: choose another one");
    const Json queue = get(meta, "labels", kQueueLabel);
    if (queue.is_string()) {
      to_["queue"] = queue;
      meta["labels"].erase(kQueueLabel);
      note("label kueue.x-k8s.io/queue-name became spec.queue: a Queue of that name has to exist");
      ofKueue_ = true;
    }
    if (const std::string priority = textOf(get(meta, "labels", kPriorityLabel)); !priority.empty()) {
      meta["labels"].erase(kPriorityLabel);
      note(
          fmt::format("label {}: \"{}\" is a WorkloadPriorityClass of Kueue: name a PriorityClass in "
                      "spec.priorityClassName",
                      kPriorityLabel, priority));
    }
    if (get(meta, "labels").empty()) meta.erase("labels");
    result_["metadata"] = std::move(meta);
  }

  base::Result<Converted> finish() {
    if (get(to_, "roles").empty())
      return base::fail(base::ErrorCode::kInvalid, "it has no task that could become a role");
    if (neverAgain_ && !get(to_, "failure").contains("maxRestarts")) to_["failure"]["maxRestarts"] = 0;
    settlePriority();
    Json spec = Json::object();
    // In the order in which people read them.
    for (const char* key : {"framework", "queue", "priorityClassName", "roles", "elastic", "gang",
                            "scheduling", "locality", "run", "success", "failure"}) {
      copy(to_, key, spec, key);
    }
    result_["spec"] = std::move(spec);
    return Converted{result_.dump(), std::move(notes_)};
  }

  void fromPyTorchJob() {
    to_["framework"] = "PyTorch";
    Json replicas = get(spec_, "pytorchReplicaSpecs");
    const Json elastic = get(spec_, "elasticPolicy");
    // Scaled to nothing, for the moment.
    if (!elastic.is_null() && get(replicas, "Worker", "replicas") == 0) {
      const Json least = get(elastic, "minReplicas");
      replicas["Worker"]["replicas"] = least.is_number_integer() && least > 0 ? least : Json(1);
      note("Worker.replicas is 0: the job begins with elasticPolicy.minReplicas");
    }
    for (const char* name : {"Master", "Worker"}) {
      const Json one = get(replicas, name);
      if (one.is_null()) continue;
      addRole(name, get(one, "replicas"), get(one, "template"));
      noteRestarts(get(one, "restartPolicy"), name);
      noteRest(one, fmt::format("spec.pytorchReplicaSpecs.{}", name),
               {"replicas", "template", "restartPolicy"});
    }
    noteRest(spec_, "spec", {"pytorchReplicaSpecs", "elasticPolicy", "nprocPerNode", "runPolicy"});
    noteRest(replicas, "spec.pytorchReplicaSpecs", {"Master", "Worker"});
    if (!elastic.is_null() && !get(replicas, "Worker").is_null())
      addElastic(elastic, get(replicas, "Worker", "replicas"));
    if (!get(spec_, "nprocPerNode").is_null())
      note(
          "spec.nprocPerNode: torchrun is told one process for each GPU of the container "
          "(PET_NPROC_PER_NODE)");
    addRunPolicy(get(spec_, "runPolicy"));
    note("RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and PET_* are set as before (docs/frameworks.md)");
  }

  void fromTrainJob() {
    const std::string runtime = textOf(get(spec_, "runtimeRef", "name"));
    const auto has = [&](const char* words) {
      return re2::RE2::PartialMatch(runtime, fmt::format("(^|[^a-z])({})([^a-z]|$)", words));
    };
    const bool overSsh = has("mpi|openmpi|intelmpi|mpich|deepspeed");
    to_["framework"] = overSsh                          ? "MPI"
                       : has("jax")                     ? "JAX"
                       : has("torch|pytorch|torchtune") ? "PyTorch"
                                                        : "Custom";
    const Json trainer = get(spec_, "trainer");
    Json container = Json::object();
    container["name"] = "node";
    container["image"] = "IMAGE";
    for (const char* key : {"image", "env"}) copy(trainer, key, container, key);
    if (overSsh) {
      Json launcher = container;
      for (const char* key : {"command", "args"}) copy(trainer, key, launcher, key);
      addRole(kLauncher, 1, podOf(std::move(launcher)));
      note(
          "role launcher runs the command and has no GPU; the workers' image needs sshd, which is started "
          "for "
          "them (docs/frameworks.md)");
    } else {
      for (const char* key : {"command", "args"}) copy(trainer, key, container, key);
    }
    copy(trainer, "resourcesPerNode", container, "resources");
    addRole("worker", get(trainer, "numNodes"), podOf(std::move(container)));
    if (get(trainer, "image").is_null())
      note("spec.trainer names no image: the runtime has it; put it in place of IMAGE");
    note(fmt::format(
        "what runtime \"{}\" adds (volumes, init containers, initializers, torch options) is not known here: "
        "compare with `kubectl get clustertrainingruntime {} -o yaml`",
        runtime, runtime));
    addSuspend(get(spec_, "suspend"), "spec.suspend");
    if (Json seconds = get(spec_, "activeDeadlineSeconds"); !seconds.is_null())
      to_["run"]["activeDeadlineSeconds"] = seconds;
    if (!get(spec_, "initializer").is_null())
      note("spec.initializer: load data and model in an init container of the template, or from a volume");
    for (const char* key : {"podTemplateOverrides", "runtimePatches"}) {
      if (!get(spec_, key).is_null()) note(fmt::format("spec.{}: write it into the template", key));
    }
    if (!get(trainer, "numProcPerNode").is_null())
      note(to_["framework"] == "PyTorch"
               ? "spec.trainer.numProcPerNode: torchrun is told one process for each GPU of the container "
                 "(PET_NPROC_PER_NODE)"
               : "spec.trainer.numProcPerNode: not carried over; the command says how many it starts");
    noteRest(trainer, "spec.trainer",
             {"image", "command", "args", "env", "numNodes", "resourcesPerNode", "numProcPerNode"});
    for (const char* key : {"labels", "annotations"}) {
      if (!get(spec_, key).is_null())
        note(fmt::format("spec.{}: write them into the template's metadata", key));
    }
    noteRest(spec_, "spec",
             {"runtimeRef", "trainer", "suspend", "activeDeadlineSeconds", "initializer",
              "podTemplateOverrides", "runtimePatches", "labels", "annotations"});
  }

  void fromVolcano() {
    const Json plugins = get(spec_, "plugins");
    to_["framework"] = framework(plugins);
    readPluginArguments(plugins);
    const Json tasks = get(spec_, "tasks");
    for (const Json& task : tasks.is_array() ? tasks : Json::array()) {
      const std::string role = addTask(task);
      if (role.empty()) continue;
      if (!get(task, "dependsOn").is_null())
        note(fmt::format("task {}: dependsOn: all roles start together", role));
      for (const Json& policy : get(task, "policies")) addTaskPolicy(role, policy);
      if (const Json own = get(task, "minAvailable"); !own.is_null() && own != get(task, "replicas"))
        note(fmt::format("task {}: minAvailable: spec.gang.minAvailable counts members of all roles", role));
      if (!get(task, "maxRetry").is_null())
        note(fmt::format("task {}: maxRetry: the whole gang starts again, spec.failure.maxRestarts", role));
      noteRest(task, fmt::format("task {}", role),
               {"name", "replicas", "template", "dependsOn", "policies", "minAvailable", "maxRetry"});
    }
    for (const Json& policy : get(spec_, "policies")) addJobPolicy(policy);
    copy(spec_, "queue", to_, "queue");
    copy(spec_, "priorityClassName", to_, "priorityClassName");
    const Json least = get(spec_, "minAvailable");
    if (!least.is_null() && countOf(least) < members()) to_["gang"]["minAvailable"] = least;
    if (Json restarts = get(spec_, "maxRetry"); !restarts.is_null()) to_["failure"]["maxRestarts"] = restarts;
    if (Json life = get(spec_, "ttlSecondsAfterFinished"); !life.is_null())
      to_["run"]["ttlSecondsAfterFinished"] = life;
    if (aborted_) {
      to_["run"]["suspend"] = true;
      note("it is aborted, until somebody resumes it: run.suspend");
    }
    if (!get(spec_, "networkTopology").is_null())
      note("spec.networkTopology: say how close in spec.locality (required: rack, for example)");
    if (!get(spec_, "volumes").is_null()) note("spec.volumes: write them into the templates");
    if (!get(spec_, "minSuccess").is_null())
      note("spec.minSuccess: spec.success says which roles have to succeed");
    noteRest(spec_, "spec",
             {"plugins", "tasks", "policies", "queue", "priorityClassName", "minAvailable", "maxRetry",
              "ttlSecondsAfterFinished", "networkTopology", "volumes", "minSuccess", "schedulerName"});
    if (plugins.contains("svc"))
      note(
          "plugin svc: members find each other as JOB-ROLE-INDEX.JOB.NAMESPACE.svc; there is no "
          "/etc/volcano; the list "
          "of members is in TRAINYARD's variables (docs/frameworks.md)");
    if (plugins.contains("ssh") && to_["framework"] == "Custom")
      note(
          "plugin ssh: members are given keys with framework MPI or Horovod only: choose one of them, or "
          "bring a "
          "Secret of yours");
    for (const auto& [plugin, arguments] : plugins.items()) {
      static const std::set<std::string> known{"svc", "env", "ssh", "pytorch", "tensorflow", "mpi", "jax"};
      if (known.count(plugin) == 0) note(fmt::format("plugin {}: not carried over", plugin));
    }
    if (plugins.contains("env")) note("plugin env: VC_TASK_INDEX is not set; TRAINYARD_INDEX tells the same");
  }

 private:
  static Json podOf(Json container) {
    Json pod = Json::object();
    pod["spec"]["containers"] = Json::array({std::move(container)});
    return pod;
  }

  // Volcano's plug-ins name the tasks that have a part of their own; here their roles have set names.
  void readPluginArguments(const Json& plugins) {
    if (!plugins.is_object()) return;
    for (const auto& [plugin, arguments] : plugins.items()) {
      for (const Json& each : arguments.is_array() ? arguments : Json::array()) {
        static const re2::RE2 kTask("--(master|worker|chief|ps|evaluator)=(.+)");
        std::string part;
        std::string task;
        if (!re2::RE2::FullMatch(textOf(each), kTask, &part, &task)) {
          note(fmt::format("plugin {}: {}: not carried over", plugin, textOf(each)));
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
    for (const auto& [task, role] : roleOfTask_) taken_.insert(role);
  }

  std::string addTask(const Json& task) {
    const std::string name = textOf(get(task, "name"));
    Json pod = get(task, "template");
    const auto known = roleOfTask_.find(name);
    if (known == roleOfTask_.end()) return addRole(name, get(task, "replicas"), std::move(pod));
    const std::string role = known->second;
    if (role != name) note(fmt::format("task {} is role {}", name, role));
    taken_.erase(role);
    if (to_["framework"] == "MPI" && role == "worker") dropSshServer(pod);
    if (role == kLauncher && pod.dump().find("MPI_HOST") != std::string::npos)
      note(
          "role launcher: MPI_HOST is not set: mpirun finds the hosts by itself, without --host "
          "(docs/frameworks.md)");
    return addRole(role, get(task, "replicas"), std::move(pod));
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
        note("role worker: the operator has sshd started by the first container, not by another one");
      return;
    }
    for (const char* key : {"command", "args"}) pod["spec"]["containers"][0].erase(key);
    note("role worker: its command, which began sshd, is left out: the operator has it started");
  }

  // A job and its pods have one priority, that of the spec.
  void settlePriority() {
    Json roles = to_["roles"];
    Json priority = get(to_, "priorityClassName");
    for (Json& role : roles) {
      Json& spec = role["template"]["spec"];
      const Json own = get(spec, "priorityClassName");
      if (own.is_null()) continue;
      if (priority.is_null()) priority = own;
      if (own != priority)
        note(fmt::format("role {}: priorityClassName {}: not carried over; all members have the job's, {}",
                         textOf(role["name"]), textOf(own), textOf(priority)));
      spec.erase("priorityClassName");
    }
    to_["roles"] = std::move(roles);
    if (!priority.is_null()) to_["priorityClassName"] = std::move(priority);
  }

  // 1 where nothing, or no number that could be one, says how many.
  static std::int64_t countOf(const Json& count) {
    constexpr std::int64_t kMost = 1'000'000;
    if (!count.is_number_integer()) return 1;
    return std::clamp<std::int64_t>(
        count.is_number_unsigned() && count > kMost ? kMost : count.get<std::int64_t>(), 0, kMost);
  }

  [[nodiscard]] std::int64_t members() {
    std::int64_t all = 0;
    for (const Json& role : to_["roles"]) all += countOf(get(role, "replicas"));
    return all;
  }

  // Kueue suspends whoever waits for its turn; nobody would resume it.
  void addSuspend(const Json& suspend, const char* path) {
    if (suspend.is_null()) return;
    if (ofKueue_ && suspend == true)
      return note(fmt::format("{}: left out, as Kueue may have set it; write run.suspend to keep it", path));
    to_["run"]["suspend"] = suspend;
  }

  // One line each, whatever names it quotes: it becomes a comment.
  void note(std::string_view text) {
    std::string line = plainText(text, false);
    for (const char* separator : {"\u2028", "\u2029"}) {
      for (auto at = line.find(separator); at != std::string::npos; at = line.find(separator))
        line.replace(at, 3, " ");
    }
    notes_.push_back(std::move(line));
  }

  // What no line above has read: nothing gets lost in silence.
  void noteRest(const Json& object, const std::string& path, const std::set<std::string>& read) {
    if (!object.is_object()) return;
    for (const auto& [key, value] : object.items()) {
      if (read.count(key) == 0 && !value.is_null()) note(fmt::format("{}.{}: not carried over", path, key));
    }
  }

  static std::string framework(const Json& plugins) {
    for (const auto& [plugin, name] : {std::pair{"pytorch", "PyTorch"}, std::pair{"tensorflow", "TensorFlow"},
                                       std::pair{"mpi", "MPI"}, std::pair{"jax", "JAX"}}) {
      if (plugins.contains(plugin)) return name;
    }
    return "Custom";
  }

  // [a-z][a-z0-9]*, at most 16: pods are named JOB-ROLE-INDEX.
  std::string roleName(const std::string& original) {
    std::string name;
    for (const char each : original) {
      const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
      const bool digit = letter >= '0' && letter <= '9';
      if ((letter >= 'a' && letter <= 'z') || (digit && !name.empty())) name += letter;
    }
    name = name.substr(0, kRoleLetters);
    if (name.empty()) name = "task";
    std::string unique = name;
    for (int next = 2; !taken_.insert(unique).second; ++next)
      unique = name.substr(0, kRoleLetters - 2) + std::to_string(next);
    return unique;
  }

  // The role's name; empty where it would have no members.
  std::string addRole(const std::string& original, const Json& replicas, Json pod) {
    if (replicas == 0) {
      note(fmt::format("task {} has no replicas: left out", original));
      return "";
    }
    const std::string name = roleName(original);
    if (name != original && !original.empty() &&
        !std::equal(name.begin(), name.end(), original.begin(), original.end(),
                    [](char a, char b) { return a == std::tolower(b); }))
      note(fmt::format("task {} is role {}: names of roles have letters and digits only", original, name));
    if (!pod.is_object()) pod = Json::object();
    dropRefused(name, pod);
    Json role = Json::object();
    role["name"] = name;
    role["replicas"] = replicas.is_number_integer() ? replicas : Json(1);
    role["template"] = std::move(pod);
    to_["roles"].push_back(std::move(role));
    return name;
  }

  // What a template may not have (codec/pod_template.h).
  void dropRefused(const std::string& role, Json& pod) {
    const auto drop = [&](Json& from, const char* path, const char* key) {
      if (from.is_object() && from.erase(key) > 0)
        note(fmt::format("role {}: {}.{}: not carried over; it is the operator's to set", role, path, key));
    };
    if (pod.contains("metadata")) drop(pod["metadata"], "template.metadata", "finalizers");
    Json& spec = pod["spec"];
    if (!spec.is_object()) return;
    for (const char* key : {"restartPolicy", "schedulerName"}) spec.erase(key);
    for (const char* key : {"nodeName", "hostname", "subdomain", "preemptionPolicy", "schedulingGates"})
      drop(spec, "template.spec", key);
  }

  void addElastic(const Json& policy, const Json& replicas) {
    Json elastic = Json::object();
    elastic["role"] = "worker";
    const Json size = replicas.is_number_integer() ? replicas : Json(1);
    elastic["replicas"] = size;
    elastic["minReplicas"] = get(policy, "minReplicas").is_null() ? size : get(policy, "minReplicas");
    elastic["maxReplicas"] = get(policy, "maxReplicas").is_null() ? size : get(policy, "maxReplicas");
    to_["elastic"] = std::move(elastic);
    if (Json restarts = get(policy, "maxRestarts"); !restarts.is_null())
      to_["failure"]["maxRestarts"] = restarts;
    for (const char* key : {"metrics", "rdzvBackend", "rdzvHost", "rdzvPort", "rdzvConf"}) {
      if (!get(policy, key).is_null())
        note(fmt::format(
            "spec.elasticPolicy.{}: not carried over; the rendezvous is c10d at rank 0, and who grows is "
            "decided by Trainyard",
            key));
    }
    noteRest(policy, "spec.elasticPolicy",
             {"minReplicas", "maxReplicas", "maxRestarts", "metrics", "rdzvBackend", "rdzvHost", "rdzvPort",
              "rdzvConf"});
  }

  void addRunPolicy(const Json& run) {
    for (const char* key : {"cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds"}) {
      if (Json value = get(run, key); !value.is_null()) to_["run"][key] = value;
    }
    addSuspend(get(run, "suspend"), "runPolicy.suspend");
    if (Json limit = get(run, "backoffLimit");
        !limit.is_null() && !get(to_, "failure").contains("maxRestarts"))
      to_["failure"]["maxRestarts"] = limit;
    const Json scheduling = get(run, "schedulingPolicy");
    if (get(to_, "queue").is_null()) copy(scheduling, "queue", to_, "queue");
    copy(scheduling, "priorityClass", to_, "priorityClassName");
    if (Json seconds = get(scheduling, "scheduleTimeoutSeconds"); !seconds.is_null())
      to_["scheduling"]["timeoutSeconds"] = seconds;
    if (const Json least = get(scheduling, "minAvailable"); !least.is_null()) {
      if (get(to_, "elastic").is_null()) {
        if (countOf(least) < members()) to_["gang"]["minAvailable"] = least;
      } else {
        note("runPolicy.schedulingPolicy.minAvailable: spec.elastic says how small the job may be");
      }
    }
    noteRest(run, "runPolicy",
             {"cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "suspend", "backoffLimit",
              "schedulingPolicy"});
    noteRest(scheduling, "runPolicy.schedulingPolicy",
             {"queue", "priorityClass", "scheduleTimeoutSeconds", "minAvailable"});
  }

  void noteRestarts(const Json& policy, const char* who) {
    const std::string text = textOf(policy);
    if (text == "ExitCode")
      note(fmt::format(
          "{}: restartPolicy ExitCode: failures are told apart by class; spec.failure.rules has exit codes",
          who));
    if (text == "Never") {
      neverAgain_ = true;
      note(fmt::format(
          "{}: restartPolicy Never became failure.maxRestarts: 0, unless the job has a limit of its own; "
          "stops for other jobs and drained nodes are not counted",
          who));
    }
    if (text == "Always")
      note(fmt::format("{}: restartPolicy Always: a member that ends with 0 has succeeded", who));
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

  void addTaskPolicy(const std::string& role, const Json& policy) {
    const std::string event = eventOf(policy);
    const std::string action = textOf(get(policy, "action"));
    if (event == "TaskCompleted" && action == "CompleteJob") {
      to_["success"]["roles"].push_back(role);
      return;
    }
    note(fmt::format("task {}: policy {} → {}: see spec.failure", role, event, action));
    notePolicy(policy, fmt::format("task {}: policy {}", role, event));
  }

  void addJobPolicy(const Json& policy) {
    const std::string event = eventOf(policy);
    const std::string action = textOf(get(policy, "action"));
    // What happens here anyway.
    const bool usual = action == "RestartJob" && (event == "PodEvicted" || event == "PodFailed");
    if (!usual) note(fmt::format("policy {} → {}: see spec.failure and docs/failures.md", event, action));
    notePolicy(policy, fmt::format("policy {}", event));
  }

  void notePolicy(const Json& policy, const std::string& path) {
    noteRest(policy, path, {"event", "events", "exitCode", "action"});
  }

  Json spec_;
  bool aborted_;
  Json result_ = Json::object();
  Json to_ = Json::object();
  std::vector<std::string> notes_;
  std::set<std::string> taken_;
  std::map<std::string, std::string> roleOfTask_;  // those that a plug-in names
  bool ofKueue_ = false;
  bool neverAgain_ = false;
};

}  // namespace

base::Result<Converted> convertJob(const std::string& json) {
  const ForeignJob source = foreignJob(json);
  if (!source.known) {
    return base::fail(
        base::ErrorCode::kInvalid,
        fmt::format("{} of {} cannot be converted: only Job of batch.volcano.sh, PyTorchJob of kubeflow.org "
                    "and TrainJob of trainer.kubeflow.org",
                    source.kind.empty() ? "an object without kind" : source.kind, source.group));
  }
  try {
    Converter converter(Json::parse(json, nullptr, false));
    if (source.kind == "PyTorchJob") converter.fromPyTorchJob();
    if (source.kind == "TrainJob") converter.fromTrainJob();
    if (source.kind == "Job") converter.fromVolcano();
    return converter.finish();
  } catch (const Json::exception& error) {
    // A list where an object belongs, for instance: its own API server would have refused it.
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{} is not well-formed: {}", source.kind, error.what()));
  }
}

}  // namespace trainyard::cli
