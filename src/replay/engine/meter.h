#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/engine/delay_meter.h"
#include "replay/engine/fairness_meter.h"
#include "replay/engine/gpu_usage.h"
#include "replay/engine/result.h"
#include "replay/engine/thinned_samples.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Observes a replay and adds up its result. The calls follow the order of time: advance() to a moment, then
// the changes at that moment.
//
// Shares: a queue's part of the cluster is the part of its jobs in the trace's GPU time, because no trace has
// quotas. delay_meter.h and fairness_meter.h define what is measured by them.
class ReplayMeter {
 public:
  // `strict`: queues serve strictly in order. The trace must outlive the meter.
  ReplayMeter(const Trace& trace, std::int64_t capacity, bool strict);
  ReplayMeter(const ReplayMeter&) = delete;
  ReplayMeter& operator=(const ReplayMeter&) = delete;

  void advance(double now);  // s
  // Events at the present moment; `job` is an index into the trace.
  void submitted(std::size_t job);
  void started(std::size_t job) { started(job, trace_.jobs[job].gpus); }
  void started(std::size_t job, int gpus);
  void stopped(std::size_t job);
  void moved() { ++result_.preemptions; }
  void ended(std::size_t job);
  // Adds GPU seconds of work that a preemption undid.
  void lost(double gpuSeconds) { result_.lostGpuSeconds += gpuSeconds; }
  // Adds GPU seconds in which jobs progressed; in any order, any number of times.
  void progressed(double gpuSeconds) { progress_ += gpuSeconds; }
  // A running job has this many GPUs from now on.
  void resized(std::size_t job, int gpus);

  // Called after all jobs have ended.
  [[nodiscard]] ReplayResult finish();

 private:
  // Adds to the GPUs that the job's queue uses.
  void use(std::size_t job, int gpus);

  const Trace& trace_;
  GpuUsage usage_;
  DelayMeter delays_;
  FairnessMeter fairness_;
  ThinnedSamples samples_;
  double now_ = 0;
  std::vector<double> completion_;  // s, by job
  std::vector<int> gpus_;           // of each running job
  double held_ = 0;                 // GPU seconds
  double progress_ = 0;
  ReplayResult result_;
};

// Returns each queue's part of the trace's GPU time; the sum is 1.
[[nodiscard]] std::vector<double> queueParts(const Trace& trace);

// Returns a mean time from submission to end that no schedule on this many GPUs beats: the larger of the mean
// duration, and of the mean if jobs share one machine with the speed of all GPUs, in the order of the
// shortest remaining GPU time, as if all could use all of them (Schrage 1968: optimal on one machine).
[[nodiscard]] double fluidLowerBound(const Trace& trace, std::int64_t capacity);

}  // namespace trainyard::replay
