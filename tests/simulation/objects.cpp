#include "simulation/objects.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "model/names.h"

namespace trainyard::simulation {
namespace {

using Json = nlohmann::json;

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

void askOfNodes(Json& pod, const JobPlan& plan) {
  Json& spec = pod["spec"];
  switch (plan.wish) {
    case NodeConstraint::kNone: return;
    case NodeConstraint::kRack: spec["nodeSelector"] = {{kRackLabel, "r0"}}; return;
    case NodeConstraint::kOtherRack: {
      const Json other = {{"key", kRackLabel}, {"operator", "NotIn"}, {"values", {"r0"}}};
      const Json term = {{"matchExpressions", Json::array({other})}};
      spec["affinity"]["nodeAffinity"][kRequired]["nodeSelectorTerms"] = Json::array({term});
      return;
    }
    case NodeConstraint::kTolerates: {
      const Json toleration = {{"key", kMaintenanceTaint}, {"operator", "Exists"}};
      spec["tolerations"] = Json::array({toleration});
      return;
    }
    case NodeConstraint::kApart: {
      const Json own = {{"app", plan.name}};
      const Json term = {{"labelSelector", {{"matchLabels", own}}},
                         {"topologyKey", "kubernetes.io/hostname"}};
      pod["metadata"]["labels"] = own;
      spec["affinity"]["podAntiAffinity"][kRequired] = Json::array({term});
    }
  }
}

Json podTemplate(int gpus, const JobPlan& plan, const std::string& image, bool asksCpu) {
  Json resources = {{"requests", {{"memory", "1Gi"}}}};
  if (asksCpu) resources["requests"]["cpu"] = "1";
  if (gpus > 0) resources["limits"] = {{std::string(model::names::kGpuResource), std::to_string(gpus)}};
  Json pod = {{"metadata",
               {{"annotations",
                 {{"sim.trainyard.dev/leave-for", plan.leaveFor},
                  {"sim.trainyard.dev/run-for", std::to_string(plan.runFor.count()) + "ms"},
                  {"sim.trainyard.dev/exit-code", std::to_string(plan.exitCode)},
                  {"sim.trainyard.dev/log", plan.log}}}}},
              {"spec",
               {{"terminationGracePeriodSeconds", 5},
                {"containers", {{{"name", "main"}, {"image", image}, {"resources", resources}}}}}}};
  askOfNodes(pod, plan);
  return pod;
}

Json roles(const JobPlan& plan, const std::string& image, bool asksCpu) {
  Json list = Json::array();
  for (const RolePlan& role : plan.roles) {
    list.push_back({{"name", role.name},
                    {"replicas", role.replicas},
                    {"template", podTemplate(role.gpus, plan, image, asksCpu)}});
  }
  return list;
}

Json gang(const JobPlan& plan) {
  int members = 0;
  for (const RolePlan& role : plan.roles) members += role.replicas;
  return {{"minAvailable", std::max(members - plan.late, 1)}};
}

}  // namespace

std::string jobJson(const JobPlan& plan, bool asksCpu) {
  const bool byRestart = plan.elastic && plan.resizes == ResizePlan::kByRestart;
  Json spec = {{"framework", byRestart ? "Custom" : "PyTorch"},
               {"roles", roles(plan, "train:1", asksCpu)},
               {"failure", {{"restartScope", plan.restartWhole ? "Gang" : "Pod"}}}};
  if (!plan.preemptible) spec["preemptible"] = false;
  if (!plan.queue.empty()) spec["queue"] = plan.queue;
  if (!plan.priority.empty()) spec["priorityClassName"] = plan.priority;
  if (plan.deadline.count() > 0) spec["run"] = {{"activeDeadlineSeconds", plan.deadline.count()}};
  if (plan.estimate.count() > 0) spec["estimate"] = {{"durationSeconds", plan.estimate.count()}};
  if (!plan.required.empty()) spec["locality"] = {{"required", plan.required}};
  if (plan.late > 0 && !plan.elastic) spec["gang"] = gang(plan);
  if (plan.elastic) {
    spec["elastic"] = {{"role", plan.roles.front().name},
                       {"replicas", plan.roles.front().replicas},
                       {"minReplicas", 1},
                       {"maxReplicas", 8}};
    if (plan.resizes == ResizePlan::kNotified)
      spec["checkpoint"] = {{"mode", "Helper"}, {"gracePeriodSeconds", 2}};
  }
  const Json job = {{"apiVersion", model::names::kApiVersion},
                    {"kind", model::names::kTrainingJobKind},
                    {"metadata", {{"name", plan.name}}},
                    {"spec", spec}};
  return job.dump();
}

std::string ownerJson(const JobPlan& plan, bool asksCpu) {
  const RolePlan& role = plan.roles.front();
  const bool isJob = plan.owner == OwnerPlan::kJob;
  Json pod = podTemplate(role.gpus, plan, "train:1", asksCpu);
  pod["spec"]["restartPolicy"] = "Never";
  if (!plan.priority.empty()) pod["spec"]["priorityClassName"] = plan.priority;
  if (plan.longerByIndex.count() > 0)
    pod["metadata"]["annotations"]["sim.trainyard.dev/run-longer-by-index"] =
        std::to_string(plan.longerByIndex.count()) + "ms";
  Json wishes = Json::object();
  if (!plan.preemptible) wishes["trainyard.dev/preemptible"] = "false";
  if (!plan.required.empty()) wishes["trainyard.dev/locality"] = plan.required;
  if (plan.estimate.count() > 0)
    wishes["trainyard.dev/estimated-duration"] = std::to_string(plan.estimate.count()) + "s";
  const Json labels = {{std::string(model::names::kQueueLabel), plan.queue.empty() ? "default" : plan.queue}};
  Json spec;
  if (isJob) {
    if (plan.inOrder) wishes["sim.trainyard.dev/creates"] = "in-order";
    spec = {{"completionMode", "Indexed"},    {"completions", role.replicas},
            {"parallelism", role.replicas},   {"backoffLimit", plan.backoffLimit},
            {"suspend", !plan.startsRunning}, {"template", pod}};
  } else {
    wishes["trainyard.dev/gang-size"] = std::to_string(role.replicas);
    pod["metadata"]["labels"].update(labels);
    pod["metadata"]["labels"][std::string(model::names::kGangLabel)] = plan.name;
    pod["metadata"]["annotations"].update(wishes);
    pod["spec"]["schedulingGates"] = Json::array({{{"name", std::string(model::names::kPlaceGate)}}});
    spec = {{"replicas", role.replicas}, {"template", pod}};
  }
  return Json{{"apiVersion", isJob ? "batch/v1" : "apps/v1"},
              {"kind", isJob ? "Job" : "ReplicaSet"},
              {"metadata", {{"name", plan.name}, {"labels", labels}, {"annotations", wishes}}},
              {"spec", spec}}
      .dump();
}

std::string editedJson(const JobPlan& plan, int workers, bool asksCpu) {
  JobPlan edited = plan;
  edited.roles.front().replicas = workers;
  Json spec = {{"roles", roles(edited, "train:2", asksCpu)}};
  if (plan.late > 0 && !plan.elastic) spec["gang"] = gang(edited);
  return Json{{"spec", spec}}.dump();
}

std::string queueJson(const QueuePlan& plan) {
  const std::string gpu(model::names::kGpuResource);
  Json spec = {{"weight", plan.weight},
               {"preemption",
                {{"reclaim", plan.reclaim}, {"withinQueue", plan.withinQueue ? "LowerPriority" : "Never"}}}};
  if (!plan.parent.empty()) spec["parent"] = plan.parent;
  if (plan.guaranteed > 0) spec["guaranteed"] = {{gpu, std::to_string(plan.guaranteed)}};
  if (plan.limit) spec["limit"] = {{gpu, std::to_string(*plan.limit)}};
  return Json{{"apiVersion", model::names::kApiVersion},
              {"kind", "Queue"},
              {"metadata", {{"name", plan.name}}},
              {"spec", spec}}
      .dump();
}

std::vector<std::string> priorityClassesJson() {
  std::vector<std::string> classes;
  for (const auto& [name, value] :
       {std::pair("low", 100), std::pair("middle", 200), std::pair("high", 300)}) {
    classes.push_back(Json{
        {"apiVersion", "scheduling.k8s.io/v1"},
        {"kind", "PriorityClass"},
        {"metadata", {{"name", name}}},
        {"value", value}}.dump());
  }
  return classes;
}

std::string limitRangeJson(int cpus) {
  const Json item = {{"type", "Container"}, {"defaultRequest", {{"cpu", std::to_string(cpus)}}}};
  return Json{{"apiVersion", "v1"},
              {"kind", "LimitRange"},
              {"metadata", {{"name", "defaults"}}},
              {"spec", {{"limits", Json::array({item})}}}}
      .dump();
}

std::string foreignPodJson(const std::string& name, int gpus, std::chrono::milliseconds runFor) {
  JobPlan plan;
  plan.runFor = runFor;
  Json pod = podTemplate(gpus, plan, "other:1", true);
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  pod["metadata"]["name"] = name;
  return pod.dump();
}

std::string nodeJson(const std::string& deleted) {
  const Json old = Json::parse(deleted);
  const Json node = {
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata", {{"name", old["metadata"]["name"]}, {"labels", old["metadata"]["labels"]}}},
      {"status", {{"capacity", old["status"]["capacity"]}, {"allocatable", old["status"]["capacity"]}}}};
  return node.dump();
}

}  // namespace trainyard::simulation
