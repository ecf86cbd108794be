#include "core/lifecycle/node_endings.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainyard::core {
namespace {

using enum model::FailureClass;

struct Ending {
  std::string_view reason;
  model::FailureClass failure;
};

// status.reason of pods that kubelets, PodGC and the node lifecycle controller have ended.
constexpr std::array kEndings{
    Ending{"Evicted", kEvicted},
    Ending{"Preempting", kPreempted},
    Ending{"Preempted", kPreempted},
    Ending{"NodeLost", kNodeLost},
    Ending{"NodeShutdown", kNodeLost},
    Ending{"Shutdown", kNodeLost},
    Ending{"Terminated", kNodeLost},
    Ending{"NodeUnreachable", kNodeLost},
    Ending{"NodeFailure", kNodeLost},
    Ending{"DeletionByPodGC", kNodeLost},
    // Reasons of the kubelet's admission, and of the kube-scheduler plugins that it repeats.
    Ending{"UnexpectedAdmissionError", kAdmissionRefused},
    Ending{"NodeAffinity", kAdmissionRefused},
    Ending{"NodeSelectorMismatching", kAdmissionRefused},
    Ending{"TopologyAffinityError", kAdmissionRefused},
    Ending{"SMTAlignmentError", kAdmissionRefused},
    Ending{"VolumeAttachmentLimitExceeded", kAdmissionRefused},
    Ending{"PodOSNotSupported", kAdmissionRefused},
    Ending{"PodOSSelectorNodeLabelDoesNotMatch", kAdmissionRefused},
    Ending{"PodFeatureUnsupported", kAdmissionRefused},
    Ending{"PodAdmissionFailed", kAdmissionRefused},
    Ending{"InsufficientResourceError", kAdmissionRefused},
    Ending{"InvalidNodeInfo", kAdmissionRefused},
    Ending{"SysctlForbidden", kAdmissionRefused},
    Ending{"ForbiddenSysctl", kAdmissionRefused},
    Ending{"AppArmor", kAdmissionRefused},
    Ending{"HostNetworkNotSupported", kAdmissionRefused},
    Ending{"NodePorts", kAdmissionRefused},
    Ending{"NodeName", kAdmissionRefused},
    Ending{"NodeUnschedulable", kAdmissionRefused},
    Ending{"NodeResourcesFit", kAdmissionRefused},
    Ending{"TaintToleration", kAdmissionRefused},
    Ending{"Unsupported", kAdmissionRefused},
    Ending{"UnexpectedPredicateFailureType", kAdmissionRefused},
};

// "OutOfcpu", "OutOfnvidia.com/gpu", "OutOfPods".
constexpr std::string_view kOutOf = "OutOf";
// Suffixes of refusal reasons that newer kubelets may add.
constexpr std::array<std::string_view, 3> kSuffixes{"NotSupported", "AdmissionError", "AffinityError"};
// Ends that the pod itself asks for.
constexpr std::string_view kOwnDeadline = "DeadlineExceeded";
constexpr std::string_view kEvictedReason = "Evicted";

std::optional<model::FailureClass> classOf(std::string_view reason) {
  const auto known =
      std::find_if(kEndings.begin(), kEndings.end(), [&](const auto& each) { return each.reason == reason; });
  if (known != kEndings.end()) return known->failure;
  const bool refused =
      reason.starts_with(kOutOf) ||
      std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](auto suffix) { return reason.ends_with(suffix); });
  return refused ? std::optional(kAdmissionRefused) : std::nullopt;
}

// Maps the reason of the condition DisruptionTarget to a class.
model::FailureClass classOfDisruption(std::string_view reason) {
  if (reason == "DeletionByTaintManager" || reason == "DeletionByPodGC") return kNodeLost;
  return reason == "TerminationByKubelet" ? kEvicted : kPreempted;
}

bool rejectedByKubelet(const model::Pod& pod) {
  if (pod.failure == nullptr) return false;
  const std::string_view message = pod.failure->message;
  return message.starts_with("Pod was rejected: ") || message.starts_with("Pod Predicate ");
}

// The kubelet uses the same reason for a pod over its own limits and for one displaced by node pressure.
bool exceededItsLimit(const model::Pod& pod) {
  if (pod.statusReason != kEvictedReason || pod.failure == nullptr) return false;
  const std::string& why = pod.failure->message;
  const auto has = [&](std::string_view word) { return why.find(word) != std::string::npos; };
  return has("exceed") && has("limit") && !has("node was low");
}

std::vector<std::string_view> reasonsOf(model::FailureClass failure) {
  std::vector<std::string_view> reasons;
  for (const Ending& each : kEndings) {
    if (each.failure == failure) reasons.push_back(each.reason);
  }
  return reasons;
}

}  // namespace

std::optional<model::FailureClass> endedByNode(const model::Pod& pod) {
  const std::string& reason = pod.statusReason;
  if (reason == kOwnDeadline || exceededItsLimit(pod)) return std::nullopt;
  if (!pod.disruptionReason.empty()) return classOfDisruption(pod.disruptionReason);
  if (const auto known = classOf(reason)) return known;
  if (rejectedByKubelet(pod)) return kAdmissionRefused;
  return !reason.empty() && !pod.exit ? std::optional(kAdmissionRefused) : std::nullopt;
}

std::string refusalReasons() {
  return fmt::format("^({}[A-Za-z0-9.-]+[/A-Za-z0-9.-]*|{}|[A-Za-z]+({}))$", kOutOf,
                     fmt::join(reasonsOf(kAdmissionRefused), "|"), fmt::join(kSuffixes, "|"));
}

std::string nodeLossReasons() { return fmt::format("^({})$", fmt::join(reasonsOf(kNodeLost), "|")); }

}  // namespace trainyard::core
