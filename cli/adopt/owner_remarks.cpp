#include "cli/adopt/owner_remarks.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

namespace trainyard::cli {
namespace {

enum class Test { kSet, kTrue };

struct Remark {
  std::string_view kind;  // empty: every kind
  std::string_view field;
  Test test;
  Severity severity;
  std::string_view text;
};

constexpr std::string_view kAutoscaling =
    "pods that the autoscaler adds arrive gated, and join where there is room";

constexpr std::array kRemarks{
    Remark{"RayJob", "/spec/deletionStrategy/deletionRules", Test::kSet, Severity::kCannotWork,
           "KubeRay accepts them only without shutdownAfterJobFinishes, and suspends no RayJob without that"},
    Remark{"RayJob", "/spec/clusterSelector", Test::kSet, Severity::kCannotWork,
           "the RayJob runs in a RayCluster that exists: adopt that one"},
    Remark{"RayJob", "/spec/rayClusterSpec/enableInTreeAutoscaling", Test::kTrue, Severity::kKept,
           kAutoscaling},
    Remark{"RayCluster", "/spec/enableInTreeAutoscaling", Test::kTrue, Severity::kKept, kAutoscaling},
    Remark{"", "/spec/elasticPolicy", Test::kSet, Severity::kKept,
           "pods that its controller adds arrive gated, and join where there is room"},
    Remark{"JobSet", "/metadata/annotations/alpha.jobset.sigs.k8s.io~1exclusive-topology", Test::kSet,
           Severity::kCannotWork,
           "JobSet requires affinity by it, which no assigned node follows: remove it, and write annotation "
           "trainyard.dev/locality"},
    Remark{"", "/spec/runPolicy/schedulingPolicy/priorityClass", Test::kSet, Severity::kLost,
           "not read: write priorityClassName into the pod templates"},
    Remark{"", "/spec/runPolicy/schedulingPolicy/minResources", Test::kSet, Severity::kKept,
           "not read: a gang starts when its pods fit"},
    Remark{"", "/spec/runPolicy/schedulingPolicy/scheduleTimeoutSeconds", Test::kSet, Severity::kKept,
           "not read: no part of a gang holds nodes"},
    Remark{"", "/status/startTime", Test::kSet, Severity::kChanged,
           "it runs: applied, it is suspended, and its pods start again"},
};

constexpr std::array<std::string_view, 5> kUsualManagers{
    "kubernetes.io/job-controller", "jobset.sigs.k8s.io/jobset-controller", "kubeflow.org/training-operator",
    "kubeflow.org/mpi-operator", "ray.io/kuberay-operator"};

Json at(const Json& object, std::string_view pointer) {
  const Json::json_pointer path{std::string(pointer)};
  return object.contains(path) ? object.at(path) : Json();
}

bool holds(Test test, const Json& value) {
  switch (test) {
    case Test::kSet: return !value.is_null();
    case Test::kTrue: return value == true;
  }
  return false;
}

// "spec.runPolicy.minAvailable" of "/spec/runPolicy/minAvailable".
std::string dotted(std::string_view pointer) {
  std::string path(pointer.substr(1));
  std::replace(path.begin(), path.end(), '/', '.');
  if (const auto slash = path.find("~1"); slash != std::string::npos) path.replace(slash, 2, "/");
  return path;
}

void noteManager(const Json& owner, Adoption& adoption) {
  for (const char* field : {"/spec/managedBy", "/spec/runPolicy/managedBy"}) {
    const std::string manager = textOf(at(owner, field));
    if (manager.empty() ||
        std::find(kUsualManagers.begin(), kUsualManagers.end(), manager) != kUsualManagers.end())
      continue;
    adoption.cannotWork(fmt::format("{}: {}: another program makes its pods, perhaps in another cluster",
                                    dotted(field), manager));
  }
}

void noteMinimum(const Json& owner, int pods, Adoption& adoption) {
  constexpr std::string_view kField = "/spec/runPolicy/schedulingPolicy/minAvailable";
  const Json minimum = at(owner, kField);
  if (minimum.is_null() || pods == 0 || minimum == pods) return;
  adoption.changed(fmt::format("{}: {}: not read: all {} pods of the gang start together", dotted(kField),
                               minimum.dump(), pods));
}

}  // namespace

void noteOwnerRemarks(std::string_view kind, const Json& owner, int pods, Adoption& adoption) {
  for (const Remark& each : kRemarks) {
    if (!each.kind.empty() && each.kind != kind) continue;
    if (holds(each.test, at(owner, each.field)))
      adoption.note(each.severity, fmt::format("{}: {}", dotted(each.field), each.text));
  }
  noteManager(owner, adoption);
  noteMinimum(owner, pods, adoption);
}

}  // namespace trainyard::cli
