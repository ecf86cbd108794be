#include <array>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/rng.h"
#include "replay/engine/engine.h"
#include "replay/engine/meter.h"

namespace {

using namespace trainyard;          // NOLINT(google-build-using-namespace): test
using namespace trainyard::replay;  // NOLINT(google-build-using-namespace): test
using std::chrono::seconds;

Trace traceOf(const std::vector<std::array<int, 3>>& jobs, ReplayTime startup = seconds(0)) {
  Trace trace{.queues = {"all"}, .jobs = {}, .work = {}};
  for (const auto& [submitted, gpus, duration] : jobs) {
    trace.jobs.push_back(
        {.name = fmt::format("job-{}", trace.jobs.size()), .gpus = gpus, .submitted = seconds(submitted)});
    trace.work.push_back({.duration = seconds(duration), .startup = startup, .resume = startup});
  }
  return trace;
}

std::vector<ReplayNode> nodes(int count, int gpus) {
  std::vector<ReplayNode> all;
  for (int i = 0; i < count; ++i) all.push_back({fmt::format("n{}", i), gpus});
  return all;
}

// Every job writes a checkpoint when it is preempted, and restarts without delay.
ReplaySetup setup(model::Ordering ordering) {
  ReplaySetup setup;
  setup.policy.ordering = ordering;
  setup.policy.backfill.enabled = ordering != model::Ordering::kFifo;
  setup.policy.defragmentation.enabled = false;
  setup.knowsDurations = model::traitsOf(ordering).byEstimate;
  setup.checkpoint.permille = ReplayCheckpoint::kAll;
  return setup;
}

struct Run {
  ReplayResult result;
  std::vector<ReplayDecision> decisions;
};

Run run(const Trace& trace, const std::vector<ReplayNode>& cluster, const ReplaySetup& by) {
  Run run;
  ReplayHooks hooks;
  hooks.decided = [&run](const ReplayDecision& decision) { run.decisions.push_back(decision); };
  auto result = runEngine(trace, cluster, by, hooks);
  INFO((result ? "" : result.error().message));
  REQUIRE(result);
  run.result = std::move(*result);
  return run;
}

TEST_CASE("Without backfill the first job that does not fit holds up those behind it") {
  // 4 GPUs: the second job needs all of them and waits for the first; the third would fit beside the first.
  const Trace trace = traceOf({{0, 1, 100}, {1, 4, 10}, {2, 1, 10}});
  const Run fifo = run(trace, nodes(1, 4), setup(model::Ordering::kFifo));
  CHECK(fifo.result.makespanSeconds == Approx(120));
  CHECK(fifo.result.meanCompletionSeconds == Approx((100.0 + 109 + 118) / 3));
  CHECK(fifo.result.preemptions == 0);
  CHECK(fifo.result.gpuUtilization == Approx((100 + 40 + 10) / (4 * 120.0)));
}

// Every cycle uses a current cache; an outdated one would hide the freed capacity.
TEST_CASE("A job that did not fit starts when another one has ended") {
  for (const auto& each : model::kOrderings) {
    CAPTURE(each.name);
    ReplaySetup by = setup(each.ordering);
    by.policy.timeSlicing.enabled = false;
    const Run both = run(traceOf({{0, 8, 100}, {0, 8, 100}}), nodes(1, 8), by);
    CHECK(both.result.makespanSeconds == Approx(200));
    CHECK(both.result.preemptions == 0);
  }
}

TEST_CASE("The shortest remaining time preempts a longer job after its time slice and repeats its start-up") {
  const Trace trace = traceOf({{0, 4, 10'000}, {10, 4, 1'000}}, seconds(5));
  const Run both = run(trace, nodes(1, 4), setup(model::Ordering::kSrtf));
  // A time slice of 1,800 s, 5 of them start-up; 1,005 s of the other job; 5 s again, and 8,205 s of rest.
  CHECK(both.result.makespanSeconds == Approx(1'800 + 1'005 + 5 + 8'205));
  CHECK(both.result.preemptions == 1);
  CHECK(both.result.gpuAllocation == Approx(1));
  CHECK(both.result.gpuUtilization == Approx(11'000.0 / 11'015));
  CHECK(both.result.lostGpuSeconds == 0);
}

TEST_CASE("A preemption loses the work since the last checkpoint and the restart") {
  const Trace trace = traceOf({{0, 4, 10'000}, {10, 4, 1'000}});
  ReplaySetup by = setup(model::Ordering::kSrtf);
  by.checkpoint.every = seconds(500);
  by.checkpoint.restart = seconds(30);
  const Run both = run(trace, nodes(1, 4), by);
  // Preempted at 1,800 s, 300 s after its third checkpoint.
  CHECK(both.result.preemptions == 1);
  CHECK(both.result.lostGpuSeconds == Approx(4 * 300));
  CHECK(both.result.makespanSeconds == Approx(1'800 + 1'000 + 30 + 8'500));
}

TEST_CASE("Without a checkpoint no job is preempted for the ordering") {
  const Trace trace = traceOf({{0, 4, 10'000}, {10, 4, 1'000}});
  for (const auto& each : model::kOrderings) {
    CAPTURE(each.name);
    ReplaySetup by = setup(each.ordering);
    by.checkpoint = {};
    const Run both = run(trace, nodes(1, 4), by);
    CHECK(both.result.preemptions == 0);
    CHECK(both.result.makespanSeconds == Approx(11'000));
  }
}

TEST_CASE("A share of the jobs declares checkpoints spread over the order of submission") {
  ReplayCheckpoint half = *parseReplayCheckpoint("share=0.5,every=3600,restart=30");
  CHECK(half.every == seconds(3'600));
  CHECK(half.restart == seconds(30));
  int declared = 0;
  for (std::size_t job = 0; job < 1'000; ++job) declared += half.declares(job) ? 1 : 0;
  CHECK(declared == 500);
  CHECK(parseReplayCheckpoint("restart=1")->declares(7));
  CHECK_FALSE(parseReplayCheckpoint("share=0")->declares(7));
  for (const char* wrong :
       {"every", "every=", "every=0", "every=-1", "every=nan", "share=2", "each=3", "=3", "x"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parseReplayCheckpoint(wrong));
  }
}

TEST_CASE("The finish-time ratio is the completion time divided by that of a fair share alone") {
  // Together from beginning to end on GPUs for one of them: each has half a GPU for 100 s of work.
  const Run two = run(traceOf({{0, 1, 100}, {0, 1, 100}}), nodes(1, 1), setup(model::Ordering::kFifo));
  // 100 s of the 200 s that it would take with two jobs; 200 s, with 1.5 jobs on average.
  CHECK(two.result.fairness.rhoMean == Approx((100.0 / 200 + 200.0 / 150) / 2));
  const Run alone = run(traceOf({{0, 1, 100}}), nodes(1, 1), setup(model::Ordering::kFifo));
  CHECK(alone.result.fairness.rhoMean == Approx(1));
}

TEST_CASE("Fragmentation delay is a lack of whole nodes and fair-share delay a lack of GPUs") {
  // Three of two nodes' four GPUs each are free in two pieces while job 2 requests a whole node.
  const Trace apart = traceOf({{0, 3, 100}, {0, 3, 100}, {0, 2, 10}});
  const ReplayResult pieces = run(apart, nodes(2, 4), setup(model::Ordering::kFifo)).result;
  CHECK(pieces.fragmentationDelaySeconds.total == Approx(100));
  CHECK(pieces.fairShareDelaySeconds.total == 0);
  const Trace full = traceOf({{0, 4, 100}, {0, 2, 10}});
  const ReplayResult busy = run(full, nodes(1, 4), setup(model::Ordering::kFifo)).result;
  CHECK(busy.fragmentationDelaySeconds.total == 0);
  CHECK(busy.fairShareDelaySeconds.total == Approx(100));
}

TEST_CASE("A pending job waits for a node as long as the policy states or for ever") {
  const Trace apart = traceOf({{0, 3, 1'000}, {0, 3, 1'000}, {0, 2, 10}});
  ReplaySetup by = setup(model::Ordering::kLas);
  by.policy.relaxation.base = seconds(60);
  by.policy.relaxation.perGpu = seconds(5);
  by.relaxes = true;
  const ReplayResult relaxed = run(apart, nodes(2, 4), by).result;
  CHECK(relaxed.fragmentationDelaySeconds.total == Approx(70));
  CHECK(relaxed.makespanSeconds == Approx(1'000));
  CHECK(relaxed.preemptions == 0);
  by.relaxes = false;
  const ReplayResult strict = run(apart, nodes(2, 4), by).result;
  CHECK(strict.fragmentationDelaySeconds.total == Approx(1'000));
  CHECK(strict.makespanSeconds == Approx(1'010));
}

TEST_CASE("A job that is larger than the cluster is refused") {
  const Trace trace = traceOf({{0, 9, 1}});
  const auto result = runEngine(trace, nodes(2, 4), setup(model::Ordering::kFifo), {});
  REQUIRE_FALSE(result);
  CHECK(result.error().message ==
        "job job-0 wants 9 GPUs as 3 times 3: more than the whole cluster of 8 has");
}

Trace drawn(std::uint64_t seed, std::size_t count) {
  base::Rng rng(seed);
  std::vector<std::array<int, 3>> jobs;
  int at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    at += static_cast<int>(rng.below(300));
    jobs.push_back({at, 1 << rng.below(5), static_cast<int>(rng.between(1, 1 << rng.between(4, 14)))});
  }
  return traceOf(jobs, seconds(7));
}

// No job declares a duration, and no decision may depend on one.
TEST_CASE("Without durations nothing depends on how long a job that has not ended will run") {
  for (const auto& each : model::kOrderings) {
    if (each.byEstimate) continue;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Trace trace = drawn(seed, 150);
      const Run known = run(trace, nodes(4, 8), setup(each.ordering));
      const ReplayTime moment = trace.jobs[100].submitted;
      // Jobs that cannot have ended by then under any schedule run twice as long.
      Trace other = trace;
      for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        if (trace.jobs[i].submitted + trace.work[i].duration > moment) other.work[i].duration *= 2;
      }
      const Run again = run(other, nodes(4, 8), setup(each.ordering));
      const auto before = [&](const Run& of) {
        std::vector<ReplayDecision> some;
        for (const ReplayDecision& decision : of.decisions) {
          if (decision.at <= moment) some.push_back(decision);
        }
        return some;
      };
      CAPTURE(seed, each.name);
      CHECK(before(known).size() > 20);
      CHECK(before(known) == before(again));
    }
  }
}

TEST_CASE("Equal traces are decided alike") {
  const Trace trace = drawn(9, 120);
  CHECK(run(trace, nodes(4, 8), setup(model::Ordering::kDefault)).decisions ==
        run(trace, nodes(4, 8), setup(model::Ordering::kDefault)).decisions);
}

TEST_CASE("No schedule beats the fluid lower bound") {
  // Two jobs of the whole cluster: 10 s, then 110 s, in the best order.
  CHECK(fluidLowerBound(traceOf({{0, 4, 100}, {0, 4, 10}}), 4) == Approx((10.0 + 110) / 2));
  // A job that cannot use all GPUs: its own duration.
  CHECK(fluidLowerBound(traceOf({{0, 1, 100}}), 4) == Approx(100));
  // The second interrupts the first.
  CHECK(fluidLowerBound(traceOf({{0, 4, 100}, {50, 4, 10}}), 4) == Approx((110.0 + 10) / 2));
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Trace trace = drawn(seed, 100);
    const ReplayResult result = run(trace, nodes(4, 8), setup(model::Ordering::kSrsf)).result;
    CHECK(result.meanCompletionSeconds >= result.fluidLowerBoundSeconds);
  }
}

}  // namespace
