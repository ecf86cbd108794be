#include "replay/engine/meter.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace trainyard::replay {
namespace {

constexpr std::size_t kMostSamples = 4'000;

double seconds(ReplayTime time) { return std::chrono::duration<double>(time).count(); }

double mean(const std::vector<double>& values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of a sorted list.
double p99(const std::vector<double>& values) {
  return values.empty() ? 0 : values[values.size() * 99 / 100];
}

double median(const std::vector<double>& values) {
  if (values.empty()) return 0;
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

ReplayMeter::ReplayMeter(const Trace& trace, std::int64_t capacity, bool strict)
    : trace_(trace),
      strict_(strict),
      capacity_(capacity),
      queues_(trace.queues.size()),
      waits_(trace.jobs.size()),
      completion_(trace.jobs.size()),
      fairShare_(trace.jobs.size()),
      fragmentation_(trace.jobs.size()) {
  double all = 0;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const double gpuTime = seconds(trace.work[i].duration) * trace.jobs[i].gpus;
    queues_[trace.jobs[i].queue].share += gpuTime;
    all += gpuTime;
  }
  for (Queue& queue : queues_) {
    queue.share = all > 0 ? queue.share / all * static_cast<double>(capacity)
                          : static_cast<double>(capacity) / static_cast<double>(queues_.size());
  }
}

void ReplayMeter::advance(double now) {
  const double passed = now - now_;
  if (passed <= 0) return;
  held_ += passed * static_cast<double>(used_);
  if (queues_.size() > 1) unfair_ += passed * heldAboveFairShare();
  for (auto& [key, group] : groups_) {
    if (group.waiting == 0) continue;
    const Queue& queue = queues_[key.first];
    const int gpus = strict_ ? queue.inTurn.begin()->second : key.second;
    (lacksShare(queue, gpus) ? group.fairShare : group.fragmentation) += passed;
  }
  sample();
  now_ = now;
}

// Shares are fractions of GPUs, sums of many additions: a billionth more is no more.
bool ReplayMeter::lacksShare(const Queue& queue, int gpus) const {
  return static_cast<double>(queue.used + gpus) > queue.share * (1 + 1e-9) || used_ + gpus > capacity_;
}

double ReplayMeter::heldAboveFairShare() {
  // Whoever asks for less than its part leaves the rest to the others, until none does.
  std::vector<const Queue*> open;
  for (const Queue& queue : queues_) open.push_back(&queue);
  double left = static_cast<double>(capacity_);
  double above = 0;
  for (bool again = true; again;) {
    again = false;
    const double parts = std::accumulate(open.begin(), open.end(), 0.0,
                                         [](double sum, const Queue* queue) { return sum + queue->share; });
    const double rest = left;
    std::erase_if(open, [&](const Queue* queue) {
      const double part = parts > 0 ? rest * queue->share / parts : 0;
      if (static_cast<double>(queue->wanted) > part) return false;
      left -= static_cast<double>(queue->wanted);
      again = true;
      return true;
    });
    if (again) continue;
    for (const Queue* queue : open) {
      const double part = parts > 0 ? rest * queue->share / parts : 0;
      above += std::max(0.0, static_cast<double>(queue->used) - part);
    }
  }
  return above;
}

void ReplayMeter::sample() {
  if (++skipped_ < stride_) return;
  skipped_ = 0;
  result_.samples.push_back({now_, used_, waiting_});
  if (result_.samples.size() < 2 * kMostSamples) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < result_.samples.size(); i += 2) result_.samples[kept++] = result_.samples[i];
  result_.samples.resize(kept);
  stride_ *= 2;
}

void ReplayMeter::wait(std::size_t job) {
  const TraceJob& facts = trace_.jobs[job];
  Group& group = groups_[{facts.queue, strict_ ? 0 : facts.gpus}];
  ++group.waiting;
  ++waiting_;
  waits_[job] = {&group, group.fairShare, group.fragmentation};
  if (strict_) queues_[facts.queue].inTurn.emplace(job, facts.gpus);
}

void ReplayMeter::stopWaiting(std::size_t job) {
  Waiting& waiting = waits_[job];
  fairShare_[job] += waiting.group->fairShare - waiting.fairShareBefore;
  fragmentation_[job] += waiting.group->fragmentation - waiting.fragmentationBefore;
  --waiting.group->waiting;
  --waiting_;
  waiting.group = nullptr;
  if (strict_) queues_[trace_.jobs[job].queue].inTurn.erase(job);
}

void ReplayMeter::submitted(std::size_t job) {
  queues_[trace_.jobs[job].queue].wanted += trace_.jobs[job].gpus;
  wait(job);
}

void ReplayMeter::started(std::size_t job) {
  stopWaiting(job);
  queues_[trace_.jobs[job].queue].used += trace_.jobs[job].gpus;
  used_ += trace_.jobs[job].gpus;
}

void ReplayMeter::stopped(std::size_t job) {
  ++result_.preemptions;
  queues_[trace_.jobs[job].queue].used -= trace_.jobs[job].gpus;
  used_ -= trace_.jobs[job].gpus;
  wait(job);
}

void ReplayMeter::ended(std::size_t job) {
  const TraceJob& facts = trace_.jobs[job];
  queues_[facts.queue].used -= facts.gpus;
  queues_[facts.queue].wanted -= facts.gpus;
  used_ -= facts.gpus;
  completion_[job] = now_ - seconds(facts.submitted);
  result_.makespanSeconds = std::max(result_.makespanSeconds, now_);
}

ReplayDelay ReplayMeter::delay(std::vector<double>& ofJobs) const {
  std::sort(ofJobs.begin(), ofJobs.end());
  return {
      .total = std::accumulate(ofJobs.begin(), ofJobs.end(), 0.0), .mean = mean(ofJobs), .p99 = p99(ofJobs)};
}

ReplayResult ReplayMeter::finish() {
  ReplayResult result = std::move(result_);
  result.jobs = completion_.size();
  result.capacity = capacity_;
  result.samples.push_back({now_, used_, waiting_});
  result.meanCompletionSeconds = mean(completion_);
  std::sort(completion_.begin(), completion_.end());
  result.medianCompletionSeconds = median(completion_);
  result.p99CompletionSeconds = p99(completion_);
  result.sortedCompletionSeconds = std::move(completion_);
  const double all = static_cast<double>(capacity_) * result.makespanSeconds;
  if (all > 0) {
    result.gpuUtilization = progress_ / all;
    result.gpuAllocation = held_ / all;
    result.fairnessLoss = unfair_ / all;
  }
  result.fairShareDelaySeconds = delay(fairShare_);
  result.fragmentationDelaySeconds = delay(fragmentation_);
  result.fluidLowerBoundSeconds = fluidLowerBound(trace_, capacity_);
  return result;
}

double fluidLowerBound(const Trace& trace, std::int64_t capacity) {
  if (trace.jobs.empty() || capacity <= 0) return 0;
  std::priority_queue<double, std::vector<double>, std::greater<>> remaining;  // s with all GPUs
  double now = 0;
  double waited = 0;
  double alone = 0;
  const auto runUntil = [&](double until) {
    while (!remaining.empty() && now < until) {
      const double left = remaining.top();
      const double ran = std::min(left, until - now);
      waited += static_cast<double>(remaining.size()) * ran;
      remaining.pop();
      now += ran;
      if (left > ran) remaining.push(left - ran);
    }
    now = std::max(now, until);
  };
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const double duration = seconds(trace.work[i].duration);
    runUntil(seconds(trace.jobs[i].submitted));
    remaining.push(duration * trace.jobs[i].gpus / static_cast<double>(capacity));
    alone += duration;
  }
  while (!remaining.empty()) {
    waited += static_cast<double>(remaining.size()) * remaining.top();
    const double first = remaining.top();
    remaining.pop();
    // The others are as long as they were: only the shortest one ran.
    now += first;
  }
  return std::max(waited, alone) / static_cast<double>(trace.jobs.size());
}

}  // namespace trainyard::replay
