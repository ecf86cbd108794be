#include "replay/engine/delay_meter.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "replay/engine/statistics.h"

namespace trainyard::replay {
namespace {

ReplayDelay delayOf(std::vector<double> jobs) {
  std::sort(jobs.begin(), jobs.end());
  return {.total = std::accumulate(jobs.begin(), jobs.end(), 0.0),
          .mean = mean(jobs),
          .p99 = percentile(jobs, 99)};
}

}  // namespace

DelayMeter::DelayMeter(const Trace& trace, const GpuUsage& usage, bool strict)
    : trace_(trace),
      usage_(usage),
      strict_(strict),
      inTurn_(trace.queues.size()),
      waits_(trace.jobs.size()),
      fairShare_(trace.jobs.size()),
      fragmentation_(trace.jobs.size()) {}

void DelayMeter::wait(std::size_t job) {
  const TraceJob& facts = trace_.jobs[job];
  Group& group = groups_[{facts.queue, strict_ ? 0 : facts.gpus}];
  ++group.waiting;
  ++waiting_;
  waits_[job] = {&group, group.fairShare, group.fragmentation};
  if (strict_) inTurn_[facts.queue].emplace(job, facts.gpus);
}

void DelayMeter::stopWaiting(std::size_t job) {
  Waiting& waiting = waits_[job];
  fairShare_[job] += waiting.group->fairShare - waiting.fairShareBefore;
  fragmentation_[job] += waiting.group->fragmentation - waiting.fragmentationBefore;
  --waiting.group->waiting;
  --waiting_;
  waiting.group = nullptr;
  if (strict_) inTurn_[trace_.jobs[job].queue].erase(job);
}

void DelayMeter::advance(double passed) {
  for (auto& [key, group] : groups_) {
    if (group.waiting == 0) continue;
    const int gpus = strict_ ? inTurn_[key.first].begin()->second : key.second;
    (lacksShare(usage_.queues[key.first], gpus) ? group.fairShare : group.fragmentation) += passed;
  }
}

// Shares are fractions of GPUs, added up many times: a difference of a billionth is ignored.
bool DelayMeter::lacksShare(const GpuUsage::OfQueue& queue, int gpus) const {
  return static_cast<double>(queue.used + gpus) > queue.share * (1 + 1e-9) ||
         usage_.used + gpus > usage_.capacity;
}

std::optional<int> DelayMeter::smallestWaiting(std::uint32_t queue) const {
  auto group = groups_.lower_bound({queue, std::numeric_limits<int>::min()});
  for (; group != groups_.end() && group->first.first == queue; ++group) {
    if (group->second.waiting > 0) return group->first.second;
  }
  return std::nullopt;
}

ReplayDelay DelayMeter::fairShare() const { return delayOf(fairShare_); }
ReplayDelay DelayMeter::fragmentation() const { return delayOf(fragmentation_); }

}  // namespace trainyard::replay
