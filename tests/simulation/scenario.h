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

// How a job of varying size gets another one: its framework finds out, its members are told, it starts anew.
enum class ResizePlan { kFound, kTold, kAnew };

// What its members ask of the nodes that they run on.
enum class NodeWish {
  kNone,
  kRack,       // the first rack only
  kOtherRack,  // any but the first
  kTolerates,  // the taint of Trouble::kTaint
  kApart       // no two on one node
};

struct JobPlan {
  std::string name;
  std::vector<RolePlan> roles;
  std::chrono::milliseconds submitAt{0};
  std::chrono::milliseconds runFor{1'000};
  int exitCode = 0;
  std::string log;           // what its members say before they end
  bool restartWhole = true;  // restartScope Gang, else Pod
  bool elastic = false;      // the first role
  ResizePlan resizes = ResizePlan::kFound;
  int late = 0;          // so many of its last members may come later; of one that is not elastic
  std::string leaveFor;  // that a member takes to leave which is told to: "800ms", "never"
  std::string required;  // locality level, empty: anywhere
  NodeWish wish = NodeWish::kNone;
  std::string queue;     // empty: the one that is there without an object
  std::string priority;  // name of a PriorityClass, empty: none
  bool preemptible = true;
  std::chrono::seconds estimate{0};  // 0: none
  std::chrono::seconds deadline{0};  // activeDeadlineSeconds, 0: none
  bool neverEnds = false;
};

// GPUs, of a Queue.
struct QueuePlan {
  std::string name;
  std::string parent;  // empty: a root
  int weight = 1;
  int guaranteed = 0;
  std::optional<int> limit = std::nullopt;
  bool reclaim = true;
  bool withinQueue = true;  // LowerPriority, else Never
};

enum class Trouble {
  kDeleteJob,
  kSuspendJob,
  kResumeJob,
  kEditJob,        // of a suspended job: other template, other size
  kScaleJob,       // of an elastic one
  kScaleResizing,  // the same, as soon as it changes its size
  kCrashResizing,  // of the leader, likewise
  kRecreateJob,
  kDeleteMember,
  kStranger,
  kTakeName,  // a pod of somebody else under a member's name
  kDeleteNode,
  kReturnNode,
  kCordon,
  kUncordon,
  kKubeletDown,
  kKubeletUp,
  kNoGpus,  // allocatable 0, as while a device plug-in restarts
  kGpusBack,
  kTaint,
  kUntaint,
  kExtenderDown,
  kExtenderUp,
  kCrash,
  kStop,  // in order
  kPause,
  kCompact,     // the server forgets its past
  kEndWatches,  // and ends every watch
  kNewQueue,
  kCordonStarting,     // its first place, once it has a proposal
  kSuspendStarting,    // once it has a proposal
  kMemberKubeletDown,  // of the node that a member of the job is on
};

struct TroublePlan {
  std::chrono::milliseconds at{0};
  Trouble kind = Trouble::kStranger;
  std::uint64_t pick = 0;  // which job, node or operator, modulo how many there are then
  int amount = 0;          // GPUs of a stranger, replicas of a job, seconds of a pause
};

// All that one seed decides beforehand. The rest of a run follows from it.
struct Scenario {
  std::uint64_t seed = 0;
  int nodes = 4;
  int gpusOnNode = 8;
  int nodesInRack = 2;
  int operators = 2;
  bool extender = true;
  std::chrono::microseconds latency{500};
  std::chrono::microseconds watchLag{2'000};
  std::chrono::milliseconds length{30'000};  // of the time in which things go wrong
  std::vector<QueuePlan> queues;
  model::Policy policy;  // of the operators
  // What a LimitRange gives to containers that ask for no cpu, which then all of them do; 0: there is none.
  int defaultCpus = 0;
  std::vector<JobPlan> jobs;
  std::vector<TroublePlan> troubles;  // by time
  FaultOdds odds;
  // Some of its jobs never end by themselves: in the end they are deleted.
  bool lending = false;

  // Whether members with this wish may run on that node, by its number: nodes fill one rack after the other.
  [[nodiscard]] bool mayUse(int node, NodeWish wish) const {
    const bool first = node < nodesInRack;
    return wish == NodeWish::kRack ? first : wish != NodeWish::kOtherRack || !first;
  }
};

// `contention`: with more gangs than fit, in queues and of priorities (contention_draw.h). Without, the same
// life is drawn but for that; `late` likewise: with gangs that may begin before all their members are there;
// `lending`, with contention: with jobs that never end, and one within its queue's guarantee.
struct DrawOptions {
  bool contention = false;
  bool late = false;
  bool lending = false;
};
[[nodiscard]] Scenario drawScenario(std::uint64_t seed, const DrawOptions& options);
// One line a thing, for people who look at a failing seed.
[[nodiscard]] std::string describe(const Scenario& scenario);

}  // namespace trainyard::simulation
