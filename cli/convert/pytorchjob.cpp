#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/convert/draft.h"
#include "cli/convert/scratch.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

constexpr const char* kDefaultPort = "23456";
constexpr const char* kPortName = "pytorchjob-port";
constexpr const char* kRendezvousPort = "29400";
constexpr const char* kOperator = "kubeflow.org/training-operator";

bool sameIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
         });
}

bool hasGpus(const Json& pod) {
  for (const Json& container : listOf(get(pod, "spec", "containers"))) {
    for (const char* part : {"limits", "requests"}) {
      if (!get(container, "resources", part, std::string(model::names::kGpuResource).c_str()).is_null())
        return true;
    }
  }
  return false;
}

class PyTorchJob {
 public:
  PyTorchJob(const Json& source, JobDraft& draft)
      : spec_(get(source, "spec")),
        run_(get(spec_, "runPolicy")),
        elastic_(get(spec_, "elasticPolicy")),
        draft_(draft),
        notes_(draft.notes()) {}

  void draft() {
    draft_.spec()["framework"] = "PyTorch";
    for (const char* name : {"Master", "Worker"}) addReplicas(name);
    notes_.noteUnknown(spec_, "spec", "spec");
    if (!elastic_.is_null()) addElastic();
    noteRestarts();
    addProcesses();
    addRendezvous();
    addRunPolicy();
    addSuccess();
    addMemberNames();
    addOverwritten();
    notes_.kept("RANK, MASTER_ADDR and PET_* are set by the operator (docs/frameworks.md)");
  }

 private:
  // Kubeflow accepts the keys in any case.
  void addReplicas(const char* name) {
    Json one;
    const Json specs = get(spec_, "pytorchReplicaSpecs");
    for (const auto& [key, value] : specs.items()) {
      if (sameIgnoringCase(key, name)) one = value;
      if (sameIgnoringCase(name, "Worker") && !sameIgnoringCase(key, "Master") &&
          !sameIgnoringCase(key, "Worker"))
        notes_.lost(fmt::format("spec.pytorchReplicaSpecs.{}: not carried over", key));
    }
    if (one.is_null()) return;
    Json replicas = get(one, "replicas");
    // The workers are scaled to 0 at present.
    if (!elastic_.is_null() && sameIgnoringCase(name, "Worker") && replicas == 0) {
      const Json minimum = get(elastic_, "minReplicas");
      replicas = minimum.is_number_integer() && minimum > 0 ? minimum : Json(1);
      notes_.changed("Worker.replicas is 0: the job begins with elasticPolicy.minReplicas");
    }
    notes_.noteUnknown(one, "spec.pytorchReplicaSpecs.*", fmt::format("spec.pytorchReplicaSpecs.{}", name));
    const RoleDraft* role = draft_.roles().add(name, replicas, get(one, "template"));
    if (role != nullptr) addRestarts(get(one, "restartPolicy"), *role);
  }

  void addRestarts(const Json& policy, const RoleDraft& role) {
    const std::string text = policy.is_null() ? "OnFailure" : textOf(policy);
    if (text == "Never") {
      draft_.failures().role(role.name, OnFailure::kEnd);
      notes_.kept(
          fmt::format("{}: restartPolicy Never: a failure ends the job (spec.failure); preemption and lost "
                      "nodes are not failures",
                      role.original));
    } else if (text == "ExitCode") {
      draft_.failures().role(role.name, OnFailure::kByExitCode);
      notes_.kept(fmt::format("{}: restartPolicy ExitCode: spec.failure.rules restart codes from 128 on",
                              role.original));
    } else {
      draft_.failures().role(role.name, OnFailure::kRestart);
      restarts_.emplace_back(role.original, text);
      noteScratch(role, draft_);  // a container that the kubelet restarts keeps the pod's volumes
      if (text == "Always")
        notes_.changed(
            fmt::format("{}: restartPolicy Always: a member that ends with 0 has succeeded", role.original));
    }
  }

  void noteRestarts() {
    for (const auto& [role, policy] : restarts_)
      notes_.kept(fmt::format(
          "{}: restartPolicy {}: spec.failure counts every failure, whatever its class, and {} again; "
          "without rules "
          "hopeless failures end at once",
          role, policy, memberOnly_ ? "the failed member alone starts" : "the whole gang starts"));
  }

  // Surviving members continue, and torchrun meets at c10d, as in Kubeflow.
  void restartMembers() {
    memberOnly_ = true;
    draft_.failures().memberOnly();
  }

  // Returns true if the command has a fixed number of nodes: no range, and not torchrun's own variable.
  [[nodiscard]] bool fixesNodes(const RoleDraft& role) const {
    static const re2::RE2 kFlag(R"re(--?(?:nnodes|num[-_]machines|num[-_]nodes)(?:=|\s+)["']?([^\s"']+))re");
    static const re2::RE2 kRange(R"(\d+:\d+)");
    static const re2::RE2 kOwn(R"(\$[({]?PET_NNODES[)}]?)");
    std::string all;
    for (const Json& container : listOf(get(role.pod, "spec", "containers"))) {
      for (const char* key : {"command", "args"}) {
        for (const Json& word : listOf(get(container, key))) all += valueText(word) + " ";
      }
    }
    std::string value;
    if (re2::RE2::PartialMatch(all, kFlag, &value))
      return !re2::RE2::FullMatch(value, kRange) && !re2::RE2::FullMatch(value, kOwn);
    return false;
  }

  // Kubeflow resizes a job only by an autoscaler, which it creates only if `metrics` is set.
  void addElastic() {
    addTorchOptions();
    const RoleDraft* worker = draft_.roles().find("worker");
    if (worker == nullptr) return;
    const Json size = worker->replicas;
    const Json minimum = get(elastic_, "minReplicas").is_null() ? size : get(elastic_, "minReplicas");
    const Json most = get(elastic_, "maxReplicas").is_null() ? size : get(elastic_, "maxReplicas");
    // torchrun starts with `minimum` nodes, and continues with them when others are lost.
    const bool bounded = !get(elastic_, "minReplicas").is_null() && !get(elastic_, "maxReplicas").is_null();
    const std::string nodes =
        bounded ? fmt::format("{}:{}", valueText(minimum), valueText(most)) : valueText(size);
    if (get(elastic_, "metrics").is_null()) {
      if (minimum != most || most != size)
        notes_.kept(
            fmt::format("elasticPolicy: the job keeps its {} workers: Kubeflow resizes with metrics only; "
                        "torchrun goes on "
                        "with fewer by PET_NNODES {}, as there",
                        valueText(size), nodes));
      setEverywhere("PET_NNODES", nodes);
      restartMembers();
      return;
    }
    if (fixesNodes(*worker)) {
      notes_.changed(fmt::format(
          "elasticPolicy.metrics: the job keeps its {} workers: the command fixes the number of nodes",
          valueText(size)));
      setEverywhere("PET_NNODES", nodes);
      restartMembers();
      return;
    }
    Json elastic = Json::object();
    elastic["role"] = "worker";
    elastic["replicas"] = size;
    elastic["minReplicas"] = minimum;
    elastic["maxReplicas"] = most;
    draft_.spec()["elastic"] = std::move(elastic);
    notes_.changed("elasticPolicy.metrics: not carried over; Trainyard resizes the job by free capacity");
  }

  void addTorchOptions() {
    if (const std::string restarts = valueText(get(elastic_, "maxRestarts")); !restarts.empty())
      setEverywhere("PET_MAX_RESTARTS", restarts);
    const std::string backend = textOf(get(elastic_, "rdzvBackend"));
    const std::string host = textOf(get(elastic_, "rdzvHost"));
    const std::string port = valueText(get(elastic_, "rdzvPort"));
    if (!backend.empty() && backend != "c10d") setEverywhere("PET_RDZV_BACKEND", backend);
    if (!host.empty() || !port.empty()) {
      const std::string at = host.empty() ? "$(TRAINYARD_COORDINATOR)" : host;
      setEverywhere("PET_RDZV_ENDPOINT", fmt::format("{}:{}", at, port.empty() ? kRendezvousPort : port));
    }
    if (const std::string id = valueText(get(elastic_, "rdzvId")); !id.empty())
      setEverywhere("PET_RDZV_ID", id);
    std::string conf;
    for (const Json& each : listOf(get(elastic_, "rdzvConf"))) {
      conf += fmt::format("{}{}={}", conf.empty() ? "" : ",", textOf(get(each, "key")),
                          valueText(get(each, "value")));
    }
    if (!conf.empty()) setEverywhere("PET_RDZV_CONF", conf);
    if (get(elastic_, "standalone") == true)
      notes_.lost("elasticPolicy.standalone: write --standalone into the command");
  }

  // WORLD_SIZE is the number of nodes times processes; torchrun reads the number of processes.
  void addProcesses() {
    const std::string processes = this->processes();
    static const re2::RE2 kNumber("[0-9]{1,6}");
    const bool number = re2::RE2::FullMatch(processes, kNumber);
    for (RoleDraft& role : draft_.roles()) {
      if (!processes.empty())
        role.variables.emplace_back("PET_NPROC_PER_NODE", processes);
      else if (!hasGpus(role.pod))
        role.variables.emplace_back("PET_NPROC_PER_NODE", "auto");
    }
    if (!processes.empty() && !hasMaster())
      return notes_.kept(fmt::format("nprocPerNode {}: variable PET_NPROC_PER_NODE", processes));
    if (isPlaceholder(Json(processes)))
      notes_.changed(
          fmt::format("nprocPerNode {}: WORLD_SIZE is the number of pods; in Kubeflow it is that times {}",
                      processes, processes));
    if (!number || processes == "1") return;
    if (!draft_.roles().sizesKnown() || draft_.spec().contains("elastic")) {
      notes_.changed(
          fmt::format("nprocPerNode {}: WORLD_SIZE is the number of pods: it is {} times that in Kubeflow",
                      processes, processes));
      return;
    }
    setEverywhere("WORLD_SIZE", std::to_string(draft_.roles().members() * std::stoll(processes)));
    notes_.kept(fmt::format("nprocPerNode {}: variables PET_NPROC_PER_NODE and WORLD_SIZE", processes));
  }

  void addRendezvous() {
    std::string port = kDefaultPort;
    for (const RoleDraft& role : draft_.roles()) {
      for (const Json& container : listOf(get(role.pod, "spec", "containers"))) {
        for (const Json& each : listOf(get(container, "ports"))) {
          if (textOf(get(each, "name")) == kPortName && !valueText(get(each, "containerPort")).empty())
            port = valueText(get(each, "containerPort"));
        }
      }
    }
    setEverywhere("MASTER_PORT", port);
    setEverywhere("PET_MASTER_PORT", port);
  }

  void addRunPolicy() {
    Json policy = get(run_, "cleanPodPolicy");
    if (policy.is_null()) policy = "None";
    draft_.set("run", "cleanPodPolicy", policy);
    const RoleDraft* worker = draft_.roles().find("worker");
    const bool outlives = draft_.roles().find("master") != nullptr || !elastic_.is_null();
    if (policy == "None" && worker != nullptr && outlives && draft_.roles().members() > 1 &&
        hasGpus(worker->pod))
      notes_.changed(
          "cleanPodPolicy None: workers that still run when the job has succeeded are deleted, as they hold "
          "GPUs; "
          "Kubeflow lets them end by themselves (spec.success.roles has all roles wait)");
    for (const char* key : {"ttlSecondsAfterFinished", "activeDeadlineSeconds"}) {
      if (Json value = get(run_, key); !value.is_null()) draft_.set("run", key, value);
    }
    draft_.addSuspend(get(run_, "suspend"), "runPolicy.suspend");
    if (Json limit = get(run_, "backoffLimit"); !limit.is_null()) draft_.failures().limit(std::move(limit));
    const std::string manager = textOf(get(run_, "managedBy"));
    if (!manager.empty() && manager != kOperator)
      notes_.lost(fmt::format("runPolicy.managedBy {}: not carried over; see spec.managedBy", manager));
    addScheduling(get(run_, "schedulingPolicy"));
  }

  void addScheduling(const Json& scheduling) {
    draft_.takeQueue(get(scheduling, "queue"), "runPolicy.schedulingPolicy.queue");
    copy(scheduling, "priorityClass", draft_.spec(), "priorityClassName");
    if (const Json minimum = get(scheduling, "minAvailable"); !minimum.is_null() && minimum != 0) {
      if (!get(draft_.spec(), "elastic").is_null()) {
        notes_.changed("runPolicy.schedulingPolicy.minAvailable: spec.elastic bounds the size of the job");
      } else if (countOf(minimum) < draft_.roles().members() || !minimum.is_number_integer()) {
        draft_.set("gang", "minAvailable", minimum);
      }
    }
    if (!get(scheduling, "scheduleTimeoutSeconds").is_null())
      notes_.kept(
          "runPolicy.schedulingPolicy.scheduleTimeoutSeconds: left out: no part of a gang holds nodes");
  }

  // An elastic job without a master succeeds with the first of its workers.
  void addSuccess() {
    if (elastic_.is_null() || draft_.roles().find("master") != nullptr || draft_.roles().members() < 2)
      return;
    draft_.set("success", "operator", "Any");
    draft_.set("success", "roles", Json::array({"worker"}));
    notes_.kept("elasticPolicy: the job has succeeded when one worker has (spec.success)");
  }

  // Kubeflow creates a Service for the name of each pod.
  void addMemberNames() {
    const std::string own = draft_.name().empty() ? "" : re2::RE2::QuoteMeta(draft_.name()) + "|";
    const std::string member =
        fmt::format(R"(({}\$\w+|\$[{{(]\w+[^\s)}}]*[)}}])-(master|worker)-(\d+|\$))", own);
    if (!draft_.mentions(member)) return;
    draft_.set("gang", "memberServices", true);
    notes_.kept("names such as JOB-master-0 are host names: a Service for each member (gang.memberServices)");
  }

  // Kubeflow appends its variables to the template's, and the last one of a name counts.
  void addOverwritten() {
    std::set<std::string> names{"PET_NNODES"};
    if (hasMaster())
      names.insert({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT",
                    "PET_NODE_RANK"});
    if (!processes().empty()) names.insert("PET_NPROC_PER_NODE");
    if (!elastic_.is_null()) names.insert({"PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT"});
    for (const auto& [field, name] : {std::pair{"maxRestarts", "PET_MAX_RESTARTS"},
                                      {"rdzvId", "PET_RDZV_ID"},
                                      {"rdzvConf", "PET_RDZV_CONF"}}) {
      if (!get(elastic_, field).is_null()) names.insert(name);
    }
    for (RoleDraft& role : draft_.roles()) role.overwritten = names;
  }

  [[nodiscard]] bool hasMaster() const { return draft_.roles().find("master") != nullptr; }

  [[nodiscard]] std::string processes() const {
    const std::string text = valueText(get(spec_, "nprocPerNode"));
    return text.empty() ? valueText(get(elastic_, "nProcPerNode")) : text;
  }

  void setEverywhere(const std::string& name, const std::string& value) {
    for (RoleDraft& role : draft_.roles()) role.variables.emplace_back(name, value);
  }

  const Json spec_;
  const Json run_;
  const Json elastic_;
  JobDraft& draft_;
  ConversionNotes& notes_;
  bool memberOnly_ = false;
  std::vector<std::pair<std::string, std::string>> restarts_;  // roles and their restartPolicy
};

}  // namespace

void draftPyTorchJob(const Json& source, JobDraft& draft) { PyTorchJob(source, draft).draft(); }

}  // namespace trainyard::cli
