#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "replay/engine/gpu_usage.h"
#include "replay/engine/result.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Classifies the waiting time of jobs as in Philly ("Analysis of Large-Scale Multi-Tenant GPU Clusters for
// DNN Training Workloads", ATC 2019, section 3.1.1), from submission and after every preemption. It is
// fragmentation delay while the job would not lift its queue above its share and enough GPUs are free, but
// not in a usable placement; otherwise fair-share delay. In a strict queue, all jobs wait for the cause of
// the first one.
class DelayMeter {
 public:
  // `strict`: queues serve strictly in order. The arguments must outlive the meter.
  DelayMeter(const Trace& trace, const GpuUsage& usage, bool strict);

  void wait(std::size_t job);
  void stopWaiting(std::size_t job);
  void advance(double passed);  // s

  [[nodiscard]] std::int64_t waiting() const { return waiting_; }
  // Returns the GPUs of the smallest waiting job of a queue that is not strict.
  [[nodiscard]] std::optional<int> smallestWaiting(std::uint32_t queue) const;

  // The delays so far, of all jobs.
  [[nodiscard]] ReplayDelay fairShare() const;
  [[nodiscard]] ReplayDelay fragmentation() const;

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

  [[nodiscard]] bool lacksShare(const GpuUsage::OfQueue& queue, int gpus) const;

  const Trace& trace_;
  const GpuUsage& usage_;
  const bool strict_;
  std::int64_t waiting_ = 0;
  std::map<GroupKey, Group> groups_;
  std::vector<std::map<std::size_t, int>> inTurn_;  // strict: waiting jobs of each queue, and their GPUs
  std::vector<Waiting> waits_;                      // by job
  std::vector<double> fairShare_, fragmentation_;   // s, by job
};

}  // namespace trainyard::replay
