#include <utility>

#include <fmt/format.h>

#include "cli/convert/draft.h"
#include "cli/convert/ray_start.h"

namespace trainyard::cli {
namespace {

constexpr const char* kKubeRay = "ray.io/kuberay-operator";
constexpr const char* kOwnCommand = "ray.io/overwrite-container-cmd";
constexpr const char* kShared = "/dev/shm";
constexpr const char* kGcsPort = "6379";

class RayRoles {
 public:
  // `submit`: what the head runs when Ray has started; empty: nothing.
  RayRoles(const Json& source, Json cluster, std::string submit, JobDraft& draft)
      : cluster_(std::move(cluster)),
        ownCommands_(get(source, "metadata", "annotations", kOwnCommand) == "true"),
        submit_(std::move(submit)),
        draft_(draft),
        notes_(draft.notes()) {}

  void add() {
    draft_.spec()["framework"] = "Custom";
    addGroup("head", Json(1), get(cluster_, "headGroupSpec"), "headGroupSpec");
    for (const Json& each : listOf(get(cluster_, "workerGroupSpecs"))) {
      const std::string name = textOf(get(each, "groupName"));
      addGroup(name, sizeOf(each), each, fmt::format("group {}", name));
      notes_.noteUnknown(each, "cluster.workerGroupSpecs[]", fmt::format("group {}", name));
    }
    notes_.noteUnknown(get(cluster_, "headGroupSpec"), "cluster.headGroupSpec", "headGroupSpec");
    Json rest = cluster_;
    for (const char* key : {"headGroupSpec", "workerGroupSpecs"}) rest.erase(key);
    notes_.noteUnknown(rest, "cluster", "the RayCluster");
    draft_.set("success", "roles", Json::array({"head"}));
    noteCluster();
  }

 private:
  static Json sizeOf(const Json& group) {
    Json replicas = get(group, "replicas");
    if (replicas.is_null())
      replicas = get(group, "minReplicas").is_null() ? Json(0) : get(group, "minReplicas");
    const Json hosts = get(group, "numOfHosts");
    if (replicas.is_number_integer() && hosts.is_number_integer())
      return Json(countOf(replicas) * countOf(hosts));
    return replicas;
  }

  void addGroup(const std::string& name, const Json& replicas, const Json& group, const std::string& origin) {
    Json pod = get(group, "template");
    const bool isHead = name == "head";
    const Json containers = listOf(get(pod, "spec", "containers"));
    if (containers.empty()) return notes_.cannotWork(fmt::format("{}: has no container", origin));
    setCommand(pod["spec"]["containers"][0], group, isHead, origin);
    addSharedMemory(pod);
    RoleDraft* role = draft_.roles().add(name, replicas, std::move(pod));
    if (role == nullptr) return;
    const std::string head = draft_.hostOf("head", 0);
    const std::string address = fmt::format("{}:{}", isHead ? "127.0.0.1" : head, kGcsPort);
    role->variables.emplace_back("RAY_ADDRESS", address);
    role->variables.emplace_back("RAY_PORT", kGcsPort);
    if (!isHead) {
      role->variables.emplace_back("FQ_RAY_IP", head);
      role->variables.emplace_back("RAY_IP", head);
    }
  }

  void setCommand(Json& container, const Json& group, bool isHead, const std::string& origin) {
    const std::string head = isHead ? "" : fmt::format("{}:{}", draft_.hostOf("head", 0), kGcsPort);
    const bool block = !isHead || submit_.empty();
    std::string command = rayStartCommand(get(group, "rayStartParams"), container, head, block);
    std::string own;
    for (const char* key : {"command", "args"}) {
      for (const Json& word : listOf(get(container, key))) own += (own.empty() ? "" : " ") + valueText(word);
    }
    if (ownCommands_ || own.find("ray start") != std::string::npos) {
      notes_.cannotWork(fmt::format("{}: its own command starts Ray: write the head's address, {}, into it{}",
                                    origin, draft_.hostOf("head", 0),
                                    isHead && !submit_.empty() ? ", and the entrypoint" : ""));
      return;
    }
    if (!isHead)
      command = fmt::format("until ray health-check --address {} >/dev/null 2>&1; do sleep 5; done; exec {}",
                            head, command);
    if (isHead && !submit_.empty()) command += " && " + submit_;
    command = "ulimit -n 65536; " + command;
    if (!own.empty()) command = fmt::format("{} && {{ {}; }}", own, command);
    container["command"] = Json::array({"/bin/bash", "-c", "--"});
    container["args"] = Json::array({command});
    const Json limits = get(container, "resources", "limits");
    for (const auto& [name, value] : limits.items()) {
      if (name == "google.com/tpu" || name.starts_with("aws.amazon.com/neuron"))
        notes_.changed(
            fmt::format("{}: resource {}: write it into rayStartParams.resources: Ray is not given it here",
                        origin, name));
    }
  }

  // KubeRay mounts it, because Ray's object store is there.
  static void addSharedMemory(Json& pod) {
    Json& container = pod["spec"]["containers"][0];
    Json mounts = listOf(get(container, "volumeMounts"));
    for (const Json& each : mounts) {
      if (get(each, "mountPath") == kShared) return;
    }
    Json mount = Json::object();
    mount["name"] = "shared-mem";
    mount["mountPath"] = kShared;
    mounts.push_back(std::move(mount));
    container["volumeMounts"] = std::move(mounts);
    Json volume = Json::object();
    volume["name"] = "shared-mem";
    volume["emptyDir"]["medium"] = "Memory";
    if (const Json memory = get(container, "resources", "limits", "memory"); !memory.is_null())
      volume["emptyDir"]["sizeLimit"] = memory;
    Json volumes = listOf(get(pod, "spec", "volumes"));
    volumes.push_back(std::move(volume));
    pod["spec"]["volumes"] = std::move(volumes);
  }

  void noteCluster() {
    notes_.kept("`ray start` is in the commands, /dev/shm in memory in the templates");
    if (get(cluster_, "enableInTreeAutoscaling") == true)
      notes_.changed("enableInTreeAutoscaling: the job keeps its size");
    if (draft_.mentions("-head-svc"))
      notes_.cannotWork(fmt::format("a program names the Service of the head: write {} in its place",
                                    draft_.hostOf("head", 0)));
    const std::string manager = textOf(get(cluster_, "managedBy"));
    if (!manager.empty() && manager != kKubeRay)
      notes_.lost(fmt::format("managedBy {}: not carried over; see spec.managedBy", manager));
  }

  const Json cluster_;
  const bool ownCommands_;
  const std::string submit_;
  JobDraft& draft_;
  ConversionNotes& notes_;
};

// Workers start again for ever.
void writeRayFailures(bool headToo, JobDraft& draft) {
  for (const RoleDraft& role : draft.roles())
    draft.failures().role(role.name, role.name == "head" && !headToo ? OnFailure::kEnd : OnFailure::kRestart);
  draft.failures().memberOnly();
  draft.notes().kept(
      fmt::format("a {} that fails starts again alone (spec.failure)", headToo ? "member" : "worker"));
}

}  // namespace

void draftRayCluster(const Json& source, JobDraft& draft) {
  const Json spec = get(source, "spec");
  RayRoles(source, spec, "", draft).add();
  draft.addSuspend(get(spec, "suspend"), "spec.suspend");
  writeRayFailures(true, draft);
  draft.notes().changed("a RayCluster has no end: the job has succeeded when its head ends");
}

void draftRayJob(const Json& source, JobDraft& draft) {
  const Json spec = get(source, "spec");
  ConversionNotes& notes = draft.notes();
  const std::string submit = raySubmitCommand(spec);
  if (submit.empty()) notes.cannotWork("spec.runtimeEnvYAML: is no YAML");
  RayRoles(source, get(spec, "rayClusterSpec"), submit, draft).add();
  notes.noteUnknown(spec, "spec", "spec");
  draft.addSuspend(get(spec, "suspend"), "spec.suspend");
  const Json limit = get(spec, "backoffLimit");
  const bool retries = !limit.is_null() && limit != 0;
  writeRayFailures(retries, draft);
  if (retries)
    notes.changed(fmt::format(
        "backoffLimit {}: the head starts again without this limit, beside the same workers; KubeRay "
        "makes a new cluster",
        valueText(limit)));
  for (const char* key : {"activeDeadlineSeconds", "ttlSecondsAfterFinished"}) {
    if (Json value = get(spec, key); !value.is_null()) draft.set("run", key, std::move(value));
  }
  if (!get(spec, "ttlSecondsAfterFinished").is_null())
    notes.changed("ttlSecondsAfterFinished: spec.run.ttlSecondsAfterFinished deletes the TrainingJob, too");
  if (get(spec, "shutdownAfterJobFinishes") != true)
    notes.changed("shutdownAfterJobFinishes false: workers are deleted when the job has ended");
  if (get(spec, "submissionMode") == "InteractiveMode")
    notes.cannotWork(
        "submissionMode InteractiveMode: a user submits the entrypoint: convert the RayCluster alone");
  for (const char* key : {"submitterPodTemplate", "submitterConfig"}) {
    if (!get(spec, key).is_null())
      notes.lost(fmt::format("spec.{}: not carried over: the head submits", key));
  }
}

}  // namespace trainyard::cli
