// A whole scheduling cycle on 5,000 nodes with 20,000 pods: 1,250 running jobs of 16 one-GPU members each.
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include "core/cycle.h"
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

// Settled: every job's status says what there is to say.
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
  core::Memo memo;
  static_cast<void>(core::cycle(input, memo));
  for (auto _ : state) {
    const core::Plan plan = core::cycle(input, memo);
    if (plan.decisions.size() != decisions) state.SkipWithError("not the plan it should be");
  }
}

void cycleAtRest(benchmark::State& state) { run(state, bigCluster(false), 0); }
void cyclePlaces512(benchmark::State& state) { run(state, bigCluster(true), 1); }
BENCHMARK(cycleAtRest)->Unit(benchmark::kMillisecond);
BENCHMARK(cyclePlaces512)->Unit(benchmark::kMillisecond);

}  // namespace
