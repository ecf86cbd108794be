// One whole decision on the sizes of 1,000 elastic jobs on 4,000 GPUs: phase 8 as the cycle runs it, from the
// ledger to the changes, and the search alone.
#include <benchmark/benchmark.h>

#include <cmath>

#include <fmt/format.h>

#include "base/rng.h"
#include "core/elastic/resizes.h"
#include "core/resize.h"
#include "model/conditions.h"
#include "support/placing.h"

namespace {

using namespace trainyard;        // NOLINT(google-build-using-namespace): bench
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): bench
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): bench

constexpr int kNodes = 500;
constexpr int kGpusEach = 8;
constexpr int kJobs = 1'000;

// The reported speeds up to this many members: Amdahl's law, each job with its own serial part.
std::vector<model::SpeedPoint> speedsUpTo(int members, double serial) {
  std::vector<model::SpeedPoint> speeds;
  for (int n = 1; n <= members; n *= 2) speeds.push_back({n, std::llround(1e6 * n / (1 + serial * (n - 1)))});
  return speeds;
}

// Elastic jobs with members of one or two GPUs and up to four times the desired replicas. Half of them have
// known speeds, a third exceed the desired replicas. They leave `freePercent` of the GPUs free.
model::Snapshot manyElastic(int freePercent) {
  base::Rng rng(1);
  SnapshotBuilder builder = cluster();
  for (int i = 0; i < kNodes; ++i)
    builder.add(node(fmt::format("gpu-{:03}", i)).gpus(kGpusEach).rack(fmt::format("rack-{:02}", i / 10)));
  std::vector<int> left(kNodes, kGpusEach);
  int toFill = kNodes * kGpusEach * (100 - freePercent) / 100;
  constexpr int kPart = 4;
  for (int j = 0; j < kJobs; ++j) {
    const int each = rng.chance(1, kPart) ? 2 : 1;
    const int most =
        std::max(1, std::min(2 * toFill / (kJobs - j), static_cast<int>(rng.between(1, 9))) / each);
    JobBuilder made = job(fmt::format("ml/job-{:04}", j));
    made.role("worker", most, requests(each, 1));
    int members = 0;
    const int first = static_cast<int>(rng.between(0, kNodes - 1));
    for (int i = 0; members < most && i < kNodes; ++i) {
      const int at = (first + i) % kNodes;
      int& available = left[static_cast<std::size_t>(at)];
      for (; members < most && available >= each; available -= each, toFill -= each)
        made.placed(fmt::format("gpu-{:03}", at), "worker", fmt::format("{}", members++));
    }
    if (members == 0) continue;
    const int wish = rng.chance(1, 3) ? std::max(1, members / 2) : members;
    model::Job elastic = made.elastic(wish, 1, 4 * wish).condition(model::conditions::kScheduled);
    elastic.spec.roles.front().replicas = members;
    elastic.spec.templateHash = fmt::format("{}", each);
    if (rng.chance(1, 2)) {
      elastic.status.resize.speeds = speedsUpTo(members, static_cast<double>(rng.between(0, 30)) / 100);
    }
    builder.add(elastic);
  }
  constexpr std::int64_t kLater = 10'000;  // s: no gang is in its cooldown
  return builder.now(kLater).build();
}

void sizesOfAll(benchmark::State& state) {
  const model::Snapshot snapshot = manyElastic(static_cast<int>(state.range(0)));
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  const std::vector<std::shared_ptr<const model::Job>> gangs(snapshot.jobs.begin(), snapshot.jobs.end());
  for (auto _ : state) {
    state.PauseTiming();
    Ledger ledger(snapshot);
    QueueTree tree(snapshot);
    FitCache fits;
    NodeRefusals refusals;
    state.ResumeTiming();
    const ResizeAnswer answer =
        resizeGangs({.snapshot = snapshot,
                     .ledger = ledger,
                     .domains = domains,
                     .queues = tree,
                     .gangs = gangs,
                     .wanted = [](const model::Job&, const std::vector<model::Assignment>&) { return false; },
                     .takesPart = [](const model::Job&) { return false; },
                     .fits = fits,
                     .refusals = refusals});
    if (!answer.terms) return state.SkipWithError("no gang could be resized");
    state.counters["used_permille"] = static_cast<double>(answer.terms->utilizationPermille);
    state.counters["resized"] = answer.terms->adjustments;
    state.counters["bound_permille"] = static_cast<double>(answer.terms->boundPermille);
  }
}
// With this percentage of free GPUs.
BENCHMARK(sizesOfAll)->Arg(0)->Arg(2)->Arg(10)->Arg(40)->Unit(benchmark::kMillisecond);

}  // namespace
