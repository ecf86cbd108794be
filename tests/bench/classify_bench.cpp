// Measures the classification of a gang's failure: 64 members with full logs, one of which has the cause.
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include "core/lifecycle.h"

namespace {

using namespace trainyard;  // NOLINT(google-build-using-namespace): bench

std::string busyLog(int rank) {
  std::string log;
  for (int i = 0; i < 400; ++i) {
    log += fmt::format(
        "[rank{0}]:[I519 10:{1:02}:31.482919 ProcessGroupNCCL.cpp:563] [PG 0 Rank {0}] step {1} loss "
        "2.{1:03} lr 1e-4, "
        "120.{1} samples/s, timeout of collectives 600000 ms, NCCL INFO Channel {1}/0 : {0}[7] -> 1[0] via "
        "NET/IB\n",
        rank, i);
  }
  return log;
}

void classifyGang(benchmark::State& state) {
  const auto classifier = core::FailureClassifier::make();
  std::vector<model::MemberEvidence> gang;
  for (int i = 0; i < static_cast<int>(state.range(0)); ++i) {
    model::MemberEvidence member{.role = "worker", .index = i, .phase = model::PodPhase::kFailed};
    member.containers.push_back({.name = "main", .ended = true, .exitCode = 1, .reason = "Error"});
    member.log =
        busyLog(i) + (i == 41 ? "RuntimeError: CUDA error: an illegal memory access was encountered\n"
                              : "Watchdog caught collective operation timeout: WorkNCCL\n");
    gang.push_back(std::move(member));
  }
  state.SetLabel(classifier->classify(gang).rule);
  for (auto _ : state) benchmark::DoNotOptimize(classifier->classify(gang));
}
BENCHMARK(classifyGang)->Arg(1)->Arg(64)->Unit(benchmark::kMillisecond);

void makeClassifier(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(core::FailureClassifier::make());
}
BENCHMARK(makeClassifier)->Unit(benchmark::kMillisecond);

}  // namespace
