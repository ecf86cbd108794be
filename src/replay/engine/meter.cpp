#include "replay/engine/meter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

namespace trainyard::replay {
namespace {

constexpr std::size_t kMaxSamples = 4'000;

double seconds(ReplayTime time) { return std::chrono::duration<double>(time).count(); }

double mean(const std::vector<double>& values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Returns the 99th percentile of a sorted list.
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
      fragmentation_(trace.jobs.size()),
      rho_(trace.jobs.size()),
      gpus_(trace.jobs.size()),
      stayedBefore_(trace.jobs.size()) {
  const std::vector<double> parts = queueParts(trace);
  for (std::size_t i = 0; i < parts.size(); ++i) queues_[i].share = parts[i] * static_cast<double>(capacity);
}

std::vector<double> queueParts(const Trace& trace) {
  std::vector<double> parts(trace.queues.size());
  for (std::size_t i = 0; i < trace.jobs.size(); ++i)
    parts[trace.jobs[i].queue] += seconds(trace.work[i].duration) * trace.jobs[i].gpus;
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (double& part : parts) part = all > 0 ? part / all : 1 / static_cast<double>(parts.size());
  return parts;
}

void ReplayMeter::advance(double now) {
  const double passed = now - now_;
  if (passed <= 0) return;
  held_ += passed * static_cast<double>(used_);
  if (queues_.size() > 1) {
    unfair_ += passed * heldAboveFairShare();
    countBelowGuarantee(passed);
  }
  for (Queue& queue : queues_) queue.stayed += passed * static_cast<double>(queue.live);
  for (auto& [key, group] : groups_) {
    if (group.waiting == 0) continue;
    const Queue& queue = queues_[key.first];
    const int gpus = strict_ ? queue.inTurn.begin()->second : key.second;
    (lacksShare(queue, gpus) ? group.fairShare : group.fragmentation) += passed;
  }
  sample();
  now_ = now;
}

// Shares are fractions of GPUs, added up many times: a difference of a billionth is ignored.
bool ReplayMeter::lacksShare(const Queue& queue, int gpus) const {
  return static_cast<double>(queue.used + gpus) > queue.share * (1 + 1e-9) || used_ + gpus > capacity_;
}

double ReplayMeter::heldAboveFairShare() {
  // A queue that requests less than its part leaves the rest to the others; repeated until no queue does.
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

// Queues that serve strictly in order have no guaranteed quota.
void ReplayMeter::countBelowGuarantee(double passed) {
  if (strict_) return;
  for (auto group = groups_.begin(); group != groups_.end();) {
    const std::uint32_t index = group->first.first;
    Queue& queue = queues_[index];
    bool entitled = false;
    for (; group != groups_.end() && group->first.first == index; ++group) {
      const auto with = static_cast<double>(queue.used + group->first.second);
      entitled = entitled || (group->second.waiting > 0 && with <= std::floor(queue.share));
    }
    if (entitled) queue.below += passed;
  }
}

double ReplayMeter::finishTimeRatio(std::size_t job) const {
  const TraceJob& facts = trace_.jobs[job];
  const Queue& queue = queues_[facts.queue];
  const double duration = std::max(seconds(trace_.work[job].duration), 1.0);
  const double stay = completion_[job];
  const double others = stay > 0 ? std::max((queue.stayed - stayedBefore_[job]) / stay, 1.0) : 1.0;
  const double part = queue.share / others;
  const double alone = duration * std::max(part > 0 ? facts.gpus / part : 1.0, 1.0);
  return std::max(stay, 1.0) / alone;
}

void ReplayMeter::sample() {
  if (++skipped_ < stride_) return;
  skipped_ = 0;
  result_.samples.push_back({now_, used_, waiting_});
  if (result_.samples.size() < 2 * kMaxSamples) return;
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
  Queue& queue = queues_[trace_.jobs[job].queue];
  queue.wanted += trace_.jobs[job].gpus;
  ++queue.live;
  stayedBefore_[job] = queue.stayed;
  wait(job);
}

void ReplayMeter::started(std::size_t job, int gpus) {
  stopWaiting(job);
  gpus_[job] = gpus;
  queues_[trace_.jobs[job].queue].used += gpus;
  used_ += gpus;
}

void ReplayMeter::resized(std::size_t job, int gpus) {
  ++result_.resizes;
  queues_[trace_.jobs[job].queue].used += gpus - gpus_[job];
  used_ += gpus - gpus_[job];
  gpus_[job] = gpus;
}

void ReplayMeter::stopped(std::size_t job) {
  ++result_.preemptions;
  queues_[trace_.jobs[job].queue].used -= gpus_[job];
  used_ -= gpus_[job];
  wait(job);
}

void ReplayMeter::ended(std::size_t job) {
  const TraceJob& facts = trace_.jobs[job];
  queues_[facts.queue].used -= gpus_[job];
  queues_[facts.queue].wanted -= facts.gpus;
  used_ -= gpus_[job];
  --queues_[facts.queue].live;
  completion_[job] = now_ - seconds(facts.submitted);
  rho_[job] = finishTimeRatio(job);
  result_.makespanSeconds = std::max(result_.makespanSeconds, now_);
}

ReplayDelay ReplayMeter::delay(std::vector<double>& ofJobs) const {
  std::sort(ofJobs.begin(), ofJobs.end());
  return {
      .total = std::accumulate(ofJobs.begin(), ofJobs.end(), 0.0), .mean = mean(ofJobs), .p99 = p99(ofJobs)};
}

// All jobs together, then queue by queue.
std::vector<ReplayFairness> ReplayMeter::fairness() const {
  std::vector<ReplayFairness> all(queues_.size() + 1);
  std::vector<std::vector<double>> ratios(queues_.size() + 1);
  for (std::size_t job = 0; job < rho_.size(); ++job) {
    ratios.front().push_back(rho_[job]);
    ratios[trace_.jobs[job].queue + 1].push_back(rho_[job]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::sort(ratios[i].begin(), ratios[i].end());
    all[i].jobs = ratios[i].size();
    all[i].rhoMean = mean(ratios[i]);
    all[i].rhoP95 = ratios[i].empty() ? 0 : ratios[i][ratios[i].size() * 95 / 100];
    if (i == 0) continue;
    all[i].queue = trace_.queues[i - 1];
    all[i].belowGuaranteeSeconds = queues_[i - 1].below;
    all.front().belowGuaranteeSeconds += queues_[i - 1].below;
  }
  return all;
}

ReplayResult ReplayMeter::finish() {
  ReplayResult result = std::move(result_);
  result.queues = fairness();
  result.fairness = result.queues.front();
  result.queues.erase(result.queues.begin());
  if (result.queues.size() < 2) result.queues.clear();
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
    // The other jobs are unchanged: only the shortest one ran.
    now += first;
  }
  return std::max(waited, alone) / static_cast<double>(trace.jobs.size());
}

}  // namespace trainyard::replay
