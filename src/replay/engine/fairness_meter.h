#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/engine/delay_meter.h"
#include "replay/engine/gpu_usage.h"
#include "replay/engine/result.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Measures how fairly the queues of a replay, and their jobs, share the cluster.
//
// Fair share: the queue's share of the cluster (GpuUsage), or its requests if they are smaller; the rest goes
// to the others in the same proportions.
//
// Finish-time ratio: the time from submission to end, divided by the time that the job would take on its fair
// share alone (rho of Themis, Mahajan et al., NSDI 2020, section 3.1: the part of one of N in the cluster, N
// on average over its stay). Here the fair share is one job's part of its queue's share. With fewer GPUs than
// requested, the job is assumed to run proportionally longer, with more no faster. Start-up and placement do
// not count. A job of less than a second counts as one. 1 is fair, more is worse.
//
// Below guarantee: the time in which a queue had a pending job that would fit into its share beside its
// running jobs, if shares were guarantees. Queues that serve strictly in order have no guaranteed quota.
class FairnessMeter {
 public:
  // The arguments must outlive the meter.
  FairnessMeter(const Trace& trace, const GpuUsage& usage, const DelayMeter& delays, bool strict);

  void submitted(std::size_t job);
  // `stay`: from the job's submission to its end, in s.
  void ended(std::size_t job, double stay);
  void advance(double passed);  // s

  // Returns the fairness of all jobs, then of the jobs of each queue.
  [[nodiscard]] std::vector<ReplayFairness> fairness() const;
  // Returns the GPU seconds so far above the fair share of their holder.
  [[nodiscard]] double aboveFairShare() const { return above_; }

 private:
  struct Queue {
    std::int64_t live = 0;
    double stayed = 0;  // s x jobs in it so far
    double below = 0;   // s so far below its guarantee
  };

  [[nodiscard]] double heldAboveFairShare() const;
  void countBelowGuarantee(double passed);
  [[nodiscard]] double finishTimeRatio(std::size_t job, double stay) const;

  const Trace& trace_;
  const GpuUsage& usage_;
  const DelayMeter& delays_;
  const bool strict_;
  std::vector<Queue> queues_;
  std::vector<double> rho_;           // by job
  std::vector<double> stayedBefore_;  // Queue::stayed at submission, by job
  double above_ = 0;
};

}  // namespace trainyard::replay
