#include "core/lifecycle/life_signs.h"

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "core/cycle/failed_gang.h"
#include "core/order/preemption_cost.h"
#include "model/conditions.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test
using std::chrono::seconds;

namespace {

model::Job runningJob() {
  model::Job each =
      job("ml/bert").role("worker", 2, gpus(8)).placed("n1", "worker", "0").placed("n2", "worker", "1");
  each.hasReleaseFinalizer = true;
  each.status.phase = "Running";
  each.status.gpus = 16;
  for (const std::string_view type : {model::conditions::kScheduled, model::conditions::kRunning})
    each.status.conditions.push_back({std::string(type), model::ConditionStatus::kTrue, "", "", at(0), 1});
  each.spec.health.stall = seconds(600);
  return each;
}

// No progress for 700 seconds.
const LifeSign kSilent{.silentSince = at(300)};

// The decision that a cycle writes for the job, given this sign of life.
std::optional<JobDecision> decide(const model::Job& job, std::optional<LifeSign> sign, CycleCache& cache,
                                  std::int64_t now = 1000) {
  SnapshotBuilder builder = cluster().now(now).add(node("n1").gpus(8)).add(node("n2").gpus(8));
  int index = 0;
  for (const char* node : {"n1", "n2"}) {
    model::Pod pod =
        test::pod("ml/x").gpus(8).on(node).phase(model::PodPhase::kRunning).memberOf(job, "worker", index++);
    pod.ready = true;
    builder.add(pod);
  }
  builder.add(job);
  CycleInput in;
  in.snapshot = builder.build();
  in.otherFeedback.templateError = "";
  if (sign) in.life.emplace(job.key, *std::move(sign));
  for (const JobDecision& each : cycle(in, cache).decisions) {
    if (each.job->key == job.key) return each;
  }
  return std::nullopt;
}

// The job after all decisions of a cycle are written.
model::Job settled(model::Job job) {
  CycleCache cache;
  if (const auto first = decide(job, std::nullopt, cache); first && first->status)
    job.status = *first->status;
  return job;
}

}  // namespace

TEST_CASE("a job without health.stallSeconds never stalls") {
  CHECK_FALSE(stallsAt({}, at(0)));
  CHECK(stallsAt({.stall = seconds(60)}, at(0)) == at(60));
}

TEST_CASE("jobs with stall detection or a checkpoint helper are read more often") {
  model::JobSpec spec;
  CHECK_FALSE(wantsReports(spec));
  spec.health.stall = seconds(1);
  CHECK(wantsReports(spec));
  spec = {};
  spec.checkpoint.emplace();
  CHECK_FALSE(wantsReports(spec));
  spec.checkpoint->mode = model::CheckpointMode::kHelper;
  CHECK(wantsReports(spec));
}

TEST_CASE("the remaining time follows from the recent speed of steps") {
  StepRate rate;
  CHECK_FALSE(rate.remaining(100));
  rate.note(0, at(0));
  CHECK_FALSE(rate.remaining(100));
  rate.note(10, at(10));
  CHECK(rate.remaining(100) == seconds(90));
  CHECK(rate.remaining(10) == seconds(0));
  SECTION("a slow beginning is forgotten") {
    for (int i = 1; i <= 100; ++i) rate.note(10 + i * 100, at(10 + i * 100));
    for (int i = 1; i <= 100; ++i) rate.note(10'010 + i * 1000, at(10'010 + i * 100));
    CHECK(rate.remaining(111'010) == seconds(100));
  }
  SECTION("a job that returns to a checkpoint is measured again") {
    rate.note(5, at(20));
    CHECK_FALSE(rate.remaining(100));
    rate.note(6, at(22));
    CHECK(rate.remaining(100) == seconds(188));
  }
  SECTION("no number is too large") { CHECK(rate.remaining(INT64_MAX)->count() > 86'400); }
}

TEST_CASE("new progress in a job's log is written even when nothing else changes") {
  const model::Job job = settled(runningJob());
  CycleCache cache;
  REQUIRE_FALSE(decide(job, std::nullopt, cache));
  LifeSign sign;
  sign.progress.emplace();
  sign.progress->step = 7;
  const auto decision = decide(job, sign, cache);
  REQUIRE(decision);
  REQUIRE(decision->status);
  CHECK(decision->status->progress == sign.progress);
  CHECK(decision->urgency == Urgency::kSpare);
  CHECK(decision->events.empty());
  CHECK(decision->actions.empty());
}

TEST_CASE("a silent job is marked as stalled once and no longer when it logs again") {
  model::Job job = settled(runningJob());
  CycleCache cache;
  const auto silent = decide(job, kSilent, cache);
  REQUIRE(silent);
  REQUIRE(silent->status);
  REQUIRE(silent->events.size() == 1);
  CHECK(silent->events[0].reason == "Stalled");
  CHECK(silent->actions.empty());
  CHECK(silent->status->phase == "Running");
  job.status = *silent->status;
  CHECK(job.conditionTrue(model::conditions::kStalled));
  CHECK_FALSE(decide(job, kSilent, cache));
  const auto alive = decide(job, LifeSign{}, cache);
  REQUIRE(alive);
  job.status = *alive->status;
  CHECK_FALSE(job.conditionTrue(model::conditions::kStalled));
}

TEST_CASE("a stalled job restarts where it requests that and the restart is counted") {
  model::Job job = settled(runningJob());
  job.spec.health.restartStalled = true;
  SECTION("the whole gang even where one pod could restart") {
    job.spec.failure.scope = model::RestartScope::kPod;
  }
  SECTION("the whole gang") {}
  CycleCache cache;
  const auto decision = decide(job, kSilent, cache);
  REQUIRE(decision);
  REQUIRE(decision->status);
  const model::JobStatus& status = *decision->status;
  REQUIRE(status.gang.proposal);
  CHECK(status.gang.proposal->kind == model::ProposalKind::kRestart);
  CHECK(status.gang.proposal->add.size() == 2);
  CHECK(status.restarts.counted == 1);
  CHECK(status.restarts.of(model::FailureClass::kStalled) == 1);
  REQUIRE(status.lastFailure);
  CHECK(status.lastFailure->failure == model::FailureClass::kStalled);
  CHECK(status.lastFailure->action == "Restarted");
  CHECK(status.lastFailure->node.empty());
  job.status = status;
  CHECK_FALSE(job.conditionTrue(model::conditions::kStalled));
  CHECK(job.condition(model::conditions::kRestarting)->reason == "Stalled");
}

TEST_CASE("a job that stalls again and again ends") {
  model::Job job = settled(runningJob());
  job.spec.health.restartStalled = true;
  for (int i = 0; i < 3; ++i) job.status.restarts.add(model::FailureClass::kStalled, true);
  CycleCache cache;
  const auto decision = decide(job, kSilent, cache);
  REQUIRE(decision);
  CHECK(decision->status->phase == "Failed");
  job.status = *decision->status;
  CHECK(job.condition(model::conditions::kFailed)->reason == "Stalled");
}

TEST_CASE("a reported checkpoint makes preemption cheaper and never dearer") {
  model::Snapshot snapshot = cluster().now(1000);
  model::Job job = runningJob();
  job.status.gpus = 1;
  job.spec.checkpoint.emplace();
  job.spec.checkpoint->mode = model::CheckpointMode::kNone;
  job.spec.checkpoint->every = seconds(600);
  CHECK(lostWork(job, snapshot) == 400);
  job.status.progress.emplace();
  CHECK(lostWork(job, snapshot) == 400);
  job.status.progress->lastCheckpoint = at(950);
  CHECK(lostWork(job, snapshot) == 50);
  job.status.progress->lastCheckpoint = at(-100'000);
  CHECK(lostWork(job, snapshot) == 400);
  job.status.progress->lastCheckpoint = at(5'000);
  CHECK(lostWork(job, snapshot) == 0);
  // A job without declared checkpoints is not assumed to resume from one.
  job.spec.checkpoint.reset();
  job.status.progress->lastCheckpoint = at(950);
  CHECK(lostWork(job, snapshot) == 1000);
}
