#include "replay/engine/job_runs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "core/order/preemption_cost.h"

namespace trainyard::replay {
namespace {

ReplayTime scaled(ReplayTime time, double by) {
  return by == 1 ? time : ReplayTime(std::llround(static_cast<double>(time.count()) * by));
}

}  // namespace

void JobRuns::submit(std::size_t job, const model::ObjectKey& key) {
  State& state = states_[job];
  state.key = key;
  state.phase = Phase::kWaiting;
  state.remaining = trace_.work[job].duration;
  ++waiting_;
}

ReplayHolding JobRuns::start(std::size_t job, ReplayTime now) {
  State& state = states_[job];
  if (state.phase == Phase::kWaiting) --waiting_;
  state.phase = Phase::kRunning;
  state.startup = state.resumes ? jobs_.restartOf(job) : trace_.work[job].startup;
  state.since = now;
  state.gpus = trace_.jobs[job].gpus;
  state.members = jobs_.shapeOf(job).members;
  if (jobs_.rangeOf(job)) {
    readSize(job);
    if (setup_.elastic->reports) reportSpeed(job);
  }
  ++state.run;
  ends_.push({now + state.startup + scaled(state.remaining, 1 / state.speed), job, state.run});
  return {.at = now, .job = job, .members = state.members, .pause = state.startup};
}

// Reads the size, and with it the speed, from the placement in the job's record.
void JobRuns::readSize(std::size_t job) {
  State& state = states_[job];
  std::map<model::NodeName, int> nodes;
  const auto& jobs = cycle_.snapshot().jobs;
  state.members = 0;
  for (const model::Assignment& place : jobs.find(state.key)->status.gang.placed->assignments) {
    const int count = static_cast<int>(place.indices.size());
    nodes[place.node] += count;
    state.members += count;
  }
  state.gpus = state.members * static_cast<int>(jobs_.rangeOf(job)->member.gpus());
  std::vector<int> membersByNode;
  for (const auto& [node, members] : nodes) membersByNode.push_back(members);
  state.speed = setup_.elastic->speed(job, membersByNode);
}

void JobRuns::reportSpeed(std::size_t job) {
  const State& state = states_[job];
  constexpr double kSamples = 1e6;  // milli-samples a second, of whatever a sample is
  const model::SpeedPoint point{state.members, std::llround(state.speed * kSamples)};
  cycle_.change(state.key, [&](model::Job& reporting) {
    auto& speeds = reporting.status.resize.speeds;
    std::erase_if(speeds, [&](const model::SpeedPoint& each) { return each.replicas == point.replicas; });
    speeds.insert(speeds.begin(), point);
  });
}

// Accounts for the work of the present run, and for the part that a preemption loses.
GpuWork JobRuns::stop(std::size_t job, ReplayTime now) {
  State& state = states_[job];
  const auto work = [&](ReplayTime ran) {
    return std::clamp(scaled(ran - state.startup, state.speed), ReplayTime{0}, state.remaining);
  };
  const auto declared = jobs_.checkpointOf(job);
  const ReplayTime ran = now - state.since;
  const ReplayTime kept = work(ran - core::lostAfter(declared, ran));
  const double gpus = state.gpus / state.speed;
  const GpuWork done{.progressed = secondsOf(kept) * gpus, .lost = secondsOf(work(ran) - kept) * gpus};
  state.remaining -= kept;
  state.resumes = declared.has_value();
  state.phase = Phase::kWaiting;
  ++waiting_;
  if (setup_.knowsDurations) setEstimate(job);
  return done;
}

// Updates the declared duration to the remaining work, including lost work.
void JobRuns::setEstimate(std::size_t job) {
  cycle_.change(states_[job].key, [&](model::Job& declaring) {
    const ReplayTime left = states_[job].remaining + jobs_.restartOf(job);
    declaring.spec.estimatedDuration =
        core::ranSoFar(declaring, cycle_.snapshot().now) + std::chrono::ceil<std::chrono::seconds>(left);
  });
}

GpuWork JobRuns::end(std::size_t job) {
  State& state = states_[job];
  state.phase = Phase::kEnded;
  ++ended_;
  return {.progressed = secondsOf(scaled(state.remaining, 1 / state.speed)) * state.gpus};
}

bool JobRuns::runs(const End& end) const {
  return states_[end.job].run == end.run && states_[end.job].phase == Phase::kRunning;
}

std::optional<ReplayTime> JobRuns::nextEnd() {
  while (!ends_.empty() && !runs(ends_.top())) ends_.pop();
  if (ends_.empty()) return std::nullopt;
  return ends_.top().at;
}

std::optional<std::size_t> JobRuns::nextDue(ReplayTime now) {
  const auto next = nextEnd();
  if (!next || *next > now) return std::nullopt;
  return ends_.top().job;
}

}  // namespace trainyard::replay
