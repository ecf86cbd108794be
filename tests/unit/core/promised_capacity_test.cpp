#include <algorithm>
#include <string_view>

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

// A decision of one part of a cycle about a gang is visible to the other parts. Promised nodes are not
// assigned to another gang, not even to the gang that still holds them.

namespace {

Plan planOf(const SnapshotBuilder& builder) {
  CycleInput in;
  in.snapshot = builder.build();
  in.snapshot.policy.ordering = model::Ordering::kFifo;
  in.snapshot.policy.preemption.minRuntime = {};
  in.term = 4;
  for (const auto& job : in.snapshot.jobs) in.feedback[job->key] = {.templateError = ""};
  return cycle(in);
}

const JobDecision* decisionFor(const Plan& plan, std::string_view name) {
  const auto found = std::find_if(plan.decisions.begin(), plan.decisions.end(),
                                  [&](const JobDecision& d) { return d.job->key == key(name); });
  return found == plan.decisions.end() ? nullptr : &*found;
}

const model::Proposal* proposalFor(const Plan& plan, std::string_view name) {
  const JobDecision* decision = decisionFor(plan, name);
  if (decision == nullptr || !decision->status || !decision->status->gang.proposal) return nullptr;
  return &*decision->status->gang.proposal;
}

model::Queue team(std::int64_t limit) {
  model::Queue queue;
  queue.name = model::QueueName("team");
  queue.limit.set("nvidia.com/gpu", limit);
  return queue;
}

model::Pod memberOn(const model::Job& gang, int index, std::int64_t count, std::string_view nodeName) {
  return pod("x").memberOf(gang, "worker", index).gpus(count).on(nodeName).phase(model::PodPhase::kRunning);
}

SnapshotBuilder nodes(int count, std::int64_t each) {
  SnapshotBuilder builder = cluster().now(1'000).priorityClass("low", 1).priorityClass("high", 2);
  for (int i = 1; i <= count; ++i) builder.add(node("n" + std::to_string(i)).gpus(each));
  return builder;
}

// Two members on n1; their nodes are claimed.
struct Promised {
  model::Job gang = job("ml/gang").role("worker", 2, gpus(4)).placed("n1", "worker", "0-1").priority("low");
  model::Job preemptor;

  Promised() {
    gang.spec.preemptible = true;
    gang.status.gang.lastEpoch = 1;
    gang.hasReleaseFinalizer = true;
    preemptor = job("ml/claiming")
                    .role("worker", 1, gpus(8))
                    .priority("high")
                    .proposes("n1", "worker", "0", model::ProposalPhase::kClaiming)
                    .victim(memberOn(gang, 0, 4, "n1"))
                    .victim(memberOn(gang, 1, 4, "n1"));
    preemptor.status.gang.proposal->deadline = at(5'000);
    preemptor.hasReleaseFinalizer = true;
  }
};

// Three members of two GPUs on n1 that can be resized.
model::Job elasticGang() {
  model::Job gang = job("ml/gang").role("worker", 3, gpus(2)).placed("n1", "worker", "0-2").priority("low");
  gang.spec.elastic = model::Elastic{.role = "worker", .replicas = 3, .minReplicas = 1, .maxReplicas = 3};
  gang.spec.checkpoint = model::Checkpoint{.mode = model::CheckpointMode::kHelper};
  gang.spec.preemptible = true;
  gang.status.gang.lastEpoch = 1;
  gang.hasReleaseFinalizer = true;
  return gang;
}

}  // namespace

TEST_CASE("a gang that loses a member while its nodes are claimed is pending and does not restart on them") {
  const Promised scene;
  const Plan plan =
      planOf(nodes(2, 8).add(scene.gang).add(scene.preemptor).add(memberOn(scene.gang, 0, 4, "n1")));
  const model::Proposal* restart = proposalFor(plan, "ml/gang");
  REQUIRE(restart != nullptr);
  CHECK(restart->kind == model::ProposalKind::kRestart);
  CHECK(restart->add.empty());
}

TEST_CASE("a gang that loses a member restarts where the claim of its nodes was aborted") {
  Promised scene;
  scene.preemptor.status.gang.proposal->phase = model::ProposalPhase::kAborting;
  const Plan plan =
      planOf(nodes(2, 8).add(scene.gang).add(scene.preemptor).add(memberOn(scene.gang, 0, 4, "n1")));
  REQUIRE(proposalFor(plan, "ml/gang") != nullptr);
  CHECK(!proposalFor(plan, "ml/gang")->add.empty());
}

TEST_CASE("a gang that restarts in this cycle is no victim in it") {
  model::Job first =
      job("ml/first").role("worker", 1, gpus(4)).placed("n1", "worker", "0").priority("low").queue("team");
  first.spec.preemptible = true;
  first.status.gang.lastEpoch = 1;
  const Plan plan = planOf(nodes(3, 4).add(team(4)).add(first).add(
      job("ml/urgent").role("worker", 1, gpus(4)).priority("high").queue("team")));
  REQUIRE(proposalFor(plan, "ml/first") != nullptr);
  CHECK(!proposalFor(plan, "ml/first")->add.empty());
  CHECK(proposalFor(plan, "ml/urgent") == nullptr);
}

TEST_CASE("what a preempted gang holds beyond its preemptor's need is not used before it has ended") {
  model::Job large =
      job("ml/large").role("worker", 1, gpus(8)).placed("n1", "worker", "0").priority("low").queue("team");
  large.spec.preemptible = true;
  const Plan plan =
      planOf(nodes(2, 8)
                 .add(team(8))
                 .add(large)
                 .add(memberOn(large, 0, 8, "n1"))
                 .add(job("ml/urgent").role("worker", 1, gpus(4)).priority("high").queue("team"))
                 .add(job("ml/next").role("worker", 1, gpus(4)).priority("low").queue("team").created(5)));
  REQUIRE(proposalFor(plan, "ml/urgent") != nullptr);
  CHECK(proposalFor(plan, "ml/urgent")->victims.size() == 1);
  CHECK(proposalFor(plan, "ml/next") == nullptr);
}

TEST_CASE("an elastic gang whose last members a complete claim names gives up only those") {
  const model::Job gang = elasticGang();
  model::Job preemptor = job("ml/claiming")
                             .role("worker", 1, gpus(2))
                             .priority("high")
                             .proposes("n1", "worker", "0", model::ProposalPhase::kClaiming)
                             .victim(memberOn(gang, 2, 2, "n1"));
  preemptor.status.gang.proposal->deadline = at(5'000);
  preemptor.hasReleaseFinalizer = true;
  SnapshotBuilder builder = nodes(1, 6).add(gang).add(preemptor);
  for (int i = 0; i < 3; ++i) builder.add(memberOn(gang, i, 2, "n1"));
  const Plan plan = planOf(builder.add(pod("").memberOf(preemptor, "worker", 0).gpus(2).gated()));
  const model::Proposal* shrink = proposalFor(plan, "ml/gang");
  REQUIRE(shrink != nullptr);
  CHECK(shrink->kind == model::ProposalKind::kShrink);
  CHECK(shrink->removes("worker", 2));
  CHECK(!shrink->removes("worker", 1));
}
