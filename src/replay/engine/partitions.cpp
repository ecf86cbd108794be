#include "replay/engine/partitions.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/resize.h"
#include "replay/engine/cluster.h"

namespace trainyard::replay {
namespace {

constexpr std::size_t kKinds = 3;
using Amounts = std::array<std::int64_t, kKinds>;

Amounts amountsOf(const model::Resources& amount) {
  return {amount.gpus(), amount.cpu.value, amount.memory.value};
}

// One pass over all events, in the order of time.
class Partitions {
 public:
  Partitions(const Trace& trace, const std::vector<ReplayNode>& cluster,
             const std::function<ReplayElastic::Range(std::size_t)>& bounds)
      : trace_(trace), jobs_(trace.jobs.size()) {
    const model::Snapshot snapshot = replaySnapshot(cluster);
    for (const auto& node : snapshot.nodes) {
      const Amounts each = amountsOf(node->allocatable);
      for (std::size_t k = 0; k < kKinds; ++k) capacity_[k] += each[k];
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      jobs_[i].range = bounds(i);
      jobs_[i].demand = amountsOf(jobs_[i].range.member);
    }
  }

  ReplayPartitions run(const std::vector<ReplayHolding>& holdings) {
    for (const ReplayHolding& each : holdings) {
      submitUntil(each.at);
      advance(each.at);
      hold(each);
    }
    return finish();
  }

 private:
  struct OfJob {
    ReplayElastic::Range range;
    Amounts demand{};
    int members = 0;
    bool isThere = false;
    bool hasRun = false;
    ReplayTime since{0};  // the time of its present placement
    ReplayTime pause{0};  // the pause at the start of it
    double ran = 0;       // s with a placement, so far
    double paused = 0;    // s of it
    double stayed = 0;    // s from submission to end
  };

  void submitUntil(ReplayTime time) {
    for (; next_ < jobs_.size() && trace_.jobs[next_].submitted <= time; ++next_) {
      advance(trace_.jobs[next_].submitted);
      jobs_[next_].isThere = true;
      ++there_;
    }
  }

  void advance(ReplayTime time) {
    const double passed = secondsOf(time - now_);
    now_ = std::max(now_, time);
    if (passed <= 0 || there_ == 0) return;
    busy_ += passed;
    utilization_ += passed * utilization();
    fairnessLoss_ += passed * fairnessLoss();
  }

  void hold(const ReplayHolding& what) {
    OfJob& job = jobs_[what.job];
    if (job.members > 0) {
      const ReplayTime had = what.at - job.since;
      job.ran += secondsOf(had);
      job.paused += secondsOf(std::min(had, job.pause));
    }
    if (what.members > 0 && job.members > 0) ++result_.adjustments;
    job.pause = job.hasRun ? what.pause : ReplayTime{0};
    job.hasRun = job.hasRun || what.members > 0;
    job.members = what.members;
    job.since = what.at;
    if (!what.ended) return;
    job.isThere = false;
    --there_;
    job.stayed = secondsOf(what.at - trace_.jobs[what.job].submitted);
  }

  [[nodiscard]] double utilization() const {
    double sum = 0;
    for (std::size_t k = 0; k < kKinds; ++k) {
      std::int64_t held = 0;
      for (const OfJob& job : jobs_) held += job.demand[k] * job.members;
      if (capacity_[k] > 0) sum += static_cast<double>(held) / static_cast<double>(capacity_[k]);
    }
    return sum;
  }

  [[nodiscard]] double fairnessLoss() const {
    core::SizeProblem problem;
    problem.kinds = kKinds;
    problem.capacity.assign(capacity_.begin(), capacity_.end());
    problem.free = problem.capacity;
    Amounts left = capacity_;
    constexpr double kWhole = 1e9;
    std::vector<const OfJob*> entitled;
    double loss = 0;
    for (const OfJob& job : jobs_) {
      if (!job.isThere) continue;
      bool fits = true;
      for (std::size_t k = 0; k < kKinds; ++k) fits = fits && job.demand[k] * job.range.minimum <= left[k];
      core::SizeProblem::Job described;
      described.demand.assign(job.demand.begin(), job.demand.end());
      described.minimum = job.range.minimum;
      described.most = job.range.most;
      if (!fits) {
        loss += static_cast<double>(core::dominantShare(problem, described)) * job.members / kWhole;
        continue;
      }
      for (std::size_t k = 0; k < kKinds; ++k) left[k] -= job.demand[k] * job.range.minimum;
      entitled.push_back(&job);
      problem.jobs.push_back(std::move(described));
    }
    const std::vector<int> fair = core::fairSizes(problem);
    std::vector<int> sizes;
    for (const OfJob* job : entitled) sizes.push_back(job->members);
    return loss + static_cast<double>(core::fairnessLoss(problem, fair, sizes)) / kWhole;
  }

  ReplayPartitions finish() {
    if (busy_ > 0) {
      result_.utilization = utilization_ / busy_;
      result_.fairnessLoss = fairnessLoss_ / busy_;
    }
    result_.busySeconds = busy_;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const OfJob& job = jobs_[i];
      const double overhead = job.ran > 0 ? job.paused / job.ran : 0;
      result_.jobs.push_back({trace_.jobs[i].name, job.stayed, overhead});
    }
    return std::move(result_);
  }

  const Trace& trace_;
  std::vector<OfJob> jobs_;
  Amounts capacity_{};
  std::size_t next_ = 0;   // to be submitted
  std::size_t there_ = 0;  // submitted, not ended
  ReplayTime now_{0};
  double busy_ = 0;
  double utilization_ = 0;
  double fairnessLoss_ = 0;
  ReplayPartitions result_;
};

}  // namespace

ReplayPartitions partitionsOf(const Trace& trace, const std::vector<ReplayNode>& cluster,
                              const std::function<ReplayElastic::Range(std::size_t)>& bounds,
                              const std::vector<ReplayHolding>& holdings) {
  return Partitions(trace, cluster, bounds).run(holdings);
}

}  // namespace trainyard::replay
