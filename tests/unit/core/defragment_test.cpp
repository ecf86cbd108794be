#include "core/preemption/preemption.h"

#include <functional>

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "model/charge.h"
#include "support/builders.h"

namespace trainyard::core {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the builders

constexpr std::int64_t kNow = 100'000;

// Adds a single-pod job that has run on the node since this second.
void runs(SnapshotBuilder& builder, const std::string& name, const std::string& nodeName, int gpuCount,
          std::int64_t since, const std::string& queue = "default") {
  model::Job made = job(name)
                        .role("worker", 1, gpus(gpuCount))
                        .created(kNow - since)
                        .queue(queue)
                        .placed(nodeName, "worker", "0");
  made.spec.preemptible = true;
  made.status.gpus = gpuCount;
  made.status.conditions.push_back(
      {"Scheduled", model::ConditionStatus::kTrue, "GangPlaced", {}, at(kNow - since), 1});
  builder.add(pod("").memberOf(made, "worker", 0).on(nodeName));
  builder.add(made);
}

// Adds a pending job that needs a whole node of four GPUs.
void waits(SnapshotBuilder& builder, std::chrono::seconds estimate) {
  model::Job made = job("ml/whole").role("worker", 1, gpus(4)).created(kNow - 100);
  made.spec.estimatedDuration = estimate;
  builder.add(made);
}

std::vector<std::string> movedBy(const model::Snapshot& snapshot) {
  CycleInput input;
  input.term = 1;
  for (const auto& each : snapshot.jobs) {
    JobFeedback feedback;
    feedback.templateError = "";
    feedback.auxiliariesReady = true;
    input.feedback.emplace(each->key, std::move(feedback));
  }
  input.snapshot = snapshot;
  std::vector<std::string> names;
  for (const JobDecision& decision : cycle(input).decisions) {
    const bool restarts = decision.status && decision.status->gang.proposal &&
                          decision.status->gang.proposal->kind == model::ProposalKind::kRestart;
    if (restarts && !decision.status->gang.proposal->add.empty()) names.push_back(decision.job->key.name);
  }
  return names;
}

using Names = std::vector<std::string>;

SnapshotBuilder nodesOfFour(int count) {
  SnapshotBuilder builder = cluster();
  builder.now(kNow);
  for (int i = 1; i <= count; ++i) builder.add(node(fmt::format("n{}", i)).gpus(4));
  return builder;
}

}  // namespace

TEST_CASE("the gang whose move loses least is moved") {
  SnapshotBuilder builder = nodesOfFour(3);
  runs(builder, "ml/a", "n1", 2, 2'000);
  runs(builder, "ml/b", "n2", 2, 1'000);
  runs(builder, "ml/c", "n3", 2, 1'500);
  waits(builder, std::chrono::hours(8));
  CHECK(movedBy(builder) == Names{"b"});
}

TEST_CASE("a gang that could not start again is not moved") {
  SnapshotBuilder builder = nodesOfFour(3);
  runs(builder, "ml/a", "n1", 2, 2'000);
  runs(builder, "ml/b", "n2", 2, 1'000);
  runs(builder, "ml/c", "n3", 2, 1'500);
  waits(builder, std::chrono::hours(8));
  model::Snapshot snapshot = builder;
  const auto editB = [&](const std::function<void(model::Job&)>& edit) {
    for (auto& each : snapshot.jobs.edit()) {
      if (each->key.name != "b") continue;
      model::Job edited = *each;
      edited.status.gang.charge = model::makeCharge(edited.spec, edited.spec.queue, 0);
      edit(edited);
      each = std::make_shared<const model::Job>(std::move(edited));
    }
  };
  SECTION("unchanged") {
    editB([](model::Job&) {});
    CHECK(movedBy(snapshot) == Names{"b"});
  }
  SECTION("its role has another name now") {
    editB([](model::Job& job) { job.spec.roles[0].name = "trainer"; });
    CHECK(movedBy(snapshot) == Names{"c"});
  }
  SECTION("it requests more now") {
    editB([](model::Job& job) { job.spec.roles[0].shape.requests.setExtended("nvidia.com/gpu", 3); });
    CHECK(movedBy(snapshot) == Names{"c"});
  }
  SECTION("its spec is invalid now") {
    editB([](model::Job& job) { job.specError = "spec.roles: no"; });
    CHECK(movedBy(snapshot) == Names{"c"});
  }
}

TEST_CASE("two gangs are moved where that loses less than one or no single one helps") {
  SnapshotBuilder builder = nodesOfFour(3);
  runs(builder, "ml/a", "n1", 1, 500);
  runs(builder, "ml/b", "n1", 1, 500);
  runs(builder, "ml/c", "n2", 3, 5'000);
  runs(builder, "ml/d", "n3", 3, 5'000);
  waits(builder, std::chrono::hours(8));
  CHECK(movedBy(builder) == Names{"a", "b"});
}

TEST_CASE("no gang is moved for less than the policy's gain") {
  SnapshotBuilder builder = nodesOfFour(2);
  runs(builder, "ml/a", "n1", 2, 1'000);
  runs(builder, "ml/b", "n2", 2, 1'000);
  // A move costs 2 GPUs for 1,000 s and a minute; twice that is worth 1,060 s of four GPUs.
  SECTION("just enough") {
    waits(builder, std::chrono::seconds(1'060));
    CHECK(movedBy(builder) == Names{"a"});
  }
  SECTION("a second too little") {
    waits(builder, std::chrono::seconds(1'059));
    CHECK(movedBy(builder).empty());
  }
  SECTION("the policy requires more") {
    waits(builder, std::chrono::seconds(1'060));
    model::Snapshot snapshot = builder;
    snapshot.policy.defragmentation.gainPermille = 2'001;
    CHECK(movedBy(snapshot).empty());
  }
  SECTION("the wait without a move is short") {
    // The other jobs are expected to end soon.
    waits(builder, std::chrono::hours(8));
    model::Snapshot snapshot = builder;
    for (auto& each : snapshot.jobs.edit()) {
      if (each->key.name == "whole") continue;
      auto changed = std::make_shared<model::Job>(*each);
      changed->spec.estimatedDuration = std::chrono::seconds(1'500);
      each = std::move(changed);
    }
    CHECK(movedBy(snapshot).empty());
  }
}

TEST_CASE("no gang is moved out of a queue that forbids it or that is within its guarantee") {
  SnapshotBuilder builder = nodesOfFour(2);
  model::Queue mine;
  mine.name = model::QueueName("default");
  model::Queue theirs;
  theirs.name = model::QueueName("theirs");
  std::string runsIn = "theirs";
  Names expected;
  SECTION("within its guarantee") { theirs.guaranteed.set("nvidia.com/gpu", 4); }
  SECTION("beyond its guarantee") {
    theirs.guaranteed.set("nvidia.com/gpu", 3);
    expected = {"a"};
  }
  SECTION("preemption within the queue is off") {
    runsIn = "default";
    mine.withinQueue = model::WithinQueue::kNever;
  }
  mine.reclaim = false;
  builder.add(mine).add(theirs);
  runs(builder, "ml/a", "n1", 2, 1'000, runsIn);
  runs(builder, "ml/b", "n2", 2, 1'000, runsIn);
  waits(builder, std::chrono::hours(8));
  CHECK(movedBy(builder) == expected);
}

}  // namespace trainyard::core
