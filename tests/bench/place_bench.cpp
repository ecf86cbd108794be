// Measures one placement on a cluster of 5,000 nodes with 8 GPUs: 4 zones, 125 racks of 10 nodes each.
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include "base/rng.h"
#include "core/place/fragmentation.h"
#include "core/place/relaxation.h"
#include "core/status/explain.h"
#include "support/placing.h"

namespace {

using namespace trainyard;        // NOLINT(google-build-using-namespace): bench
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): bench
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): bench

constexpr int kNodes = 5'000;
constexpr int kNodesPerRack = 10;
constexpr int kRacksPerBlock = 5;
constexpr int kBlocksPerZone = 25;

// `busyPercent` of the nodes have four pods each that use all or half of the GPUs.
SnapshotBuilder bigCluster(int busyPercent) {
  base::Rng rng(1);
  SnapshotBuilder builder = cluster();
  for (int i = 0; i < kNodes; ++i) {
    const int rack = i / kNodesPerRack;
    const int block = rack / kRacksPerBlock;
    const std::string name = fmt::format("gpu-{:05}", i);
    builder.add(node(name)
                    .gpus(8)
                    .zone(fmt::format("zone-{}", block / kBlocksPerZone))
                    .block(fmt::format("block-{:03}", block))
                    .rack(fmt::format("rack-{:04}", rack))
                    .label("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")
                    .label("kubernetes.io/os", "linux")
                    .taint("nvidia.com/gpu"));
    if (!rng.chance(static_cast<std::uint64_t>(busyPercent), 100)) continue;
    const int each = rng.chance(1, 2) ? 2 : 1;
    for (int j = 0; j < 4; ++j)
      builder.add(pod(fmt::format("ml/p-{:05}-{}", i, j)).on(name).gpus(each).cpu(8));
  }
  return builder;
}

JobBuilder gang(int members, std::int64_t gpuCount) {
  JobBuilder builder = job("ml/gang");
  builder.role("worker", members, requests(gpuCount, 64)).tolerate("nvidia.com/gpu");
  builder.select("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3");
  return builder;
}

void placing(benchmark::State& state, const model::Snapshot& snapshot) {
  const Ledger ledger(snapshot);
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  const PlaceRequest request = wholeGang(jobIn(snapshot, "ml/gang"));
  state.SetLabel(outcomeText(place(request, ledger, domains)).substr(0, 60));
  for (auto _ : state) benchmark::DoNotOptimize(place(request, ledger, domains));
}

void emptyCluster(benchmark::State& state) {
  placing(state, bigCluster(0).add(gang(static_cast<int>(state.range(0)), 8)));
}
BENCHMARK(emptyCluster)->Arg(1)->Arg(8)->Arg(64)->Arg(512)->Arg(4096)->Unit(benchmark::kMicrosecond);

void halfBusyCluster(benchmark::State& state) {
  placing(state, bigCluster(50).add(gang(static_cast<int>(state.range(0)), 8)));
}
BENCHMARK(halfBusyCluster)->Arg(8)->Arg(512)->Unit(benchmark::kMicrosecond);

void withServers(benchmark::State& state) {
  placing(state, bigCluster(50).add(gang(static_cast<int>(state.range(0)), 8)
                                        .role("ps", static_cast<int>(state.range(0)) / 8, requests(0, 16))
                                        .tolerate("nvidia.com/gpu")));
}
BENCHMARK(withServers)->Arg(64)->Arg(512)->Unit(benchmark::kMicrosecond);

void noCapacity(benchmark::State& state) {
  placing(state, bigCluster(100).add(gang(static_cast<int>(state.range(0)), 8)));
}
BENCHMARK(noCapacity)->Arg(8)->Arg(512)->Unit(benchmark::kMicrosecond);

void noRackFits(benchmark::State& state) { placing(state, bigCluster(80).add(gang(10, 8).required("rack"))); }
BENCHMARK(noRackFits)->Unit(benchmark::kMicrosecond);

// With a mix of 32 shapes and a cost table of three.
void guided(benchmark::State& state) {
  const model::Snapshot snapshot = bigCluster(50).add(gang(static_cast<int>(state.range(0)), state.range(1)));
  const Ledger ledger(snapshot);
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  JobMix mix;
  for (std::int64_t i = 0; i < 32; ++i) mix.add({i * 4000, 0, 1 + i % 8, kWholeDevice, 0}, 1 + i);
  const std::vector<model::ShapeCost> costs = {{2, 2, 3650}, {4, 1, 2230}, {512, 8, 1500}};
  PlaceRequest request = wholeGang(jobIn(snapshot, "ml/gang"));
  request.mix = &mix;
  request.shapeCosts = &costs;
  for (auto _ : state) benchmark::DoNotOptimize(place(request, ledger, domains));
}
BENCHMARK(guided)->Args({1, 1})->Args({4, 1})->Args({64, 4})->Args({512, 8})->Unit(benchmark::kMicrosecond);

void attainable(benchmark::State& state) {
  const model::Snapshot snapshot = bigCluster(50).add(gang(static_cast<int>(state.range(0)), 8));
  const Ledger ledger(snapshot);
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  const PlaceRequest request = wholeGang(jobIn(snapshot, "ml/gang"));
  for (auto _ : state) benchmark::DoNotOptimize(tightestAttainable(request, ledger, domains));
}
BENCHMARK(attainable)->Arg(8)->Arg(512)->Unit(benchmark::kMicrosecond);

void buildLedger(benchmark::State& state) {
  const model::Snapshot snapshot = bigCluster(100).build();
  state.SetLabel(fmt::format("{} nodes, {} pods", snapshot.nodes.size(), snapshot.pods.size()));
  for (auto _ : state) benchmark::DoNotOptimize(Ledger(snapshot));
}
BENCHMARK(buildLedger)->Unit(benchmark::kMicrosecond);

void buildDomains(benchmark::State& state) {
  const model::Snapshot snapshot = bigCluster(0).build();
  for (auto _ : state) benchmark::DoNotOptimize(Domains(snapshot.nodes, snapshot.policy.topology));
}
BENCHMARK(buildDomains)->Unit(benchmark::kMicrosecond);

}  // namespace
