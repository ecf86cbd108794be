// Cycles over the maximum that one tenant may write in constraints that are compared with each node.
#include <algorithm>
#include <string>

#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include "bench/cpu_time.h"
#include "core/cycle/cycle.h"
#include "model/conditions.h"
#include "model/limits.h"
#include "support/placing.h"

namespace {

using namespace trainyard;        // NOLINT(google-build-using-namespace): bench
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): bench

constexpr int kNodes = 5'000;
constexpr int kJobs = 300;                            // pending ones, and as many running elastic ones
constexpr int kWords = model::limits::kMaxNodeTerms;  // per job, different for each
constexpr int kCycles = 30;

std::string nodeName(int i) { return fmt::format("gpu-{:05}", i); }

// Each node matches all values but the last.
std::vector<model::NodeSelectorTerm> longTerm(int number) {
  model::NodeSelectorTerm term;
  for (int i = 1; i < kWords; ++i)
    term.labels.push_back({fmt::format("k{}-{}", number, i), model::SelectorOperator::kDoesNotExist, {}});
  term.labels.push_back({fmt::format("k{}", number), model::SelectorOperator::kExists, {}});
  return {term};
}

model::Job runs(int number) {
  // Half of them request more than they have, half may grow beyond their request.
  model::Job made = job(fmt::format("mallory/runs-{:03}", number))
                        .role("worker", 1, requests(1, 1))
                        .affinity(longTerm(number))
                        .elastic(1 + number % 2, 1, 4)
                        .placed(nodeName(number), "worker", "0")
                        .condition(model::conditions::kScheduled);
  made.spec.templateHash = made.key.name;
  return made;
}

core::CycleInput cluster() {
  SnapshotBuilder builder = test::cluster();
  for (int i = 0; i < kNodes; ++i)
    builder.add(node(nodeName(i)).gpus(8).rack(fmt::format("rack-{:04}", i / 16)));
  for (int i = 0; i < kJobs; ++i) {
    const model::Job made = runs(i);
    builder.add(pod("mallory/x")
                    .memberOf(made, "worker", 0)
                    .on(nodeName(i))
                    .requests(requests(1, 1))
                    .phase(model::PodPhase::kRunning));
    builder.add(made);
    builder.add(job(fmt::format("mallory/waits-{:03}", i))
                    .role("worker", 1, requests(1, 1))
                    .affinity(longTerm(kJobs + i)));
  }
  core::CycleInput input{.snapshot = builder.now(100'000).build()};
  input.otherFeedback.templateError = "";
  return input;
}

// The first cycles, from an empty cache, with a node that changes between any two of them.
void cycleLongConstraints(benchmark::State& state) {
  core::CycleInput input = cluster();
  double longest = 0;
  for (auto _ : state) {
    core::CycleCache cache;
    for (int i = 0; i < kCycles; ++i) {
      auto& changed = input.snapshot.nodes.edit()[static_cast<std::size_t>(i)];
      changed = std::make_shared<model::Node>(*changed);
      input.snapshot.now += std::chrono::seconds(2);
      const double before = cpuMilliseconds();
      benchmark::DoNotOptimize(core::cycle(input, cache));
      longest = std::max(longest, cpuMilliseconds() - before);
    }
  }
  state.counters["longest_ms"] = longest;
}
BENCHMARK(cycleLongConstraints)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
