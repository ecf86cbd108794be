#include "replay/papers/pollux_tiresias.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "replay/engine/meter.h"

namespace trainyard::replay {
namespace {

constexpr double kStep = 60;       // s
constexpr double kPause = 30;      // s
constexpr double kLimit = 57'600;  // GPU seconds

struct LiveJob {
  std::size_t epoch = 0;
  double progress = 0;
  double attained = 0;  // GPU seconds
  double pause = 0;     // s left
  double ended = -1;
  std::vector<std::size_t> nodes = {};  // one entry for each GPU, in the order they were taken
};

class TiresiasEngine {
 public:
  TiresiasEngine(const PolluxTrace& trace, const std::vector<ReplayNode>& cluster,
                 const std::function<void(std::size_t, std::size_t)>& progress)
      : trace_(trace),
        progress_(progress),
        live_(trace.jobs.size()),
        meter_(trace.trace, sum(cluster), false) {
    for (const ReplayNode& node : cluster) free_.push_back(node.gpus);
  }

  ReplayResult run() {
    while (ended_ < live_.size()) {
      for (std::size_t i = 0; i < next_; ++i) {
        if (live_[i].ended < 0 && !live_[i].nodes.empty()) train(i);
      }
      meter_.advance(now_);
      now_ += kStep;
      endDue();
      submitDue();
      demote();
      allocate();
    }
    return meter_.finish();
  }

 private:
  static std::int64_t sum(const std::vector<ReplayNode>& cluster) {
    std::int64_t gpus = 0;
    for (const ReplayNode& node : cluster) gpus += node.gpus;
    return gpus;
  }
  [[nodiscard]] const TraceJob& facts(std::size_t job) const { return trace_.trace.jobs[job]; }

  // Trains for one step, epoch by epoch; the time to the end of an epoch is a whole second, half to even.
  void train(std::size_t job) {
    LiveJob& live = live_[job];
    const PolluxApplication& application = *trace_.jobs[job].application;
    PolluxPlacement placement;
    for (std::size_t i = 0; i < live.nodes.size(); ++i) {
      if (i == 0 || live.nodes[i] != live.nodes[i - 1]) placement.push_back(0);
      ++placement.back();
    }
    const double paused = std::min(live.pause, kStep);
    live.pause -= paused;
    double at = now_ + paused;
    double left = kStep - paused;
    while (left > 0 && live.ended < 0) {
      const double speed = application.goodput(placement, trace_.jobs[job].batch, live.epoch);
      const double boundary = application.progressAfter(live.epoch + 1);
      double took = left;
      if (live.progress + speed * left < boundary) {
        live.progress += speed * left;
      } else {
        took = std::nearbyint((boundary - live.progress) / speed);
        live.progress = boundary;
        if (++live.epoch == application.epochs()) live.ended = at + took;
      }
      at += took;
      left -= took;
      meter_.progressed(took * facts(job).gpus);
    }
    live.attained += (live.ended < 0 ? kStep : live.ended - now_) * facts(job).gpus;
  }

  // A job that ends inside the step has its end at that second; its GPUs are free at the end of the step.
  void endDue() {
    std::vector<std::size_t> due;
    for (std::size_t i = 0; i < next_; ++i) {
      if (live_[i].ended >= 0 && !live_[i].nodes.empty()) due.push_back(i);
    }
    std::sort(due.begin(), due.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(live_[a].ended, a) < std::pair(live_[b].ended, b);
    });
    for (const std::size_t job : due) {
      meter_.advance(live_[job].ended);
      meter_.ended(job);
      release(job);
      for (auto& queue : queues_) std::erase(queue, job);
      progress_(++ended_, live_.size());
    }
    meter_.advance(now_);
  }

  void submitDue() {
    for (; next_ < live_.size() && std::chrono::duration<double>(facts(next_).submitted).count() <= now_;
         ++next_) {
      queues_[0].push_back(next_);
      meter_.submitted(next_);
    }
  }

  void demote() {
    for (std::size_t i = 0; i < queues_[0].size();) {
      const std::size_t job = queues_[0][i];
      if (live_[job].attained < kLimit) {
        ++i;
        continue;
      }
      queues_[1].push_back(job);
      queues_[0].erase(queues_[0].begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void allocate() {
    std::int64_t free = 0;
    for (const int each : free_) free += each;
    for (std::size_t i = 0; i < next_; ++i) free += static_cast<std::int64_t>(live_[i].nodes.size());
    std::vector<std::size_t> starting, stopping;
    for (const auto& queue : queues_) {
      for (const std::size_t job : queue) {
        const bool runs = facts(job).gpus <= free;
        if (runs) free -= facts(job).gpus;
        if (runs && live_[job].nodes.empty()) starting.push_back(job);
        if (!runs && !live_[job].nodes.empty()) stopping.push_back(job);
      }
    }
    for (const std::size_t job : stopping) {
      release(job);
      meter_.stopped(job);
    }
    for (const std::size_t job : starting) start(job);
  }

  void start(std::size_t job) {
    LiveJob& live = live_[job];
    int wanted = facts(job).gpus;
    while (wanted > 0) {
      const auto most = std::max_element(free_.begin(), free_.end());
      const int taken = std::min(*most, wanted);
      *most -= taken;
      wanted -= taken;
      live.nodes.insert(live.nodes.end(), static_cast<std::size_t>(taken),
                        static_cast<std::size_t>(most - free_.begin()));
    }
    live.pause = kPause;
    meter_.started(job);
  }

  void release(std::size_t job) {
    for (const std::size_t node : live_[job].nodes) ++free_[node];
    live_[job].nodes.clear();
  }

  const PolluxTrace& trace_;
  const std::function<void(std::size_t, std::size_t)>& progress_;
  std::vector<LiveJob> live_;
  ReplayMeter meter_;
  std::vector<int> free_;  // GPUs of each node
  std::array<std::deque<std::size_t>, 2> queues_;
  std::size_t next_ = 0;
  std::size_t ended_ = 0;
  double now_ = 0;
};

}  // namespace

ReplayResult runPolluxTiresias(const PolluxTrace& trace, const std::vector<ReplayNode>& cluster,
                               const std::function<void(std::size_t, std::size_t)>& progress) {
  return TiresiasEngine(trace, cluster, progress).run();
}

}  // namespace trainyard::replay
