// A whole scheduling cycle on 5,000 nodes with 20,000 pods: 1,250 running jobs of 16 one-GPU members each.
#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include "bench/cpu_time.h"
#include "core/cycle/cycle.h"
#include "support/builders.h"

namespace {

using namespace trainyard;        // NOLINT(google-build-using-namespace): bench
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): bench

constexpr int kNodes = 5'000;
constexpr int kJobs = 1'250;
constexpr int kMembers = 16;
constexpr int kNodesOfJob = 4;

std::string nodeName(int i) { return fmt::format("gpu-{:05}", i); }

void addJob(SnapshotBuilder& builder, int number) {
  JobBuilder made = job(fmt::format("ml/job-{:04}", number)).role("worker", kMembers, requests(1, 8));
  const auto each = kMembers / kNodesOfJob;
  for (int i = 0; i < kNodesOfJob; ++i) {
    made.placed(nodeName(number * kNodesOfJob + i), "worker",
                fmt::format("{}-{}", i * each, i * each + each - 1));
  }
  const model::Job whole = made;
  for (int i = 0; i < kMembers; ++i) {
    builder.add(pod("ml/x")
                    .memberOf(whole, "worker", i)
                    .on(nodeName(number * kNodesOfJob + i / each))
                    .requests(requests(1, 8))
                    .phase(model::PodPhase::kRunning));
  }
  builder.add(whole);
}

// A settled cluster: every job's status is up to date.
core::CycleInput bigCluster(bool withWaitingGang) {
  SnapshotBuilder builder = cluster();
  for (int i = 0; i < kNodes; ++i) {
    const int rack = i / 10;
    builder.add(node(nodeName(i))
                    .gpus(12)
                    .zone(fmt::format("zone-{}", rack / 125))
                    .block(fmt::format("block-{:03}", rack / 5))
                    .rack(fmt::format("rack-{:04}", rack)));
  }
  for (int i = 0; i < kJobs; ++i) addJob(builder, i);
  if (withWaitingGang) builder.add(job("ml/new").role("worker", 512, requests(8, 64)));
  core::CycleInput input{.snapshot = builder.build()};
  input.feedback[key("ml/new")].templateError = "";
  for (const core::JobDecision& decision : core::cycle(input).decisions) {
    if (decision.job->key == key("ml/new")) continue;
    for (auto& each : input.snapshot.jobs.edit()) {
      if (each->key != decision.job->key) continue;
      auto told = std::make_shared<model::Job>(*each);
      told->status = *decision.status;
      each = std::move(told);
    }
  }
  return input;
}

void run(benchmark::State& state, const core::CycleInput& input, std::size_t decisions) {
  core::CycleCache cache;
  static_cast<void>(core::cycle(input, cache));
  for (auto _ : state) {
    const core::Plan plan = core::cycle(input, cache);
    if (plan.decisions.size() != decisions) state.SkipWithError("not the plan it should be");
  }
}

constexpr int kWaitingNodes = 10'000;
constexpr int kWaiting = 10'000;
constexpr int kTenants = 30;

std::string tenant(int number) { return fmt::format("tenant-{:02}", number % kTenants); }

// Adds a running job of 8 GPUs that fills the node.
void addFullNode(SnapshotBuilder& builder, int node, const std::string& queue, bool preemptible) {
  model::Job whole = job(fmt::format("run/job-{:05}", node))
                         .role("worker", 1, requests(8, 8))
                         .queue(queue)
                         .created(node)
                         .placed(nodeName(node), "worker", "0");
  whole.spec.preemptible = preemptible;
  builder.add(whole);
  builder.add(pod("run/x")
                  .memberOf(whole, "worker", 0)
                  .on(nodeName(node))
                  .requests(requests(8, 8))
                  .phase(model::PodPhase::kRunning));
}

// 10,000 nodes x 8 GPUs, full: a running job of 8 GPUs on each; 10,000 pending jobs in 30 queues, of 16
// shapes, or with `ownShapes` a different shape for each.
core::CycleInput fullCluster(bool preemptible, bool ownShapes = false) {
  SnapshotBuilder builder = cluster().now(100'000);
  for (int i = 0; i < kTenants; ++i) {
    model::Queue queue;
    queue.name = model::QueueName(tenant(i));
    builder.add(queue);
  }
  for (int i = 0; i < kWaitingNodes; ++i) {
    const int rack = i / 16;
    builder.add(node(nodeName(i))
                    .gpus(8)
                    .zone(fmt::format("zone-{}", rack / 125))
                    .block(fmt::format("block-{:03}", rack / 5))
                    .rack(fmt::format("rack-{:04}", rack)));
    addFullNode(builder, i, tenant(i), preemptible);
  }
  for (int i = 0; i < kWaiting; ++i) {
    const int shape = i % 16;
    model::Resources ask = requests(1 << shape % 4, 8);
    if (ownShapes) ask.memory.value += i;
    builder.add(job(fmt::format("wait/job-{:05}", i))
                    .role("worker", 1 + shape / 4, ask)
                    .queue(tenant(i))
                    .created(20'000 + i));
  }
  return {.snapshot = builder.build()};
}

void tell(core::CycleInput& input, const core::Plan& plan) {
  std::map<model::ObjectKey, const model::JobStatus*> news;
  for (const core::JobDecision& decision : plan.decisions) {
    if (decision.status) news[decision.job->key] = &*decision.status;
  }
  for (auto& each : input.snapshot.jobs.edit()) {
    const auto found = news.find(each->key);
    if (found == news.end()) continue;
    auto told = std::make_shared<model::Job>(*each);
    told->status = *found->second;
    each = std::move(told);
  }
  for (const core::QueueStatusUpdate& queue : plan.queues) {
    for (auto& each : input.snapshot.queues.edit()) {
      if (each->name != queue.queue->name) continue;
      auto told = std::make_shared<model::Queue>(*each);
      told->status = queue.status;
      each = std::move(told);
    }
  }
}

void report(benchmark::State& state, const std::string& prefix, std::vector<double>& milliseconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  state.counters[prefix + "p50_ms"] = milliseconds[milliseconds.size() / 2];
  state.counters[prefix + "p99_ms"] = milliseconds[milliseconds.size() * 99 / 100];
}

// One pending job's object changes between two cycles.
void withTenThousandWaiting(benchmark::State& state, bool preemptible, const model::Policy& policy,
                            bool ownShapes = false) {
  core::CycleInput input = fullCluster(preemptible, ownShapes);
  input.snapshot.policy = policy;
  input.otherFeedback.templateError = "";
  core::CycleCache cache;
  double longest = 0;
  const auto settle = [&] {
    for (int i = 0; i < 4; ++i) {
      const double before = cpuMilliseconds();
      const core::Plan plan = core::cycle(input, cache);
      longest = std::max(longest, cpuMilliseconds() - before);
      tell(input, plan);
    }
  };
  settle();
  // All jobs have run for long enough to be preempted.
  input.snapshot.now += std::chrono::hours(2);
  settle();
  state.counters["settling_max_ms"] = longest;
  std::vector<double> milliseconds;
  std::vector<double> ofCpu;
  std::size_t changed = 0;
  std::size_t decisions = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto& jobs = input.snapshot.jobs.edit();
    auto& one = jobs[kWaitingNodes + (changed++ * 37) % kWaiting];
    one = std::make_shared<model::Job>(*one);
    input.snapshot.now += std::chrono::milliseconds(50);
    state.ResumeTiming();
    const auto start = std::chrono::steady_clock::now();
    const double cpuBefore = cpuMilliseconds();
    const core::Plan plan = core::cycle(input, cache);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    ofCpu.push_back(cpuMilliseconds() - cpuBefore);
    milliseconds.push_back(took.count());
    decisions += plan.decisions.size();
  }
  state.counters["decisions"] =
      benchmark::Counter(static_cast<double>(decisions), benchmark::Counter::kAvgIterations);
  report(state, "", milliseconds);
  report(state, "cpu_", ofCpu);
}
void cycleTenThousandWaiting(benchmark::State& state) { withTenThousandWaiting(state, false, {}); }
// All running jobs are preemptible, but no preemption is permitted.
void cyclePreemptible(benchmark::State& state) { withTenThousandWaiting(state, true, {}); }
// The order depends on the run times of a kind, with time slicing.
void cycleDefaultOrder(benchmark::State& state) {
  model::Policy policy;
  policy.ordering = model::Ordering::kDefault;
  policy.timeSlicing.enabled = true;
  withTenThousandWaiting(state, true, policy);
}
void cycleTenThousandShapes(benchmark::State& state) { withTenThousandWaiting(state, false, {}, true); }

// What each of the nodes holds that a gang of the whole cluster waits for.
enum class Held { kLowerPriority, kLent, kHalfTerminating };

// Adds a suspended job whose pod terminates on the node. Each has another end.
void addTerminating(SnapshotBuilder& builder, int node, const std::string& queue) {
  const model::Job suspended = job(fmt::format("run/job-{:05}", node))
                                   .role("worker", 1, requests(8, 8))
                                   .queue(queue)
                                   .created(node)
                                   .suspended();
  model::Pod leaving = pod("run/x")
                           .memberOf(suspended, "worker", 0)
                           .on(nodeName(node))
                           .requests(requests(8, 8))
                           .phase(model::PodPhase::kRunning)
                           .terminating();
  leaving.deletionTime = at(200'000 + node);
  builder.add(suspended);
  builder.add(leaving);
}

// One gang that needs everything that others hold: jobs of lower priority in its queue, or what is lent of
// its queue's guarantee, half of that already terminating.
void withTenThousandVictims(benchmark::State& state, Held held) {
  SnapshotBuilder builder = cluster().now(100'000);
  model::Queue borrower;
  borrower.name = model::QueueName(tenant(0));
  builder.add(borrower);
  model::Queue owner;
  owner.name = model::QueueName(tenant(1));
  owner.guaranteed.set("nvidia.com/gpu", std::int64_t{8} * kWaitingNodes);
  if (held != Held::kLowerPriority) builder.add(owner);
  builder.priorityClass("high", 1'000);
  for (int i = 0; i < kWaitingNodes; ++i) {
    builder.add(
        node(nodeName(i)).gpus(8).zone("zone").block("block").rack(fmt::format("rack-{:04}", i / 16)));
    if (held == Held::kHalfTerminating && i % 2 == 1) {
      addTerminating(builder, i, tenant(0));
    } else {
      addFullNode(builder, i, tenant(0), true);
    }
  }
  builder.add(job("wait/all")
                  .role("worker", kWaitingNodes, requests(8, 8))
                  .queue(held == Held::kLowerPriority ? tenant(0) : tenant(1))
                  .priority("high")
                  .created(50'000));
  core::CycleInput input{.snapshot = builder.build()};
  input.otherFeedback.templateError = "";
  core::CycleCache cache;
  for (int i = 0; i < 2; ++i) tell(input, core::cycle(input, cache));
  input.snapshot.now += std::chrono::hours(2);
  for (auto _ : state) {
    const core::Plan plan = core::cycle(input, cache);
    const auto claims = [](const core::JobDecision& each) {
      return each.status && each.status->gang.proposal &&
             each.status->gang.proposal->victims.size() == static_cast<std::size_t>(kWaitingNodes);
    };
    if (std::none_of(plan.decisions.begin(), plan.decisions.end(), claims))
      state.SkipWithError("not all are stopped");
  }
}
void cycleTenThousandVictims(benchmark::State& state) { withTenThousandVictims(state, Held::kLowerPriority); }
void cycleTenThousandLent(benchmark::State& state) { withTenThousandVictims(state, Held::kLent); }
void cycleHalfTerminating(benchmark::State& state) { withTenThousandVictims(state, Held::kHalfTerminating); }

BENCHMARK(cycleTenThousandWaiting)->Unit(benchmark::kMillisecond)->Iterations(100);
BENCHMARK(cyclePreemptible)->Unit(benchmark::kMillisecond)->Iterations(100);
BENCHMARK(cycleDefaultOrder)->Unit(benchmark::kMillisecond)->Iterations(100);

BENCHMARK(cycleTenThousandShapes)->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK(cycleTenThousandVictims)->Unit(benchmark::kMillisecond)->Iterations(5);
BENCHMARK(cycleTenThousandLent)->Unit(benchmark::kMillisecond)->Iterations(5);
BENCHMARK(cycleHalfTerminating)->Unit(benchmark::kMillisecond)->Iterations(5);

void cycleAtRest(benchmark::State& state) { run(state, bigCluster(false), 0); }
void cyclePlaces512(benchmark::State& state) { run(state, bigCluster(true), 1); }
BENCHMARK(cycleAtRest)->Unit(benchmark::kMillisecond);
BENCHMARK(cyclePlaces512)->Unit(benchmark::kMillisecond);

}  // namespace
