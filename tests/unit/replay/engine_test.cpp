#include <array>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/rng.h"
#include "replay/engine/cycle.h"
#include "replay/engine/meter.h"
#include "replay/engine/slices.h"

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

ReplayRules rules(model::Ordering ordering) {
  ReplayRules rules;
  rules.order.ordering = ordering;
  rules.preempts = ordering != model::Ordering::kFifo;
  return rules;
}

struct Run {
  ReplayResult result;
  std::vector<ReplayDecision> decisions;
};

Run run(const Trace& trace, const std::vector<ReplayNode>& cluster, const ReplayRules& by) {
  Run run;
  ReplayHooks hooks;
  hooks.decided = [&run](const ReplayDecision& decision) { run.decisions.push_back(decision); };
  auto result = runEngine(trace, cluster, by, hooks);
  INFO((result ? "" : result.error().message));
  REQUIRE(result);
  run.result = std::move(*result);
  return run;
}

TEST_CASE("Strictly in turn: the first that finds no place stops those behind it") {
  // 4 GPUs: the second job needs all of them and waits for the first; the third would fit beside the first.
  const Trace trace = traceOf({{0, 1, 100}, {1, 4, 10}, {2, 1, 10}});
  const Run fifo = run(trace, nodes(1, 4), rules(model::Ordering::kFifo));
  CHECK(fifo.result.makespanSeconds == Approx(120));
  CHECK(fifo.result.meanCompletionSeconds == Approx((100.0 + 109 + 118) / 3));
  CHECK(fifo.result.preemptions == 0);
  CHECK(fifo.result.gpuUtilization == Approx((100 + 40 + 10) / (4 * 120.0)));
}

TEST_CASE("The shortest remaining time stops a longer job, and its start-up is paid on the way back") {
  const Trace trace = traceOf({{0, 4, 100}, {10, 4, 10}}, seconds(5));
  ReplayRules srtf = rules(model::Ordering::kSrtf);
  srtf.knowsDurations = true;
  const Run both = run(trace, nodes(1, 4), srtf);
  // 10 s, of which 5 start up; 15 s of the other; 5 s again, and the 95 s that are left.
  CHECK(both.result.makespanSeconds == Approx(10 + 15 + 5 + 95));
  CHECK(both.result.preemptions == 1);
  CHECK(both.result.gpuAllocation == Approx(1));
  CHECK(both.result.gpuUtilization == Approx(110.0 / 125));
}

TEST_CASE("A waiting job is let in by moving others closer together") {
  // Two jobs of two nodes' four GPUs each end so that each node keeps half: then a whole node is asked for.
  ReplayRules by = rules(model::Ordering::kSrtf);
  by.knowsDurations = true;
  const Trace trace = traceOf({{0, 2, 10}, {0, 2, 1000}, {0, 2, 11}, {0, 2, 1001}, {20, 4, 5000}});
  const Run moved = run(trace, nodes(2, 4), by);
  CHECK(moved.result.makespanSeconds < 5100);
}

TEST_CASE("Fragmentation delay: the GPUs are there, the places are not; fair-share delay: they are not") {
  // Three of two nodes' four GPUs each are free in two pieces while job 2 asks for a whole node.
  const Trace apart = traceOf({{0, 3, 100}, {0, 3, 100}, {0, 2, 10}});
  const ReplayResult pieces = run(apart, nodes(2, 4), rules(model::Ordering::kFifo)).result;
  CHECK(pieces.fragmentationDelaySeconds.total == Approx(100));
  CHECK(pieces.fairShareDelaySeconds.total == 0);
  const Trace full = traceOf({{0, 4, 100}, {0, 2, 10}});
  const ReplayResult busy = run(full, nodes(1, 4), rules(model::Ordering::kFifo)).result;
  CHECK(busy.fragmentationDelaySeconds.total == 0);
  CHECK(busy.fairShareDelaySeconds.total == Approx(100));
}

TEST_CASE("After its time a waiting job may be cut into single GPUs") {
  const Trace apart = traceOf({{0, 3, 1000}, {0, 3, 1000}, {0, 2, 10}});
  ReplayRules by = rules(model::Ordering::kLas);
  by.relaxation.emplace();
  by.relaxation->base = seconds(60);
  by.relaxation->perGpu = seconds(5);
  by.order.lasLimits = {};
  const ReplayResult result = run(apart, nodes(2, 4), by).result;
  CHECK(result.fragmentationDelaySeconds.total == Approx(70));
  CHECK(result.preemptions == 0);
}

TEST_CASE("The cycle's scheduler holds out for a node as long as the policy says, or for ever") {
  const Trace apart = traceOf({{0, 3, 1000}, {0, 3, 1000}, {0, 2, 10}});
  model::RelaxationPolicy policy;
  policy.base = seconds(60);
  policy.perGpu = seconds(5);
  const auto relaxed = runCycles(apart, nodes(2, 4), policy, {});
  REQUIRE(relaxed);
  CHECK(relaxed->fragmentationDelaySeconds.total == Approx(70));
  CHECK(relaxed->makespanSeconds == Approx(1000));
  const auto strict = runCycles(apart, nodes(2, 4), std::nullopt, {});
  REQUIRE(strict);
  CHECK(strict->fragmentationDelaySeconds.total == Approx(1000));
  CHECK(strict->makespanSeconds == Approx(1010));
}

TEST_CASE("A job that is larger than the cluster is refused") {
  const Trace trace = traceOf({{0, 9, 1}});
  const auto result = runEngine(trace, nodes(2, 4), rules(model::Ordering::kFifo), {});
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

// The view has no member for the length of a job; this holds the whole replay to it.
TEST_CASE("Without durations nothing depends on how long a job that has not ended will run") {
  for (const auto ordering : {model::Ordering::kDefault, model::Ordering::kLas, model::Ordering::kFifo}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Trace trace = drawn(seed, 150);
      const Run known = run(trace, nodes(4, 8), rules(ordering));
      const ReplayTime moment = trace.jobs[100].submitted;
      // Those that cannot have ended by then, whatever was decided, run ten times as long.
      Trace other = trace;
      for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        if (trace.jobs[i].submitted + trace.work[i].duration > moment) other.work[i].duration *= 10;
      }
      const Run again = run(other, nodes(4, 8), rules(ordering));
      const auto before = [&](const Run& of) {
        std::vector<ReplayDecision> some;
        for (const ReplayDecision& decision : of.decisions) {
          if (decision.at <= moment) some.push_back(decision);
        }
        return some;
      };
      CAPTURE(seed, static_cast<int>(ordering));
      CHECK(before(known).size() > 20);
      CHECK(before(known) == before(again));
    }
  }
}

TEST_CASE("Equal traces are decided alike") {
  const Trace trace = drawn(9, 120);
  CHECK(run(trace, nodes(4, 8), rules(model::Ordering::kDefault)).decisions ==
        run(trace, nodes(4, 8), rules(model::Ordering::kDefault)).decisions);
}

TEST_CASE("No schedule beats the fluid lower bound") {
  // Two jobs of the whole cluster: 10 s, then 110 s, in the best order.
  CHECK(fluidLowerBound(traceOf({{0, 4, 100}, {0, 4, 10}}), 4) == Approx((10.0 + 110) / 2));
  // One that cannot use all: its own duration.
  CHECK(fluidLowerBound(traceOf({{0, 1, 100}}), 4) == Approx(100));
  // The second interrupts the first.
  CHECK(fluidLowerBound(traceOf({{0, 4, 100}, {50, 4, 10}}), 4) == Approx((110.0 + 10) / 2));
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Trace trace = drawn(seed, 100);
    ReplayRules srsf = rules(model::Ordering::kSrsf);
    srsf.knowsDurations = true;
    const ReplayResult result = run(trace, nodes(4, 8), srsf).result;
    CHECK(result.meanCompletionSeconds >= result.fluidLowerBoundSeconds);
  }
}

}  // namespace
