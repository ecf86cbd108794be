#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "replay/engine/result.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Observes a replay and adds up its result. The calls follow the order of time: advance() to a moment, then
// the changes at that moment.
//
// Waiting time is classified as in Philly ("Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN
// Training Workloads", ATC 2019, section 3.1.1), from submission and after every preemption. It is
// fragmentation delay while the job would not lift its queue above its share and enough GPUs are free, but
// not in a usable placement; otherwise fair-share delay. In a strict queue, all jobs wait for the cause of
// the first one.
//
// Shares: a queue's part of the cluster is the part of its jobs in the trace's GPU time, because no trace has
// quotas. Fair share: that part, or the queue's requests if they are smaller; the rest goes to the others in
// the same proportions.
//
// Finish-time ratio: the time from submission to end, divided by the time that the job would take on its fair
// share alone (rho of Themis, Mahajan et al., NSDI 2020, section 3.1: the part of one of N in the cluster, N
// on average over its stay). Here the fair share is one job's part of its queue's share. With fewer GPUs than
// requested, the job is assumed to run proportionally longer, with more no faster. Start-up and placement do
// not count. A job of less than a second counts as one. 1 is fair, more is worse.
//
// Below guarantee: the time in which a queue had a pending job that would fit into its share beside its
// running jobs, if shares were guarantees.
class ReplayMeter {
 public:
  // `strict`: queues serve strictly in order. The trace must outlive the meter.
  ReplayMeter(const Trace& trace, std::int64_t capacity, bool strict);

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
  // Jobs that always wait for the same cause: those of a queue with equally many GPUs, or all jobs of a
  // strict queue.
  using GroupKey = std::pair<std::uint32_t, int>;
  struct Group {
    std::int64_t waiting = 0;
    double fairShare = 0;  // s so far in which its jobs waited for the share
    double fragmentation = 0;
  };
  struct Waiting {
    Group* group = nullptr;
    double fairShareBefore = 0;
    double fragmentationBefore = 0;
  };
  struct Queue {
    double share = 0;  // GPUs
    std::int64_t used = 0;
    std::int64_t wanted = 0;            // used and requested
    std::map<std::size_t, int> inTurn;  // strict: waiting jobs, and their GPUs
    std::int64_t live = 0;
    double stayed = 0;  // s x jobs in it so far
    double below = 0;   // s so far below its guarantee
  };

  void wait(std::size_t job);
  void stopWaiting(std::size_t job);
  [[nodiscard]] bool lacksShare(const Queue& queue, int gpus) const;
  [[nodiscard]] double heldAboveFairShare();
  void countBelowGuarantee(double passed);
  [[nodiscard]] double finishTimeRatio(std::size_t job) const;
  [[nodiscard]] std::vector<ReplayFairness> fairness() const;
  void sample();
  [[nodiscard]] ReplayDelay delay(std::vector<double>& ofJobs) const;

  const Trace& trace_;
  const bool strict_;
  const std::int64_t capacity_;
  double now_ = 0;
  std::int64_t used_ = 0;
  std::int64_t waiting_ = 0;
  std::vector<Queue> queues_;
  std::map<GroupKey, Group> groups_;
  std::vector<Waiting> waits_;
  std::vector<double> completion_, fairShare_, fragmentation_;
  std::vector<double> rho_;           // by job
  std::vector<int> gpus_;             // of each running job
  std::vector<double> stayedBefore_;  // Queue::stayed at submission, by job
  double held_ = 0;
  double progress_ = 0;
  double unfair_ = 0;
  std::size_t stride_ = 1;
  std::size_t skipped_ = 0;
  ReplayResult result_;
};

// Returns each queue's part of the trace's GPU time; the sum is 1.
[[nodiscard]] std::vector<double> queueParts(const Trace& trace);

// Returns a mean time from submission to end that no schedule on this many GPUs beats: the larger of the mean
// duration, and of the mean if jobs share one machine with the speed of all GPUs, in the order of the
// shortest remaining GPU time, as if all could use all of them (Schrage 1968: optimal on one machine).
[[nodiscard]] double fluidLowerBound(const Trace& trace, std::int64_t capacity);

}  // namespace trainyard::replay
