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

// When a job may be placed wider than it prefers. Where it names no time itself, a level is given up after
// base + perGpu × its GPUs, or after that share of its estimated duration if this is longer; never later than
// `cap` after the level before.
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
  // false: the first job of a queue that has to wait stops the whole queue, and no other.
  bool enabled = true;
  // So long a reservation keeps capacity from gangs that its holder cannot preempt; then it lapses for them
  // for as long, and so on.
  std::chrono::milliseconds reservationLimit{600'000};
  // So long the first waiting job has what a gang's member leaves behind to itself: others end with it.
  std::chrono::milliseconds keepFreed{5'000};
  friend bool operator==(const BackfillPolicy&, const BackfillPolicy&) = default;
};

struct PreemptionPolicy {
  // No job is stopped before it ran so long, nor again so soon after its last stop.
  std::chrono::milliseconds minRuntime{60'000};
  // What a stopped job without checkpoints loses at most, so that old jobs are not untouchable.
  std::chrono::milliseconds maxLostWork{86'400'000};
  // So long a pod that is told to end may take, whatever it asks for.
  std::chrono::seconds maxGrace{600};
  friend bool operator==(const PreemptionPolicy&, const PreemptionPolicy&) = default;
};

// Jobs of equal priority take turns on the GPUs where `ordering` says so; only preemptible ones that declare
// checkpoints are stopped.
struct TimeSlicing {
  bool enabled = true;
  std::chrono::milliseconds interval{1'800'000};
  friend bool operator==(const TimeSlicing&, const TimeSlicing&) = default;
};

struct Defragmentation {
  bool enabled = true;
  // A move is worth it when the GPU time that the waiting gang wins is so many times the lost work.
  int gainPermille = 2000;
  friend bool operator==(const Defragmentation&, const Defragmentation&) = default;
};

// What follows failures, besides what each class of them asks for.
struct FailureHandling {
  // A node on which gangs of so many jobs failed lately, of what a node may be to blame for, is avoided where
  // others will do. 0: none is.
  int suspectAfter = 2;
  std::chrono::milliseconds suspectFor{43'200'000};
  friend bool operator==(const FailureHandling&, const FailureHandling&) = default;
};

// The check that jobs with spec.health.preflight have run on each of their nodes before they start.
struct Preflight {
  std::string image = {};  // empty: none is configured
  std::vector<std::string> command = {};
  friend bool operator==(const Preflight&, const Preflight&) = default;
};

// Sizes of elastic jobs, docs/elastic.md.
struct ResizePolicy {
  bool enabled = true;
  std::chrono::milliseconds interval{60'000};  // between two looks at all sizes
  // Theta 1: the sum of what queues and jobs may lack of their shares, as part of the most it can be.
  int fairnessLossPermille = 100;
  // Theta 2: of the running elastic jobs so many are resized at once, but at least one.
  int touchedPermille = 100;
  // The gain until the next look must be so many times what the resize costs.
  int gainPermille = 2000;
  friend bool operator==(const ResizePolicy&, const ResizePolicy&) = default;
};

// What the administrators of a cluster decide: one YAML file, docs/policy.md.
struct Policy {
  std::vector<TopologyLevel> topology = defaultTopologyLevels();
  // Which resources are GPUs. Taken when a program starts: model/gpu_resources.h.
  std::vector<std::string> gpuResources = {std::string(names::kGpuResource)};
  std::string gpuTypeLabel = "nvidia.com/gpu.product";
  // Whether the members of one gang may have GPUs of several types.
  bool mixGpuTypes = false;
  Ordering ordering = Ordering::kDefault;
  // kLas: GPU seconds of service at which a job moves to the next queue, ascending; empty: the ordering's
  // own.
  std::vector<std::int64_t> lasLimits = {};
  RelaxationPolicy relaxation;
  std::vector<ShapeCost> shapeCosts;
  BackfillPolicy backfill;
  PreemptionPolicy preemption;
  TimeSlicing timeSlicing;
  Defragmentation defragmentation;
  // Older usage counts half after this time, between queues that are otherwise equal. Absent: only what is
  // held now counts.
  std::optional<std::chrono::seconds> usageHalfLife = std::nullopt;
  // A pod that is told to end on a node that has not been ready for so long is deleted by force; absent:
  // never. Longer than a reboot takes, so that a machine which comes back does not run a member twice.
  std::optional<std::chrono::milliseconds> unreachableGrace = std::chrono::milliseconds(60'000);
  // GPU pods that belong to no TrainingJob are charged to the queue that their namespace maps to.
  bool chargeOtherPods = false;
  // Once there are Queues, a job that none of them is charged for is not admitted.
  bool requireQueue = false;
  // Signs by which failures are known, before the built-in ones.
  std::vector<FailureRule> failureRules = {};
  FailureHandling failures;
  Preflight preflight;
  ResizePolicy resize;
  friend bool operator==(const Policy&, const Policy&) = default;
};

}  // namespace trainyard::model
