#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "model/policy.h"
#include "simulation/faults.h"

namespace trainyard::simulation {

struct RolePlan {
  std::string name;
  int replicas = 1;
  int gpus = 1;
};

// How a job of varying size is resized: its framework detects it, its members are notified, or it restarts.
enum class ResizePlan { kDiscovered, kNotified, kByRestart };

// The node constraints of its members.
enum class NodeConstraint {
  kNone,
  kRack,       // the first rack only
  kOtherRack,  // any but the first
  kTolerates,  // the taint of Trouble::kTaint
  kApart       // no two on one node
};

// Which controller makes its pods: the operator, that of Jobs, or that of ReplicaSets.
enum class OwnerPlan { kNone, kJob, kReplicaSet };

struct JobPlan {
  std::string name;
  std::vector<RolePlan> roles;
  std::chrono::milliseconds submitAt{0};
  std::chrono::milliseconds runFor{1'000};
  int exitCode = 0;
  std::string log;           // the log of its members before they end
  bool restartWhole = true;  // restartScope Gang, otherwise Pod
  bool elastic = false;      // the first role is elastic
  ResizePlan resizes = ResizePlan::kDiscovered;
  int late = 0;          // the number of last members that may join later; for a non-elastic job
  std::string leaveFor;  // the time that a dismissed member takes to leave: "800ms", "never"
  std::string required;  // locality level; empty: none
  NodeConstraint wish = NodeConstraint::kNone;
  std::string queue;     // empty: the queue that exists without an object
  std::string priority;  // name of a PriorityClass; empty: none
  bool preemptible = true;
  std::chrono::seconds estimate{0};  // 0: none
  std::chrono::seconds deadline{0};  // activeDeadlineSeconds, 0: none
  bool neverEnds = false;
  OwnerPlan owner = OwnerPlan::kNone;
  bool inOrder = false;                        // a Job creates each pod after the one before it runs
  bool startsRunning = false;                  // a Job is created without suspend: true
  int backoffLimit = 6;                        // of a Job
  std::chrono::milliseconds longerByIndex{0};  // a pod of a Job runs so much longer than the one before it

  // The name of the TrainingJob or Gang.
  [[nodiscard]] std::string gangName() const {
    static constexpr const char* kSuffixes[] = {"", ".job", ".pods"};
    return name + kSuffixes[static_cast<std::size_t>(owner)];
  }
};

// The settings of a Queue, in GPUs.
struct QueuePlan {
  std::string name;
  std::string parent;  // empty: a root
  int weight = 1;
  int guaranteed = 0;
  std::optional<int> limit = std::nullopt;
  bool reclaim = true;
  bool withinQueue = true;  // LowerPriority, otherwise Never
};

enum class Trouble {
  kDeleteJob,
  kSuspendJob,
  kResumeJob,
  kEditJob,        // of a suspended job: other template, other size
  kScaleJob,       // of an elastic job
  kScaleResizing,  // of an elastic job, as soon as it is being resized
  kCrashResizing,  // of the leader, as soon as a job is being resized
  kRecreateJob,
  kDeleteMember,
  kForeignPod,
  kTakeName,  // a foreign pod with the name of a member
  kDeleteNode,
  kReturnNode,
  kCordon,
  kUncordon,
  kKubeletDown,
  kKubeletUp,
  kNoGpus,  // allocatable 0, as during the restart of a device plug-in
  kGpusBack,
  kTaint,
  kUntaint,
  kExtenderDown,
  kExtenderUp,
  kCrash,
  kStop,  // graceful
  kPause,
  kCompact,     // the server drops its history
  kEndWatches,  // and ends every watch
  kNewQueue,
  kCordonStarting,     // its first assigned node, when it has a proposal
  kSuspendStarting,    // when it has a proposal
  kMemberKubeletDown,  // of a node that runs a member of the job
  kHoldGang,           // spec.hold of a Gang
  kReleaseGang,
  kScaleOwner,  // the number of pods that an owner makes
};

struct TroublePlan {
  std::chrono::milliseconds at{0};
  Trouble kind = Trouble::kForeignPod;
  std::uint64_t pick = 0;  // the job, node or operator, modulo their number at that time
  int amount = 0;          // GPUs of a foreign pod, replicas of a job, seconds of a pause
};

// Everything that a seed decides in advance. The rest of a run follows from it.
struct Scenario {
  std::uint64_t seed = 0;
  int nodes = 4;
  int gpusOnNode = 8;
  int nodesInRack = 2;
  int operators = 2;
  bool extender = true;
  std::chrono::microseconds latency{500};
  std::chrono::microseconds watchLag{2'000};
  std::chrono::milliseconds length{30'000};  // the duration of the time with faults
  std::vector<QueuePlan> queues;
  model::Policy policy;  // of the operators
  // The LimitRange's default for containers without a cpu request, and then none has one; 0: no LimitRange.
  int defaultCpus = 0;
  std::vector<JobPlan> jobs;
  std::vector<TroublePlan> troubles;  // by time
  FaultOdds odds;
  // Some of its jobs never end by themselves: they are deleted at the end.
  bool lending = false;
  bool owners = false;

  // Returns the job that a trouble picks; null without jobs.
  [[nodiscard]] const JobPlan* pickedJob(std::uint64_t pick) const {
    return jobs.empty() ? nullptr : &jobs[pick % jobs.size()];
  }
  // Returns true if members with this constraint may run on node number `node`; nodes fill racks in order.
  [[nodiscard]] bool mayUse(int node, NodeConstraint wish) const {
    const bool first = node < nodesInRack;
    return wish == NodeConstraint::kRack ? first : wish != NodeConstraint::kOtherRack || !first;
  }
};

// `contention`: more gangs than fit, in queues and with priorities (contention_draw.h); the rest of the
// scenario is the same without it. `late`: gangs that may start before all members exist, with the same rest.
// `lending`, with contention: jobs that never end, and a pending job within its queue's guarantee.
// `owners`: other controllers make the pods of some jobs (owner_draw.h).
struct DrawOptions {
  bool contention = false;
  bool late = false;
  bool lending = false;
  bool owners = false;
};
[[nodiscard]] Scenario drawScenario(std::uint64_t seed, const DrawOptions& options);
// Formats one item per line, for the analysis of a failing seed.
[[nodiscard]] std::string describe(const Scenario& scenario);

}  // namespace trainyard::simulation
