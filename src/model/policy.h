#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/failure_rule.h"
#include "model/names.h"
#include "model/ordering.h"
#include "model/topology.h"

namespace trainyard::model {

// When a job may be placed wider than it prefers. If the job sets no time, it leaves a level after base +
// perGpu × its GPUs, or after that share of its estimated duration if this is longer; never later than `cap`
// after the level before.
struct RelaxationPolicy {
  std::chrono::milliseconds base{60'000};
  std::chrono::milliseconds perGpu{5'000};
  int permilleOfEstimate = 50;
  std::chrono::milliseconds cap{3'600'000};
  friend bool operator==(const RelaxationPolicy&, const RelaxationPolicy&) = default;
};

// How much slower a gang runs in a shape: `nodes` nodes with `gpusPerNode` of its GPUs on each.
struct ShapeCost {
  int nodes = 0;
  int gpusPerNode = 0;
  int slowdownPermille = 1000;  // 1000: as fast as on one node
  friend bool operator==(const ShapeCost&, const ShapeCost&) = default;
};

struct BackfillPolicy {
  // false: the first pending job of a queue blocks the whole queue, and no other.
  bool enabled = true;
  // How long a reservation keeps capacity from gangs that its holder cannot preempt; it then lapses for them
  // for the same time, and so on.
  std::chrono::milliseconds reservationLimit{600'000};
  // How long capacity freed by a gang's member is kept for the first pending job: more members may follow.
  std::chrono::milliseconds keepFreed{5'000};
  friend bool operator==(const BackfillPolicy&, const BackfillPolicy&) = default;
};

struct PreemptionPolicy {
  // No job is preempted before it ran this long, nor again this soon after its last preemption.
  std::chrono::milliseconds minRuntime{60'000};
  // The maximum lost work that counts for a job without checkpoints, so that old jobs stay preemptible.
  std::chrono::milliseconds maxLostWork{86'400'000};
  // The maximum grace period of a pod, whatever it requests.
  std::chrono::seconds maxGrace{600};
  friend bool operator==(const PreemptionPolicy&, const PreemptionPolicy&) = default;
};

// Time slicing of GPUs between jobs of equal priority, if `ordering` uses it. Only preemptible jobs that
// declare checkpoints are preempted.
struct TimeSlicing {
  bool enabled = true;
  std::chrono::milliseconds interval{1'800'000};
  friend bool operator==(const TimeSlicing&, const TimeSlicing&) = default;
};

struct Defragmentation {
  bool enabled = true;
  // A move is worthwhile if the GPU time that the pending gang gains is this many times the lost work.
  int gainPermille = 2000;
  friend bool operator==(const Defragmentation&, const Defragmentation&) = default;
};

// The reactions to failures that do not depend on the class.
struct FailureHandling {
  // A node is avoided, if others fit, after recent failures of gangs of this many jobs that a node may have
  // caused. 0: no node is avoided.
  int suspectAfter = 2;
  std::chrono::milliseconds suspectFor{43'200'000};
  friend bool operator==(const FailureHandling&, const FailureHandling&) = default;
};

// The check that jobs with spec.health.preflight run on each of their nodes before they start.
struct Preflight {
  std::string image = {};  // empty: none is configured
  std::vector<std::string> command = {};
  friend bool operator==(const Preflight&, const Preflight&) = default;
};

// Sizes of elastic jobs, docs/elastic.md.
struct ResizePolicy {
  bool enabled = true;
  std::chrono::milliseconds interval{60'000};  // between two evaluations of all sizes
  // Theta 1: the allowed sum of missing shares of queues and jobs, relative to its maximum.
  int fairnessLossPermille = 100;
  // Theta 2: the fraction of the running elastic jobs that are resized at once, but at least one.
  int touchedPermille = 100;
  // The gain until the next evaluation must be this many times the cost of the resize.
  int gainPermille = 2000;
  friend bool operator==(const ResizePolicy&, const ResizePolicy&) = default;
};

// The decisions of a cluster's administrators: one YAML file, docs/policy.md.
struct Policy {
  std::vector<TopologyLevel> topology = defaultTopologyLevels();
  // Which resources are GPUs. Read when a program starts: model/gpu_resources.h.
  std::vector<std::string> gpuResources = {std::string(names::kGpuResource)};
  // Device classes of DRA whose devices are GPUs, although they name no extended resource. Read as
  // gpuResources are.
  std::vector<std::string> deviceClasses = {};
  std::string gpuTypeLabel = "nvidia.com/gpu.product";
  // Whether the members of one gang may have GPUs of several types.
  bool mixGpuTypes = false;
  Ordering ordering = Ordering::kDefault;
  // kLas: GPU seconds of service at which a job moves to the next queue, ascending; empty: the default of the
  // ordering.
  std::vector<std::int64_t> lasLimits = {};
  RelaxationPolicy relaxation;
  std::vector<ShapeCost> shapeCosts;
  BackfillPolicy backfill;
  PreemptionPolicy preemption;
  TimeSlicing timeSlicing;
  Defragmentation defragmentation;
  // Half-life of past usage, in the order of otherwise equal queues. Absent: only present usage
  // counts.
  std::optional<std::chrono::seconds> usageHalfLife = std::nullopt;
  // A terminating pod on a node that has not been ready for this long is deleted by force; absent: never. The
  // default exceeds a reboot, so that a machine that comes back does not run a member twice.
  std::optional<std::chrono::milliseconds> unreachableGrace = std::chrono::milliseconds(60'000);
  // GPU pods that belong to no TrainingJob are charged to the queue that their namespace maps to.
  bool chargeOtherPods = false;
  // If any Queue exists, a job that is charged to none is not admitted.
  bool requireQueue = false;
  // Rules that recognize failures, before the built-in ones.
  std::vector<FailureRule> failureRules = {};
  FailureHandling failures;
  Preflight preflight;
  ResizePolicy resize;
  friend bool operator==(const Policy&, const Policy&) = default;
};

}  // namespace trainyard::model
