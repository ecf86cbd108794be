#include "replay/engine/meter.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "replay/engine/statistics.h"

namespace trainyard::replay {
namespace {

GpuUsage unused(const Trace& trace, std::int64_t capacity) {
  GpuUsage usage{.capacity = capacity};
  for (const double part : queueParts(trace))
    usage.queues.push_back({.share = part * static_cast<double>(capacity)});
  return usage;
}

}  // namespace

ReplayMeter::ReplayMeter(const Trace& trace, std::int64_t capacity, bool strict)
    : trace_(trace),
      usage_(unused(trace, capacity)),
      delays_(trace, usage_, strict),
      fairness_(trace, usage_, delays_, strict),
      completion_(trace.jobs.size()),
      gpus_(trace.jobs.size()) {}

std::vector<double> queueParts(const Trace& trace) {
  std::vector<double> parts(trace.queues.size());
  for (std::size_t i = 0; i < trace.jobs.size(); ++i)
    parts[trace.jobs[i].queue] += secondsOf(trace.work[i].duration) * trace.jobs[i].gpus;
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (double& part : parts) part = all > 0 ? part / all : 1 / static_cast<double>(parts.size());
  return parts;
}

void ReplayMeter::advance(double now) {
  const double passed = now - now_;
  if (passed <= 0) return;
  held_ += passed * static_cast<double>(usage_.used);
  fairness_.advance(passed);
  delays_.advance(passed);
  samples_.add({now_, usage_.used, delays_.waiting()});
  now_ = now;
}

void ReplayMeter::use(std::size_t job, int gpus) {
  usage_.queues[trace_.jobs[job].queue].used += gpus;
  usage_.used += gpus;
}

void ReplayMeter::submitted(std::size_t job) {
  usage_.queues[trace_.jobs[job].queue].wanted += trace_.jobs[job].gpus;
  fairness_.submitted(job);
  delays_.wait(job);
}

void ReplayMeter::started(std::size_t job, int gpus) {
  delays_.stopWaiting(job);
  gpus_[job] = gpus;
  use(job, gpus);
}

void ReplayMeter::resized(std::size_t job, int gpus) {
  ++result_.resizes;
  use(job, gpus - gpus_[job]);
  gpus_[job] = gpus;
}

void ReplayMeter::stopped(std::size_t job) {
  ++result_.preemptions;
  use(job, -gpus_[job]);
  delays_.wait(job);
}

void ReplayMeter::ended(std::size_t job) {
  const TraceJob& facts = trace_.jobs[job];
  use(job, -gpus_[job]);
  usage_.queues[facts.queue].wanted -= facts.gpus;
  completion_[job] = now_ - secondsOf(facts.submitted);
  fairness_.ended(job, completion_[job]);
  result_.makespanSeconds = std::max(result_.makespanSeconds, now_);
}

ReplayResult ReplayMeter::finish() {
  ReplayResult result = std::move(result_);
  result.queues = fairness_.fairness();
  result.fairness = result.queues.front();
  result.queues.erase(result.queues.begin());
  if (result.queues.size() < 2) result.queues.clear();
  result.jobs = completion_.size();
  result.capacity = usage_.capacity;
  result.samples = samples_.take({now_, usage_.used, delays_.waiting()});
  result.meanCompletionSeconds = mean(completion_);
  std::sort(completion_.begin(), completion_.end());
  result.medianCompletionSeconds = median(completion_);
  result.p99CompletionSeconds = percentile(completion_, 99);
  result.sortedCompletionSeconds = std::move(completion_);
  const double all = static_cast<double>(usage_.capacity) * result.makespanSeconds;
  if (all > 0) {
    result.gpuUtilization = progress_ / all;
    result.gpuAllocation = held_ / all;
    result.fairnessLoss = fairness_.aboveFairShare() / all;
  }
  result.fairShareDelaySeconds = delays_.fairShare();
  result.fragmentationDelaySeconds = delays_.fragmentation();
  result.fluidLowerBoundSeconds = fluidLowerBound(trace_, usage_.capacity);
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
    const double duration = secondsOf(trace.work[i].duration);
    runUntil(secondsOf(trace.jobs[i].submitted));
    remaining.push(duration * trace.jobs[i].gpus / static_cast<double>(capacity));
    alone += duration;
  }
  while (!remaining.empty()) {
    waited += static_cast<double>(remaining.size()) * remaining.top();
    const double first = remaining.top();
    remaining.pop();
    // The other jobs are unchanged: only the shortest one ran.
    now += first;
  }
  return std::max(waited, alone) / static_cast<double>(trace.jobs.size());
}

}  // namespace trainyard::replay
