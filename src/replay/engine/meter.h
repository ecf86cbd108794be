#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "replay/engine/result.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Watches a replay and adds up its result. Told what happens in the order of time: advance() to a moment,
// then what changes at it.
//
// Waiting is told apart as Philly does ("Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training
// Workloads", ATC 2019, section 3.1.1), and both kinds count from submission and after every stop: it is
// fragmentation delay while the job would not lift its queue above its share and so many GPUs are free, but
// not in places it may use; else fair-share delay. Where a queue serves strictly in turn, whoever stands
// behind its first waits for the same cause as that one.
//
// Shares: a queue's part of the cluster is that of its jobs' GPU time in the trace, since no trace tells its
// quotas. Fair share: that part, or what the queue asks for if this is less, the rest going to the others in
// the same proportions.
//
// Finish-time ratio: the time from submission to end, by the time that the job would take on its fair share
// alone (rho of Themis, Mahajan et al., NSDI 2020, section 3.1: the part of one of N in the cluster, N on
// average over its stay). Here it has that part of its queue's share that one of its queue's jobs has. With
// less than the GPUs that it asks for it is taken to run longer by as much, with more no faster; start-up and
// places do not count, and a job of less than a second counts as one of a second. 1 is fair, more is worse.
//
// Below guarantee: the time in which a queue had somebody waiting whose GPUs its share would have held beside
// what it held, were shares guarantees.
class ReplayMeter {
 public:
  // `strict`: queues serve strictly in turn. The trace must outlive the meter.
  ReplayMeter(const Trace& trace, std::int64_t capacity, bool strict);

  void advance(double now);  // s
  // At the present moment; `job` is an index into the trace.
  void submitted(std::size_t job);
  void started(std::size_t job) { started(job, trace_.jobs[job].gpus); }
  void started(std::size_t job, int gpus);
  void stopped(std::size_t job);
  void moved() { ++result_.preemptions; }
  void ended(std::size_t job);
  // GPU seconds that a stop undid.
  void lost(double gpuSeconds) { result_.lostGpuSeconds += gpuSeconds; }
  // GPU seconds in which the job progressed; in any order, any number of times.
  void progressed(double gpuSeconds) { progress_ += gpuSeconds; }
  // A running job has so many GPUs from now on.
  void resized(std::size_t job, int gpus);

  // Once all have ended.
  [[nodiscard]] ReplayResult finish();

 private:
  // Jobs that wait for the same cause at any one time: those of a queue with equally many GPUs, or all of a
  // strict queue.
  using GroupKey = std::pair<std::uint32_t, int>;
  struct Group {
    std::int64_t waiting = 0;
    double fairShare = 0;  // s so far in which its jobs waited for that
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
    std::int64_t wanted = 0;            // used and waited for
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
  std::vector<int> gpus_;             // GPUs of each job that runs
  std::vector<double> stayedBefore_;  // Queue::stayed at submission, by job
  double held_ = 0;
  double progress_ = 0;
  double unfair_ = 0;
  std::size_t stride_ = 1;
  std::size_t skipped_ = 0;
  ReplayResult result_;
};

// Each queue's part of the trace's GPU time, together 1.
[[nodiscard]] std::vector<double> queueParts(const Trace& trace);

// A mean time from submission to end that no schedule on so many GPUs beats: the larger of the mean duration,
// and of the mean when jobs share one machine with the speed of all GPUs in the order of the shortest
// remaining GPU time, as if all could use all of them (Schrage 1968: that order is optimal on one machine).
[[nodiscard]] double fluidLowerBound(const Trace& trace, std::int64_t capacity);

}  // namespace trainyard::replay
