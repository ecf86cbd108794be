#include "sim/api/pods.h"

#include <algorithm>

#include <fmt/format.h>

namespace trainyard::sim {
namespace {

Json podCondition(const std::string& type, const std::string& status, base::WallTime now) {
  return {{"type", type},
          {"status", status},
          {"lastProbeTime", nullptr},
          {"lastTransitionTime", base::formatTime(now)}};
}

class PodStrategy final : public Strategy {
 public:
  PodStrategy() { returnsDeleted = true; }

  void defaults(Json& pod) const override { podDefaults(pod); }

  Outcome<void> admit(const AdmissionView& view, Json& pod, const Json* old) const override {
    return admitPod(view, pod, old);
  }

  void prepareCreate(Json& pod, base::WallTime now) const override {
    pod["metadata"]["generation"] = 1;
    pod["status"] = {{"phase", "Pending"}, {"qosClass", qosClass(pod)}};
    if (listAt(pod, {"spec", "schedulingGates"}).empty()) return;
    Json gated = podCondition("PodScheduled", "False", now);
    gated["reason"] = "SchedulingGated";
    gated["message"] = "Scheduling is blocked due to non-empty scheduling gates";
    pod["status"]["conditions"] = Json::array({gated});
  }

  void validate(const Json& pod, Causes& causes) const override { validatePodSpec(pod, causes); }

  void prepareUpdate(const Json& old, Json& pod, Part part) const override {
    Strategy::prepareUpdate(old, pod, part);
    if (part == Part::kStatus) {
      copyMember(pod["metadata"], old.at("metadata"), "ownerReferences");
      if (textAt(pod, {"status", "qosClass"}).empty())
        copyMember(pod["status"], old.at("status"), "qosClass");
      return;
    }
    if (sameAt(pod, old, {"spec"})) return;
    pod["metadata"]["generation"] = intAt(old, {"metadata", "generation"}).value_or(0) + 1;
  }

  void validateUpdate(const Json& old, const Json& pod, Part part, Causes& causes) const override {
    if (part == Part::kStatus) return validatePodStatusUpdate(old, pod, causes);
    validatePodSpec(pod, causes);
    validatePodUpdate(old, pod, causes);
  }

  std::optional<std::int64_t> gracePeriod(const Json& pod, std::optional<std::int64_t> asked) const override {
    const std::string phase = textAt(pod, {"status", "phase"});
    // No kubelet runs it, so there is nothing to wait for.
    if (textAt(pod, {"spec", "nodeName"}).empty() || phase == "Failed" || phase == "Succeeded") return 0;
    const auto period = asked ? *asked : intAt(pod, {"spec", "terminationGracePeriodSeconds"}).value_or(0);
    return period < 0 ? 1 : period;
  }
};

bool onlyAdded(const Json& before, const Json& after, const char* list) {
  const Json& old = listAt(before, {list});
  const Json& now = listAt(after, {list});
  return now.size() >= old.size() && std::equal(old.begin(), old.end(), now.begin());
}

bool termTightened(const Json& before, const Json& after) {
  const bool wasEmpty =
      listAt(before, {"matchExpressions"}).empty() && listAt(before, {"matchFields"}).empty();
  const bool isEmpty = listAt(after, {"matchExpressions"}).empty() && listAt(after, {"matchFields"}).empty();
  // An empty term matches nothing: filling it would make the pod less restricted.
  if (wasEmpty && !isEmpty) return false;
  return onlyAdded(before, after, "matchExpressions") && onlyAdded(before, after, "matchFields");
}

void validateTightening(const Json& old, const Json& pod, Causes& causes) {
  const Json& selector = objectAt(pod, {"spec", "nodeSelector"});
  for (const auto& [key, value] : objectAt(old, {"spec", "nodeSelector"}).items()) {
    const Json* now = find(selector, key);
    if (now != nullptr && *now == value) continue;
    causes.invalid("spec.nodeSelector",
                   "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
    break;
  }
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const Json& before = listAt(old, {"spec", "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  const Json& after = listAt(pod, {"spec", "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  if (before.empty()) return;
  const std::string path = fmt::format("spec.affinity.nodeAffinity.{}.nodeSelectorTerms", kRequired);
  if (before.size() != after.size()) {
    causes.invalid(path, "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!termTightened(before[i], after[i])) {
      causes.invalid(fmt::format("{}[{}]", path, i),
                     "only additions are allowed (no mutations or deletions)");
    }
  }
}

// Reverts the mutable fields, so that the rest can be compared.
void takeBackMutable(const Json& old, Json& spec, bool gated) {
  const Json& before = old.at("spec");
  for (const char* list : {"containers", "initContainers"}) {
    const auto now = spec.find(list);
    if (now == spec.end()) continue;
    for (std::size_t i = 0; i < now->size(); ++i) copyMember((*now)[i], listAt(before, {list})[i], "image");
  }
  for (const char* field : {"activeDeadlineSeconds", "schedulingGates", "tolerations"})
    copyMember(spec, before, field);
  if (!gated) return;
  copyMember(spec, before, "nodeSelector");
  Json affinity = objectAt(spec, {"affinity"});
  copyMember(affinity, objectAt(before, {"affinity"}), "nodeAffinity");
  const bool nothing = affinity.empty() && find(before, "affinity") == nullptr;
  if (nothing) {
    spec.erase("affinity");
  } else {
    spec["affinity"] = std::move(affinity);
  }
}

void validateGateRemoval(const Json& old, const Json& pod, Causes& causes) {
  const Json& before = listAt(old, {"spec", "schedulingGates"});
  const Json& after = listAt(pod, {"spec", "schedulingGates"});
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (std::find(before.begin(), before.end(), after[i]) != before.end()) continue;
    causes.forbidden(fmt::format("spec.schedulingGates[{}].name", i),
                     "only deletion is allowed, but found new scheduling gate " + after[i].dump());
  }
}

void validateTolerationAdditions(const Json& old, const Json& pod, Causes& causes) {
  const Json& before = listAt(old, {"spec", "tolerations"});
  const Json& after = listAt(pod, {"spec", "tolerations"});
  for (const auto& toleration : before) {
    const bool kept = std::any_of(after.begin(), after.end(), [&](const Json& now) {
      // The time of a NoExecute toleration may change.
      return sameAt(now, toleration, {"key"}) && sameAt(now, toleration, {"operator"}) &&
             sameAt(now, toleration, {"value"}) && sameAt(now, toleration, {"effect"});
    });
    if (!kept) {
      causes.forbidden("spec.tolerations",
                       "existing toleration can not be modified except its tolerationSeconds");
      return;
    }
  }
}

bool sameContainerCount(const Json& old, const Json& pod, const char* list, Causes& causes) {
  if (listAt(old, {"spec", list}).size() == listAt(pod, {"spec", list}).size()) return true;
  causes.forbidden(std::string("spec.") + list, "pod updates may not add or remove containers");
  return false;
}

}  // namespace

void validatePodUpdate(const Json& old, const Json& pod, Causes& causes) {
  if (!sameContainerCount(old, pod, "containers", causes)) return;
  if (!sameContainerCount(old, pod, "initContainers", causes)) return;
  const auto deadline = intAt(pod, {"spec", "activeDeadlineSeconds"});
  const auto before = intAt(old, {"spec", "activeDeadlineSeconds"});
  if (before && (!deadline || *deadline > *before)) {
    causes.invalid("spec.activeDeadlineSeconds", "must be less than or equal to previous value");
    if (deadline) return;
  }
  validateTolerationAdditions(old, pod, causes);
  validateGateRemoval(old, pod, causes);
  if (sameAt(old, pod, {"spec"})) return;
  const bool gated = !listAt(old, {"spec", "schedulingGates"}).empty();
  if (gated) validateTightening(old, pod, causes);
  Json spec = pod.at("spec");
  takeBackMutable(old, spec, gated);
  if (spec != old.at("spec")) {
    causes.forbidden(
        "spec",
        "pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec."
        "tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow "
        "it to be set to 1 if it was previously negative)");
  }
}

void validatePodStatusUpdate(const Json& old, const Json& pod, Causes& causes) {
  if (!sameAt(old, pod, {"status", "qosClass"})) causes.invalid("status.qosClass", "field is immutable");
  const std::string policy = textAt(old, {"spec", "restartPolicy"});
  if (policy == "Always") return;
  const Json& before = listAt(old, {"status", "containerStatuses"});
  const Json& after = listAt(pod, {"status", "containerStatuses"});
  for (const auto& was : before) {
    const Json* ended = findPath(was, {"state", "terminated"});
    if (ended == nullptr || (policy == "OnFailure" && intAt(*ended, {"exitCode"}).value_or(0) != 0)) continue;
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (!sameAt(was, after[i], {"name"}) || findPath(after[i], {"state", "terminated"}) != nullptr)
        continue;
      causes.forbidden(fmt::format("status.containerStatuses[{}].state", i),
                       "may not be transitioned to non-terminated state");
    }
  }
}

void copyTopology(const Json& node, Json& pod) {
  for (const char* label : {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"}) {
    const std::string value = textAt(node, {"metadata", "labels", label});
    if (!value.empty()) pod["metadata"]["labels"][label] = value;
  }
}

void assignNode(Json& pod, const Json& binding, const std::string& node, base::WallTime now) {
  pod["spec"]["nodeName"] = node;
  pod["status"].erase("nominatedNodeName");
  for (const char* field : {"annotations", "labels"}) {
    for (const auto& [key, value] : objectAt(binding, {"metadata", field}).items())
      pod["metadata"][field][key] = value;
  }
  Json scheduled = podCondition("PodScheduled", "True", now);
  Json& conditions = pod["status"]["conditions"];
  if (conditions.is_null()) conditions = Json::array();
  for (auto& condition : conditions) {
    if (textAt(condition, {"type"}) != "PodScheduled") continue;
    if (textAt(condition, {"status"}) == "True")
      scheduled["lastTransitionTime"] = condition["lastTransitionTime"];
    condition = scheduled;
    return;
  }
  conditions.push_back(scheduled);
}

std::unique_ptr<Strategy> makePodStrategy() { return std::make_unique<PodStrategy>(); }

}  // namespace trainyard::sim
