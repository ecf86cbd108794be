// Measures one plan: 64 GPUs on a cluster of 1,000 nodes.
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include "core/planner.h"
#include "model/model_profile.h"
#include "support/placing.h"

namespace {

using namespace trainyard;        // NOLINT(google-build-using-namespace): bench
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): bench
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): bench

constexpr int kNodes = 1'000;
constexpr std::int64_t kGpus = 64;

// Nodes of four kinds, a quarter each.
model::Snapshot cluster1000() {
  SnapshotBuilder builder = cluster();
  for (int i = 0; i < kNodes; ++i) {
    const bool fast = i % 2 == 0;
    builder.add(
        node(fmt::format("gpu-{:04}", i))
            .gpus(i % 4 < 2 ? 8 : 4)
            .rack(fmt::format("rack-{:02}", i / 20))
            .label("nvidia.com/gpu.product", fast ? "NVIDIA-A100-SXM4-80GB" : "Tesla-V100-SXM2-16GB"));
  }
  JobBuilder asked = job("ml/asked");
  asked.role("worker", 1, requests(1, 4)).role("ps", 1, requests(0, 4));
  builder.add(asked);
  return builder.build();
}

void planning(benchmark::State& state, bool servers) {
  const model::Snapshot snapshot = cluster1000();
  const Ledger ledger(snapshot);
  const QueueTree queues(snapshot);
  model::ModelProfile profile;
  profile.parameters = 110'000'000;
  profile.largestTensorBytes = 94'000'000;
  profile.flopsPerSample = 84'000'000'000;
  profile.batchPerWorker = 32;
  profile.exchange =
      servers ? model::GradientExchange::kParameterServers : model::GradientExchange::kAllReduce;
  const model::Job& job = jobIn(snapshot, "ml/asked");
  PlanningCapacity available = planningCapacity(job, ledger, queues, snapshot.policy);
  available.limits.push_back({.resource = "nvidia.com/gpu", .most = kGpus, .each = {{"worker", 1}}});
  std::string best;
  for (auto _ : state) {
    const JobPlanning plan = planJob(job, profile, available);
    best = plan.shapes.empty() ? plan.problem : shapeText(plan.shapes.front());
    benchmark::DoNotOptimize(best);
  }
  state.SetLabel(best);
}

BENCHMARK_CAPTURE(planning, all_reduce, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(planning, parameter_servers, true)->Unit(benchmark::kMillisecond);

}  // namespace
