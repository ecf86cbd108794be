// The latency for kube-scheduler: one request about 5,000 nodes, from the body to the answer, without the
// network. And the cost of a new view on the event loop, with 5,000 nodes, 20,000 pods and 100 gangs.
#include <algorithm>
#include <chrono>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/event_loop.h"
#include "base/silent_log.h"
#include "extender/guard_service.h"
#include "support/builders.h"
#include "unit/extender/requests.h"

namespace {

using namespace trainyard;                  // NOLINT(google-build-using-namespace): bench
using namespace trainyard::test;            // NOLINT(google-build-using-namespace): bench
using namespace trainyard::extender::test;  // NOLINT(google-build-using-namespace): bench

constexpr int kNodes = 5'000;
constexpr int kGangs = 100;
constexpr int kMembers = 16;

std::string nodeName(int i) { return fmt::format("gpu-node-{:05}.cluster.example.internal", i); }

model::Job gang(int number) {
  // Two members with 3 GPUs on each of 8 nodes, none of them created yet.
  JobBuilder builder = job(fmt::format("ml/gang-{:03}", number)).role("worker", kMembers, requests(3, 16));
  for (int i = 0; i < kMembers / 2; ++i) {
    builder.proposes(nodeName(number * kMembers / 2 + i), "worker", fmt::format("{}-{}", 2 * i, 2 * i + 1));
  }
  return builder;
}

// The first 800 nodes are reserved; the others run four pods with 1 GPU each.
const model::Snapshot& bigCluster() {
  static const model::Snapshot snapshot = [] {
    SnapshotBuilder builder = cluster();
    for (int i = 0; i < kNodes; ++i) builder.add(node(nodeName(i)).gpus(8));
    for (int i = kGangs * kMembers / 2; i < kNodes; ++i) {
      for (int j = 0; j < 4; ++j) {
        builder.add(pod(fmt::format("ml/p-{:05}-{}", i, j)).on(nodeName(i)).gpus(1).cpu(8));
      }
    }
    for (int i = 0; i < kGangs; ++i) builder.add(gang(i));
    return builder.build();
  }();
  return snapshot;
}

struct Service {
  base::EventLoop clock;
  base::SilentSink quiet;
  telemetry::MetricsRegistry registry;
  extender::ExtenderMetrics metrics{registry};
  extender::GuardService guard{clock, metrics, base::Logger(quiet, base::LogLevel::kInfo, "bench")};

  Service() { guard.publish({std::make_shared<const core::GuardView>(bigCluster()), nullptr}, {}); }
};

void ask(benchmark::State& state, std::string_view verb, const std::string& pod, int names) {
  Service service;
  std::vector<std::string> all;
  for (int i = 0; i < names; ++i) all.push_back(nodeName(i));
  const std::string body = argsJson(pod, all);
  std::vector<double> microseconds;
  std::size_t answered = 0;
  for (auto _ : state) {
    state.PauseTiming();
    net::ServerRequest request = post(verb, body);
    request.body.reserve(body.size() + net::kBodyPadding);
    state.ResumeTiming();
    const auto begin = std::chrono::steady_clock::now();
    const net::HttpResponse response = service.guard.answer(request);
    const std::chrono::duration<double, std::micro> span = std::chrono::steady_clock::now() - begin;
    microseconds.push_back(span.count());
    answered = response.body.size();
  }
  std::sort(microseconds.begin(), microseconds.end());
  state.counters["p50_us"] = microseconds[microseconds.size() / 2];
  state.counters["p99_us"] = microseconds[microseconds.size() * 99 / 100];
  state.SetLabel(fmt::format("{} bytes in, {} out", body.size(), answered));
}

void filterForeignPod(benchmark::State& state) { ask(state, "filter", foreignPodJson("s", 1), kNodes); }
// Fits on no reserved node: 800 refusals.
void filterRefusedOften(benchmark::State& state) { ask(state, "filter", foreignPodJson("s", 8), kNodes); }
void prioritizeForeignPod(benchmark::State& state) {
  ask(state, "prioritize", foreignPodJson("s", 1), kNodes);
}
void filterMember(benchmark::State& state) {
  ask(state, "filter", memberJson(gang(0), "worker", 0, 1, 3), 1);
}

void buildView(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(core::GuardView(bigCluster()));
}

BENCHMARK(filterForeignPod)->Unit(benchmark::kMicrosecond);
BENCHMARK(filterRefusedOften)->Unit(benchmark::kMicrosecond);
BENCHMARK(prioritizeForeignPod)->Unit(benchmark::kMicrosecond);
BENCHMARK(filterMember)->Unit(benchmark::kMicrosecond);
BENCHMARK(buildView)->Unit(benchmark::kMillisecond);

}  // namespace
