#include "simulation/objects.h"

#include <nlohmann/json.hpp>

#include "model/names.h"

namespace trainyard::simulation {
namespace {

using Json = nlohmann::json;

Json podTemplate(int gpus, std::chrono::milliseconds runFor, int exitCode, const std::string& image) {
  Json resources = {{"requests", {{"cpu", "1"}, {"memory", "1Gi"}}}};
  if (gpus > 0) resources["limits"] = {{std::string(model::names::kGpuResource), std::to_string(gpus)}};
  return {{"metadata",
           {{"annotations",
             {{"sim.trainyard.dev/run-for", std::to_string(runFor.count()) + "ms"},
              {"sim.trainyard.dev/exit-code", std::to_string(exitCode)}}}}},
          {"spec",
           {{"terminationGracePeriodSeconds", 5},
            {"containers", {{{"name", "main"}, {"image", image}, {"resources", resources}}}}}}};
}

Json roles(const JobPlan& plan, const std::string& image) {
  Json list = Json::array();
  for (const RolePlan& role : plan.roles) {
    list.push_back({{"name", role.name},
                    {"replicas", role.replicas},
                    {"template", podTemplate(role.gpus, plan.runFor, plan.exitCode, image)}});
  }
  return list;
}

}  // namespace

std::string jobJson(const JobPlan& plan) {
  Json spec = {{"framework", "PyTorch"},
               {"roles", roles(plan, "train:1")},
               {"failure", {{"restartScope", plan.restartWhole ? "Gang" : "Pod"}}}};
  if (!plan.required.empty()) spec["locality"] = {{"required", plan.required}};
  if (plan.elastic) {
    spec["elastic"] = {{"role", plan.roles.front().name},
                       {"replicas", plan.roles.front().replicas},
                       {"minReplicas", 1},
                       {"maxReplicas", 8}};
  }
  const Json job = {{"apiVersion", model::names::kApiVersion},
                    {"kind", model::names::kTrainingJobKind},
                    {"metadata", {{"name", plan.name}}},
                    {"spec", spec}};
  return job.dump();
}

std::string editedJson(const JobPlan& plan, int workers) {
  JobPlan edited = plan;
  edited.roles.front().replicas = workers;
  return Json{{"spec", {{"roles", roles(edited, "train:2")}}}}.dump();
}

std::string strangerJson(const std::string& name, int gpus, std::chrono::milliseconds runFor) {
  Json pod = podTemplate(gpus, runFor, 0, "other:1");
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
