#include "core/lifecycle/failure_rules.h"
#include "core/lifecycle/node_endings.h"

namespace trainyard::core {
namespace {

using enum model::FailureClass;
using enum model::Sign;
using enum model::Confidence;

model::FailureRule fact(std::string name, model::FailureClass failure, int weight, std::string reason,
                        std::string message = {}) {
  return {.name = std::move(name),
          .failure = failure,
          .sign = kFact,
          .weight = weight,
          .reason = std::move(reason),
          .message = std::move(message)};
}

model::FailureRule ended(std::string name, model::FailureClass failure, model::Sign sign, int weight,
                         int signal, std::vector<int> exitCodes) {
  return {.name = std::move(name),
          .failure = failure,
          .sign = sign,
          .weight = weight,
          .confidence = sign == kCause ? kMedium : kLow,
          .exitCodes = std::move(exitCodes),
          .signal = signal};
}

constexpr const char* kNotStarted =
    "^(StartError|ContainerCannotRun|RunContainerError|CreateContainerError|CrashLoopBackOff)$";

void addStops(Rules& rules) {
  rules.push_back(fact("pod-deadline", kDeadlineExceeded, 95, "^DeadlineExceeded$"));
  rules.push_back(fact("shared-memory-volume-full", kSharedMemory, 95, "^Evicted$",
                       R"((?i)EmptyDir volume "[^"]*sh(are)?d?_?-?m)"));
  rules.push_back(fact("evicted-for-own-storage", kDiskFull, 92, "^Evicted$",
                       R"((?i)ephemeral[- ](local )?storage|EmptyDir volume)"));
  rules.push_back(fact("node-shut-down", kNodeLost, 93, "",
                       R"((?i)imminent node shutdown|node (is )?shutting down|node no longer exists|)"
                       R"(node (was|has been) (deleted|removed)|lost (contact )?with (the )?node|)"
                       R"(Node .{1,80} which was running pod .* is unresponsive)"));
  rules.push_back(fact("node-lost", kNodeLost, 92, nodeLossReasons()));
  rules.push_back(fact("taint-of-lost-node", kNodeLost, 92, "^(DeletionByTaintManager|TaintManagerEviction)$",
                       R"((?i)unreachable|not-ready|NotReady|out-of-service|shutdown)"));
  rules.push_back(fact("node-not-ready", kNodeLost, 88, "^NodeNotReady$"));
  rules.push_back(fact("taint", kEvicted, 85, "^(DeletionByTaintManager|TaintManagerEviction)$"));
  rules.push_back(
      fact("preempted", kPreempted, 90,
           "^(PreemptionByScheduler|PreemptionByKubeScheduler|EvictionByEvictionAPI|Preempting|Preempted|"
           "\\w+DueToPreemption)$"));
  rules.push_back(fact("evicted", kEvicted, 80, "^Evicted$"));
  rules.push_back(fact("evicted-by-kubelet", kEvicted, 78, "^TerminationByKubelet$"));
  rules.push_back(fact("oom-killed", kHostOutOfMemory, 85, "^OOMKilled$"));
  // The kubelet no longer found the container, as after a restart of the node.
  rules.push_back({.name = "container-not-found-again",
                   .failure = kNodeLost,
                   .sign = kCause,
                   .weight = 45,
                   .confidence = kLow,
                   .reason = "^ContainerStatusUnknown$"});
}

void addStarts(Rules& rules) {
  rules.push_back(fact("image", kImagePull, 85,
                       "^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|ImageInspectError|"
                       "RegistryUnavailable|SignatureValidationFailed)$"));
  rules.push_back(fact("refused-by-node", kAdmissionRefused, 85, refusalReasons()));
  rules.push_back(fact(
      "rejected-by-node", kAdmissionRefused, 75, "",
      R"((?i)^pod was rejected: |^(pod )?predicate \w+ failed|node didn't have enough (resource|capacity)|)"
      R"(^allocate failed due to)"));
  rules.push_back(
      fact("command-not-started", kCommandNotFound, 90, kNotStarted,
           R"((?i)executable file not found|exec format error|exec: "[^"]*"|)"
           R"(exec "?[^ "]+"?: (no such file|permission denied)|: no such file or directory: unknown$)"));
  // The container runtime's device hook, which runs before the program.
  rules.push_back(
      fact("device-hook-version", kCudaVersionMismatch, 94, "",
           R"((?i)nvidia-container-cli: requirement error|unsatisfied condition: (cuda|driver))"));
  rules.push_back(
      fact("device-hook", kCudaInitFailed, 93, "",
           R"((?i)nvidia-container-cli: .*(initialization error|device error|driver|nvml|detection error))"));
  rules.push_back(
      fact("mount", kContainerConfig, 91, "",
           R"((?i)error mounting|MountVolume\.|FailedMount|Unable to attach or mount volumes|)"
           R"(failed to create shim task: .*mount|not a directory: Are you trying to mount|chdir to cwd)"));
  rules.push_back(
      fact("container-config", kContainerConfig, 80,
           "^(CreateContainerConfigError|CreateContainerError|RunContainerError|PreCreateHookError|"
           "PreStartHookError|"
           "PostStartHookError|StartError|ContainerCannotRun|CreatePodSandboxError|FailedMount)$"));
}

void addExitCodes(Rules& rules) {
  rules.push_back(ended("exit-segmentation-fault", kSegmentationFault, kCause, 55, 11, {139, -11}));
  rules.push_back(ended("exit-aborted", kAborted, kSymptom, 40, 6, {134, -6}));
  rules.push_back(ended("exit-illegal-instruction", kAborted, kSymptom, 45, 4, {132, -4}));
  rules.push_back(ended("exit-arithmetic", kAborted, kSymptom, 45, 8, {136, -8}));
  // A bus error in such programs almost always means that a page of /dev/shm was not available.
  rules.push_back(ended("exit-bus-error", kSharedMemory, kSymptom, 45, 7, {135, -7}));
  rules.push_back(ended("exit-command", kCommandNotFound, kCause, 50, 0, {126, 127}));
  rules.push_back(ended("exit-terminated", kInterrupted, kEnd, 30, 15, {143, -15}));
  rules.push_back(ended("exit-interrupted", kInterrupted, kEnd, 30, 2, {130, -2, 129, -1}));
  rules.push_back(ended("exit-killed", kInterrupted, kEnd, 20, 9, {137, -9}));
}

}  // namespace

void addPodRules(Rules& rules) {
  addStops(rules);
  addStarts(rules);
  addExitCodes(rules);
}

}  // namespace trainyard::core
