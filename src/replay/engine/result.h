#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/engine/options.h"

namespace trainyard::replay {

// Of one kind of waiting, over all jobs; seconds.
struct ReplayDelay {
  double total = 0;
  double mean = 0;
  double p99 = 0;
};

// The cluster over time, one sample for each change, thinned out in long replays.
struct ReplaySample {
  double time = 0;  // s since the first submission
  std::int64_t gpusInUse = 0;
  std::int64_t waiting = 0;  // jobs
};

// Of the jobs of one queue, or of all.
struct ReplayFairness {
  std::string queue;
  std::size_t jobs = 0;
  // Themis' finish-time ratio: see ReplayMeter.
  double rhoMean = 0;
  double rhoP95 = 0;
  double belowGuaranteeSeconds = 0;
};

// GPUs that one placement policy handed out (openb); shares of the cluster, means over the seeds.
struct ReplayAllocation {
  ReplayPlacement placement = ReplayPlacement::kDefault;
  double gpuAllocation = 0;  // in the end
  double published = 0;      // by the paper that made it known; 0: none
  // When the pods that had come asked for so many percent of the cluster: [0], [1], …
  std::vector<double> byArrivals;
};

// What Dorm says of partitions, see engine/partitions.h.
struct ReplayPartitions {
  struct OfJob {
    std::string name;
    double completionSeconds = 0;
    double overhead = 0;  // of the time that it had places
  };
  double utilization = 0;  // at most the number of kinds of resources
  double fairnessLoss = 0;
  std::uint64_t adjustments = 0;  // jobs whose places were changed while they ran
  double busySeconds = 0;         // in which anybody was there
  std::vector<OfJob> jobs = {};   // in the order of submission
};

// Times are in seconds, shares of the cluster between 0 and 1. The names of the JSON keys are those of the
// members (engine/text.cpp).
struct ReplayResult {
  std::size_t jobs = 0;
  double meanCompletionSeconds = 0;
  double medianCompletionSeconds = 0;
  // Element floor(0.99 n) of the sorted list, counted from 0, as Muri's simulator prints it.
  double p99CompletionSeconds = 0;
  double makespanSeconds = 0;
  // No schedule has a smaller mean, where sizes are those of the trace: see fluidLowerBound() in
  // engine/meter.h. 0: no such bound is known.
  double fluidLowerBoundSeconds = 0;
  double gpuUtilization = 0;  // GPU time in which jobs progressed, of the cluster's until the last end
  double gpuAllocation = 0;   // the same with start-up
  double fairnessLoss = 0;    // mean share of the cluster held above its holder's fair share
  ReplayDelay fairShareDelaySeconds;
  ReplayDelay fragmentationDelaySeconds;
  // GPU time of work that stops undid.
  double lostGpuSeconds = 0;
  ReplayFairness fairness;                  // of all jobs
  std::vector<ReplayFairness> queues = {};  // by name, where the trace has several
  std::uint64_t preemptions = 0;            // stops and moves of running jobs
  std::uint64_t resizes = 0;
  std::optional<ReplayPartitions> partitions = std::nullopt;  // dorm only

  std::vector<ReplayAllocation> allocations;  // openb only, which knows no times

  // For the plot.
  std::int64_t capacity = 0;  // GPUs
  std::vector<double> sortedCompletionSeconds;
  std::vector<ReplaySample> samples;
  // Printed below the table: what is to be known beside the numbers.
  std::vector<std::string> notes;
};

}  // namespace trainyard::replay
