#include "scenario/scenario_objects.h"

#include <algorithm>

#include <fmt/format.h>

#include "codec/policy.h"
#include "model/gpu_resources.h"
#include "model/names.h"
#include "sim/api/json.h"
#include "support/builders.h"

namespace trainyard::test {
namespace {

using sim::Json;

Json mapOf(const Pairs& pairs) {
  Json map = Json::object();
  for (const auto& [name, value] : pairs) map[name] = value;
  return map;
}

Json metadata(const std::string& name) {
  const model::ObjectKey object = key(name);
  return {{"name", object.name}, {"namespace", object.ns}};
}

std::string secondsText(std::chrono::seconds time) { return fmt::format("{}s", time.count()); }

// Requests for all; extended resources are limits too, as the API requires.
Json podResources(const Amounts& amounts) {
  Json requests = Json::object();
  Json limits = Json::object();
  for (const auto& [resource, quantity] : amounts) {
    if (resource == "pods") refuse("a pod asks for pods=");
    requests[resource] = quantity;
    if (resource.find('/') != std::string::npos) limits[resource] = quantity;
  }
  return {{"requests", requests}, {"limits", limits}};
}

Json podSpec(const Amounts& amounts) {
  return {{"containers", {{{"name", "train"}, {"image", "train:1"}, {"resources", podResources(amounts)}}}}};
}

Json simAnnotations(const std::optional<std::chrono::seconds>& runsFor,
                    const std::optional<std::chrono::seconds>& stopsIn) {
  Json annotations = Json::object();
  if (runsFor) annotations["sim.trainyard.dev/run-for"] = secondsText(*runsFor);
  if (stopsIn) annotations["sim.trainyard.dev/stop-for"] = secondsText(*stopsIn);
  return annotations;
}

Json roleJson(const RoleText& role, const JobText& job) {
  Json spec = podSpec(role.amounts);
  if (!role.select.empty()) spec["nodeSelector"] = mapOf(role.select);
  for (const std::string& taint : role.tolerate)
    spec["tolerations"].push_back({{"key", taint}, {"operator", "Exists"}});
  const auto stopsIn = role.stopsIn ? role.stopsIn : job.stopsIn;
  // As long as the job needs: no pod is killed halfway.
  if (stopsIn) spec["terminationGracePeriodSeconds"] = std::max<std::int64_t>(30, stopsIn->count());
  const Json annotations = simAnnotations(role.runsFor ? role.runsFor : job.runsFor, stopsIn);
  return {{"name", role.name},
          {"replicas", role.count},
          {"template", {{"metadata", {{"annotations", annotations}}}, {"spec", spec}}}};
}

Json localityJson(const JobText& job) {
  Json locality = Json::object();
  for (const LevelText& level : job.levels) {
    Json each = {{"level", level.level}};
    if (level.wait) each["waitSeconds"] = level.wait->count();
    locality["levels"].push_back(std::move(each));
  }
  if (!job.required.empty()) locality["required"] = job.required;
  return locality;
}

Json objectOf(std::string_view apiVersion, std::string_view kind, Json meta) {
  return {
      {"apiVersion", std::string(apiVersion)}, {"kind", std::string(kind)}, {"metadata", std::move(meta)}};
}

Json checkpointJson(const CheckpointText& checkpoint) {
  Json made = {{"mode", checkpoint.mode}};
  if (checkpoint.every) made["everySeconds"] = checkpoint.every->count();
  if (checkpoint.restart) made["restartSeconds"] = checkpoint.restart->count();
  return made;
}

}  // namespace

std::string nodeJson(const NodeText& node) {
  Json labels = mapOf(node.labels);
  labels[std::string(model::names::kHostnameLabel)] = node.name;
  Json amounts = {{"cpu", "128"}, {"memory", "1Ti"}, {"pods", "110"}};
  for (const auto& [resource, quantity] : node.amounts) amounts[resource] = quantity;
  Json object = objectOf("v1", "Node", {{"name", node.name}, {"labels", labels}});
  object["spec"] = Json::object();
  if (node.cordoned) object["spec"]["unschedulable"] = true;
  for (const TaintText& taint : node.taints) {
    object["spec"]["taints"].push_back(
        {{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}});
  }
  object["status"] = {{"capacity", amounts},
                      {"allocatable", amounts},
                      {"conditions", {{{"type", "Ready"}, {"status", node.ready ? "True" : "False"}}}}};
  return sim::dumpJson(object);
}

std::string podJson(const PodText& pod) {
  Json meta = metadata(pod.name);
  meta["annotations"] = simAnnotations(pod.runsFor, std::nullopt);
  if (!pod.owner.empty()) {
    meta["ownerReferences"] = {{{"apiVersion", "v1"},
                                {"kind", pod.owner},
                                {"name", "owner"},
                                {"uid", "uid-of-owner"},
                                {"controller", true}}};
  }
  Json object = objectOf("v1", "Pod", std::move(meta));
  object["spec"] = podSpec(pod.amounts);
  if (!pod.node.empty()) {
    object["spec"]["nodeName"] = pod.node;
    object["status"] = {{"phase", "Running"}};
  }
  return sim::dumpJson(object);
}

std::string queueJson(const QueueText& queue) {
  Json object = objectOf(model::names::kApiVersion, "Queue", {{"name", queue.name}});
  Json spec = {
      {"weight", queue.weight},
      {"preemption",
       {{"reclaim", queue.reclaim}, {"withinQueue", queue.withinQueue ? "LowerPriority" : "Never"}}}};
  if (!queue.parent.empty()) spec["parent"] = queue.parent;
  if (!queue.guaranteed.empty()) spec["guaranteed"] = mapOf(queue.guaranteed);
  if (!queue.limit.empty()) spec["limit"] = mapOf(queue.limit);
  if (!queue.classes.empty()) spec["allowedPriorityClasses"] = queue.classes;
  if (!queue.namespaces.empty()) spec["namespaceSelector"] = {{"matchLabels", mapOf(queue.namespaces)}};
  object["spec"] = std::move(spec);
  return sim::dumpJson(object);
}

std::string classJson(const ClassText& priorityClass) {
  Json object = objectOf("scheduling.k8s.io/v1", "PriorityClass", {{"name", priorityClass.name}});
  object["value"] = priorityClass.value;
  object["globalDefault"] = priorityClass.byDefault;
  if (!priorityClass.preempts) object["preemptionPolicy"] = "Never";
  return sim::dumpJson(object);
}

std::string namespaceJson(const NamespaceText& space) {
  return sim::dumpJson(objectOf("v1", "Namespace", {{"name", space.name}, {"labels", mapOf(space.labels)}}));
}

std::string jobJson(const JobText& job) {
  Json object = objectOf(model::names::kApiVersion, model::names::kTrainingJobKind, metadata(job.name));
  Json spec = {{"framework", "Custom"}, {"preemptible", job.preemptible}, {"roles", Json::array()}};
  for (const RoleText& role : job.roles) spec["roles"].push_back(roleJson(role, job));
  if (!job.queue.empty()) spec["queue"] = job.queue;
  if (!job.priority.empty()) spec["priorityClassName"] = job.priority;
  if (job.suspended) spec["run"]["suspend"] = true;
  if (job.deadline) spec["run"]["activeDeadlineSeconds"] = job.deadline->count();
  if (!job.cleanPods.empty()) spec["run"]["cleanPodPolicy"] = job.cleanPods;
  if (!job.successRole.empty()) spec["success"] = {{"operator", "Any"}, {"roles", {job.successRole}}};
  if (job.timeout) spec["scheduling"] = {{"timeoutSeconds", job.timeout->count()}};
  if (!job.restartScope.empty()) spec["failure"] = {{"restartScope", job.restartScope}};
  if (job.minimum) spec["gang"] = {{"minAvailable", *job.minimum}};
  if (job.estimate) spec["estimate"] = {{"durationSeconds", job.estimate->count()}};
  if (job.checkpoint) spec["checkpoint"] = checkpointJson(*job.checkpoint);
  if (Json locality = localityJson(job); !locality.empty()) spec["locality"] = std::move(locality);
  for (const auto& [type, speed] : job.speeds)
    spec["plan"]["model"]["speeds"].push_back({{"gpuType", type}, {"samplesPerSecond", speed}});
  if (job.elastic) {
    const RoleText* role = job.findRole(job.elastic->role);
    if (role == nullptr) refuse(fmt::format("elastic: no role \"{}\"", job.elastic->role));
    spec["elastic"] = {{"role", role->name},
                       {"replicas", role->count},
                       {"minReplicas", job.elastic->minimum},
                       {"maxReplicas", job.elastic->most}};
  }
  object["spec"] = std::move(spec);
  return sim::dumpJson(object);
}

model::Policy policyOf(const Scenario& scenario) {
  // Preceding empty lines keep the line numbers in errors of its reader.
  const std::string above(static_cast<std::size_t>(std::max(0, scenario.policyLine - 1)), '\n');
  auto policy = codec::decodePolicy(above + scenario.policy, scenario.file);
  if (!policy) refuse(policy.error().message);
  // As at the start of a program, before anything is decoded.
  model::setGpuResources(policy->gpuResources);
  if (!scenario.levels.empty()) {
    policy->topology.clear();
    for (const auto& [name, label] : scenario.levels) policy->topology.push_back({name, label});
  }
  return *std::move(policy);
}

}  // namespace trainyard::test
