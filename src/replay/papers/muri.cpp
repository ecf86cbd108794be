#include "replay/papers/muri.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "replay/engine/meter.h"

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr double kNever = std::numeric_limits<double>::infinity();
// The attained GPU-seconds at which Tiresias moves a job to the next queue; the last queue has no limit.
constexpr std::array<double, 2> kDemotion{3250, 7200};

struct Live {
  std::size_t job = 0;
  int gpus = 1;
  double overhead = 0;
  double remaining = 0;  // s of work
  double attained = 0;   // s of running, start-up included
  std::size_t queue = 0;
  bool running = false;
  double end = kNever;
};

class Engine {
 public:
  Engine(const MuriTrace& trace, const std::vector<ReplayNode>& cluster, ReplayPolicy policy,
         const std::function<void(std::size_t, std::size_t)>& progress)
      : trace_(trace),
        cluster_(cluster),
        policy_(policy),
        progress_(progress),
        ran_(trace.jobs.size()),
        meter_(trace.trace, capacity(), false) {}

  ReplayResult run() {
    while (next_ < trace_.jobs.size() || !live_.empty()) {
      const double now = std::min({nextArrival(), nextEnd(), nextDemotion()});
      meter_.advance(now);
      step(now);
      last_ = now;
    }
    return meter_.finish();
  }

 private:
  std::int64_t capacity() const {
    std::int64_t gpus = 0;
    for (const ReplayNode& node : cluster_) gpus += node.gpus;
    return gpus;
  }

  double nextArrival() const { return next_ < trace_.jobs.size() ? trace_.jobs[next_].submit : kNever; }

  double nextEnd() const {
    double end = kNever;
    for (const Live& live : live_) end = std::min(end, live.end);
    return end;
  }

  double nextDemotion() const {
    if (!policy_.tiresias) return kNever;
    double soonest = kNever;
    for (const Live& live : live_) {
      if (!live.running || live.queue >= kDemotion.size()) continue;
      soonest = std::min(soonest, last_ + untilDemotion(live));
    }
    return soonest;
  }
  static double untilDemotion(const Live& live) {
    return std::ceil(kDemotion[live.queue] / live.gpus) - live.attained;
  }

  // The order of the steps of an event decides ties, and therefore the last digits.
  void step(double now) {
    std::erase_if(live_, [&](const Live& live) { return live.end <= now && end(live); });
    for (; next_ < trace_.jobs.size() && trace_.jobs[next_].submit <= now; ++next_) submit();
    for (Live& live : live_) advance(live, now);
    for (const Live& live : live_) ran_[live.job] = live.running;
    if (policy_.tiresias) {
      demote(now);
      runFromPool();
    } else {
      sort();
      runOnNodes();
    }
    for (Live& live : live_) {
      live.end = live.running ? now + live.remaining : kNever;
      if (ran_[live.job] && !live.running) meter_.stopped(live.job);
      if (!ran_[live.job] && live.running) meter_.started(live.job);
    }
  }

  bool end(const Live& live) {
    meter_.ended(live.job);
    meter_.progressed(trace_.jobs[live.job].work * live.gpus);
    progress_(++ended_, trace_.jobs.size());
    return true;
  }

  void submit() {
    const MuriJob& job = trace_.jobs[next_];
    const int gpus = trace_.trace.jobs[next_].gpus;
    live_.push_back({.job = next_, .gpus = gpus, .overhead = job.overhead, .remaining = job.work});
    meter_.submitted(next_);
  }

  void advance(Live& live, double now) {
    if (!live.running) return;
    live.remaining -= std::max(now - last_ - live.overhead, 0.0);
    live.attained += now - last_;
  }

  void sort() {
    const auto left = [this](const Live& live) {
      return policy_.ordering == model::Ordering::kSrsf ? live.remaining * live.gpus : live.remaining;
    };
    std::stable_sort(live_.begin(), live_.end(),
                     [&](const Live& a, const Live& b) { return left(a) < left(b); });
  }

  // Jobs up to a node's GPUs are never split; larger ones take whole nodes only.
  void runOnNodes() {
    std::vector<int> free;
    for (const ReplayNode& node : cluster_) free.push_back(node.gpus);
    const int perNode = cluster_.front().gpus;
    for (Live& live : live_)
      live.running = live.gpus <= perNode ? fitsOne(free, live) : fitsMany(free, live, perNode);
  }
  static bool fitsOne(std::vector<int>& free, const Live& live) {
    const auto node = std::find_if(free.begin(), free.end(), [&](int each) { return each >= live.gpus; });
    if (node == free.end()) return false;
    *node -= live.gpus;
    return true;
  }
  static bool fitsMany(std::vector<int>& free, const Live& live, int perNode) {
    const auto want = live.gpus / perNode;
    if (std::count(free.begin(), free.end(), perNode) < want) return false;
    int taken = 0;
    for (int& node : free) {
      if (node != perNode) continue;
      node = 0;
      if (++taken == want) break;
    }
    return true;
  }

  // Demotes by one level per event; demoted jobs follow those of the next queue. All queues share one list,
  // each in its own order. If rounding leaves a job short of its limit by less than the clock's resolution,
  // it is demoted now.
  void demote(double now) {
    std::vector<Live> kept, moved;
    for (Live& live : live_) {
      const bool goes =
          live.running && live.queue < kDemotion.size() &&
          (live.attained * live.gpus >= kDemotion[live.queue] || now + untilDemotion(live) <= now);
      if (goes) ++live.queue;
      (goes ? moved : kept).push_back(live);
    }
    live_ = std::move(kept);
    live_.insert(live_.end(), moved.begin(), moved.end());
  }

  // A pool without placement: jobs that fit run, queue by queue; then pending jobs move behind running ones.
  void runFromPool() {
    std::int64_t free = capacity();
    for (std::size_t queue = 0; queue <= kDemotion.size(); ++queue) {
      for (Live& live : live_) {
        if (live.queue != queue) continue;
        live.running = live.gpus <= free;
        if (live.running) free -= live.gpus;
      }
    }
    std::stable_partition(live_.begin(), live_.end(), [](const Live& live) { return live.running; });
  }

  const MuriTrace& trace_;
  const std::vector<ReplayNode>& cluster_;
  const ReplayPolicy policy_;
  const std::function<void(std::size_t, std::size_t)>& progress_;
  std::vector<bool> ran_;  // by job, before the present event
  ReplayMeter meter_;
  std::vector<Live> live_;
  std::size_t next_ = 0;
  std::size_t ended_ = 0;
  double last_ = 0;
};

}  // namespace

bool knownToMuri(ReplayPolicy policy) {
  return policy.tiresias || policy.ordering == model::Ordering::kSrtf ||
         policy.ordering == model::Ordering::kSrsf;
}

Result<ReplayResult> runMuri(const MuriTrace& trace, const std::vector<ReplayNode>& cluster,
                             ReplayPolicy policy,
                             const std::function<void(std::size_t, std::size_t)>& progress) {
  if (!knownToMuri(policy))
    return fail(ErrorCode::kInvalid, "Muri's rules are known of the policies srtf, srsf and tiresias only");
  const int perNode = cluster.front().gpus;
  for (const ReplayNode& node : cluster) {
    if (node.gpus != perNode)
      return fail(ErrorCode::kInvalid, "Muri's rules know only clusters of nodes with equally many GPUs");
  }
  for (const TraceJob& job : trace.trace.jobs) {
    const bool split = job.gpus > perNode && job.gpus % perNode != 0;
    if (split || job.gpus > perNode * static_cast<std::int64_t>(cluster.size())) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("job {} wants {} GPUs: never on {} nodes of {} by Muri's rules", job.name,
                              job.gpus, cluster.size(), perNode));
    }
  }
  return Engine(trace, cluster, policy, progress).run();
}

}  // namespace trainyard::replay
