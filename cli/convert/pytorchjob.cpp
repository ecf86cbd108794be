#include <set>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/convert/draft.h"
#include "cli/convert/kubeflow_job.h"

namespace trainyard::cli {
namespace {

constexpr const char* kDefaultPort = "23456";
constexpr const char* kPortName = "pytorchjob-port";
constexpr const char* kRendezvousPort = "29400";

constexpr KubeflowKind kKind{"pytorchReplicaSpecs", "OnFailure"};

class PyTorchJob {
 public:
  PyTorchJob(const Json& source, JobDraft& draft)
      : spec_(get(source, "spec")),
        elastic_(get(spec_, "elasticPolicy")),
        draft_(draft),
        notes_(draft.notes()),
        job_(kKind, startingSpec(), draft) {}

  void draft() {
    draft_.spec()["framework"] = "PyTorch";
    job_.addRoles({"Master", "Worker"});
    if (!elastic_.is_null()) addElastic();
    job_.noteRestarts(memberOnly_);
    addProcesses();
    addRendezvous();
    job_.addRunPolicy(hasMaster() || !elastic_.is_null());
    addSuccess();
    job_.addMemberNames("master|worker");
    addOverwritten();
    notes_.kept("RANK, MASTER_ADDR and PET_* are set by the operator (docs/frameworks.md)");
  }

 private:
  // An elastic job whose workers are scaled to 0 at present begins with the minimum.
  Json startingSpec() {
    Json spec = spec_;
    if (elastic_.is_null() || !get(spec, kKind.specs).is_object()) return spec;
    for (auto& [key, part] : spec[kKind.specs].items()) {
      if ((key.front() != 'W' && key.front() != 'w') || get(part, "replicas") != 0) continue;
      const Json minimum = get(elastic_, "minReplicas");
      part["replicas"] = minimum.is_number_integer() && minimum > 0 ? minimum : Json(1);
      notes_.changed("Worker.replicas is 0: the job begins with elasticPolicy.minReplicas");
    }
    return spec;
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
      else if (!namesGpus(role.pod))
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
    const std::string port = job_.portOf(kPortName, kDefaultPort);
    setEverywhere("MASTER_PORT", port);
    setEverywhere("PET_MASTER_PORT", port);
  }

  // An elastic job without a master succeeds with the first of its workers.
  void addSuccess() {
    if (elastic_.is_null() || draft_.roles().find("master") != nullptr || draft_.roles().members() < 2)
      return;
    draft_.set("success", "operator", "Any");
    draft_.set("success", "roles", Json::array({"worker"}));
    notes_.kept("elasticPolicy: the job has succeeded when one worker has (spec.success)");
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
  const Json elastic_;
  JobDraft& draft_;
  ConversionNotes& notes_;
  KubeflowJob job_;
  bool memberOnly_ = false;
};

}  // namespace

void draftPyTorchJob(const Json& source, JobDraft& draft) { PyTorchJob(source, draft).draft(); }

}  // namespace trainyard::cli
