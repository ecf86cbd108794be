#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/engine/options.h"

namespace trainyard::replay {

// One kind of waiting time over all jobs, in seconds.
struct ReplayDelay {
  double total = 0;
  double mean = 0;
  double p99 = 0;
};

// The cluster over time: one sample for each change, thinned out in long replays.
struct ReplaySample {
  double time = 0;  // s since the first submission
  std::int64_t gpusInUse = 0;
  std::int64_t waiting = 0;  // jobs
};

// The fairness of the jobs of one queue, or of all jobs.
struct ReplayFairness {
  std::string queue;
  std::size_t jobs = 0;
  // Themis' finish-time ratio: see FairnessMeter.
  double rhoMean = 0;
  double rhoP95 = 0;
  double belowGuaranteeSeconds = 0;
};

// The GPUs that one placement policy assigned (openb): shares of the cluster, means over the seeds.
struct ReplayAllocation {
  ReplayPlacement placement = ReplayPlacement::kDefault;
  double gpuAllocation = 0;  // in the end
  double published = 0;      // by the paper of the policy; 0: none
  // The value when the requests of the pods so far reached each percentage of the cluster: [0], [1], …
  std::vector<double> byArrivals;
};

// Dorm's measures of partitions, see engine/partitions.h.
struct ReplayPartitions {
  struct OfJob {
    std::string name;
    double completionSeconds = 0;
    double overhead = 0;  // of the time with a placement
  };
  double utilization = 0;  // at most the number of kinds of resources
  double fairnessLoss = 0;
  std::uint64_t adjustments = 0;  // changes of a running job's placement
  double busySeconds = 0;         // in which jobs were present
  std::vector<OfJob> jobs = {};   // in the order of submission
};

// Times are in seconds, shares of the cluster between 0 and 1. The JSON keys are the names of the members
// (engine/text.cpp).
struct ReplayResult {
  std::size_t jobs = 0;
  double meanCompletionSeconds = 0;
  double medianCompletionSeconds = 0;
  // Element floor(0.99 n) of the sorted list, counted from 0, as Muri's simulator prints it.
  double p99CompletionSeconds = 0;
  double makespanSeconds = 0;
  // No schedule has a smaller mean if sizes are those of the trace: see fluidLowerBound() in engine/meter.h.
  // 0: no such bound is known.
  double fluidLowerBoundSeconds = 0;
  double gpuUtilization = 0;  // GPU time with progress, relative to the cluster's until the last end
  double gpuAllocation = 0;   // the same including start-up
  double fairnessLoss = 0;    // mean share of the cluster above its holder's fair share
  ReplayDelay fairShareDelaySeconds;
  ReplayDelay fragmentationDelaySeconds;
  // GPU time of work that preemptions undid.
  double lostGpuSeconds = 0;
  ReplayFairness fairness;                  // of all jobs
  std::vector<ReplayFairness> queues = {};  // by name, if the trace has several
  std::uint64_t preemptions = 0;            // preemptions and moves of running jobs
  std::uint64_t resizes = 0;
  std::optional<ReplayPartitions> partitions = std::nullopt;  // dorm only

  std::vector<ReplayAllocation> allocations;  // openb only, which has no times

  // For the plot.
  std::int64_t capacity = 0;  // GPUs
  std::vector<double> sortedCompletionSeconds;
  std::vector<ReplaySample> samples;
  // Printed below the table: what a reader needs to interpret the numbers.
  std::vector<std::string> notes;
};

}  // namespace trainyard::replay
