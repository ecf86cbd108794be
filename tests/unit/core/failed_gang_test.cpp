#include <algorithm>
#include <string_view>

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "core/gang/gang_proposals.h"
#include "model/conditions.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

using model::FailureClass;

// A gang of two on n1 and n2; n3 is free. The second member has ended with an error.
class FailedGangScene {
 public:
  FailedGangScene() {
    job_.status.gang.lastEpoch = 1;
    job_.status.service.updatedAt = at(0);
    job_.hasReleaseFinalizer = true;
    second_.phase = model::PodPhase::kFailed;
    second_.exit = model::ContainerExit{1, "Error", {}, at(90)};
    auto failure = std::make_shared<model::PodFailure>();
    failure->containers.push_back({"train", 1});
    failure->conditions.push_back({"DisruptionTarget", "False"});
    second_.failure = std::move(failure);
  }

  model::Job& job() { return job_; }
  model::Pod& second() { return second_; }
  bool firstIsGone = false;
  std::int64_t now = 100;

  // The decision of the cycle after the cause of the failure is found.
  JobDecision decide(FailureClass failure, std::string message = {}) {
    Failure found;
    found.failure = failure;
    found.message = std::move(message);
    found.pod = second_.key.name;
    found.node = model::NodeName("n2");
    return decideOn(found);
  }

  // Makes the preflight check of n2 fail.
  void preflightFails() {
    auto failure = std::make_shared<model::PodFailure>();
    failure->containers.push_back({"trainyard-preflight", 1});
    second_.failure = std::move(failure);
  }

  JobDecision decideOn(std::optional<Failure> found) {
    SnapshotBuilder builder = cluster().now(now);
    for (const char* name : {"n1", "n2", "n3"}) builder.add(node(name).gpus(8));
    builder.add(job_).add(second_);
    if (!firstIsGone) builder.add(first_);
    CycleInput in;
    in.snapshot = builder.build();
    in.feedback[job_.key] = {.templateError = "", .failure = std::move(found)};
    plan_ = cycle(in);
    REQUIRE(plan_.decisions.size() == 1);
    return plan_.decisions.front();
  }

 private:
  model::Job job_ =
      test::job("ml/bert").role("worker", 2, gpus(8)).placed("n1", "worker", "0").placed("n2", "worker", "1");
  model::Pod first_ = pod("x").memberOf(job_, "worker", 0).gpus(8).on("n1").phase(model::PodPhase::kRunning);
  model::Pod second_ = pod("x").memberOf(job_, "worker", 1).gpus(8).on("n2").phase(model::PodPhase::kFailed);
  Plan plan_;
};

bool endsFailed(const JobDecision& decision) {
  const auto& conditions = decision.status->conditions;
  const auto holds = [&](std::string_view type) {
    return std::any_of(conditions.begin(), conditions.end(), [&](const auto& each) {
      return each.type == type && each.status == model::ConditionStatus::kTrue;
    });
  };
  CHECK(holds("Failed") == holds("Finished"));
  return holds("Failed");
}

const model::Proposal& restartOf(const JobDecision& decision) {
  REQUIRE(decision.status);
  REQUIRE(decision.status->gang.proposal);
  CHECK(decision.status->gang.proposal->kind == model::ProposalKind::kRestart);
  return *decision.status->gang.proposal;
}

}  // namespace

TEST_CASE("the evidence of a failure is collected before anything is decided") {
  FailedGangScene scene;
  const JobDecision decision = scene.decideOn(std::nullopt);
  CHECK_FALSE(decision.status);
  REQUIRE(decision.actions.size() == 1);
  CHECK(std::holds_alternative<CollectEvidence>(decision.actions.front()));
}

TEST_CASE("a failure that would repeat ends the job and is recorded") {
  FailedGangScene scene;
  scene.job().spec.failure.maxRestarts = 3;
  const JobDecision decision = scene.decide(FailureClass::kImportError, "No module named 'apex'");
  CHECK(endsFailed(decision));
  REQUIRE(decision.status->lastFailure);
  CHECK(decision.status->lastFailure->failure == FailureClass::kImportError);
  CHECK(decision.status->lastFailure->action == "Failed");
  CHECK(decision.status->lastFailure->pod == "bert-worker-1");
  CHECK(decision.status->lastFailure->exitCode == 1);
  CHECK(decision.status->restarts.counted == 0);
  REQUIRE(decision.events.size() == 1);
  CHECK(decision.events.front().note ==
        "pod bert-worker-1 on node n2 ended with exit code 1 (Error): No module named 'apex'; ImportError "
        "would "
        "fail again");
}

TEST_CASE("an infrastructure failure restarts the gang at once and is not counted") {
  FailedGangScene scene;
  scene.job().spec.failure.maxRestarts = 0;
  const JobDecision decision = scene.decide(FailureClass::kNcclError);
  CHECK(restartOf(decision).add.size() == 2);
  CHECK(decision.status->restarts.of(FailureClass::kNcclError) == 1);
  CHECK(decision.status->restarts.counted == 0);
  CHECK(decision.status->phase == "Restarting");
}

TEST_CASE("a gang with a broken device restarts on other nodes") {
  FailedGangScene scene;
  const JobDecision decision = scene.decide(FailureClass::kGpuHardware);
  const auto& add = restartOf(decision).add;
  CHECK(std::none_of(add.begin(), add.end(),
                     [](const auto& each) { return each.node == model::NodeName("n2"); }));
}

TEST_CASE("the second restart waits for a back-off and gives up the placement") {
  FailedGangScene scene;
  scene.job().status.restarts.add(FailureClass::kGpuHardware, false);
  const JobDecision decision = scene.decide(FailureClass::kGpuHardware);
  CHECK(restartOf(decision).add.empty());
  REQUIRE(decision.status->gang.backoff);
  CHECK(decision.status->gang.backoff->until == at(110));
  CHECK(decision.status->gang.backoff->avoidNodes == std::vector{model::NodeName("n2")});

  // After its pods are gone, it waits for the back-off.
  model::Job later = scene.job();
  later.status = *decision.status;
  const model::GangRecord merged = mergeProposal(later);
  CHECK_FALSE(merged.placed);
  CHECK(merged.backoff == decision.status->gang.backoff);
}

TEST_CASE("a gang that ran out of memory is admitted again with more and only once") {
  FailedGangScene scene;
  const JobDecision decision = scene.decide(FailureClass::kHostOutOfMemory);
  CHECK(restartOf(decision).add.empty());
  CHECK(decision.status->gang.backoff->until == at(100));
  scene.job().status.restarts.add(FailureClass::kHostOutOfMemory, true);
  CHECK(endsFailed(scene.decide(FailureClass::kHostOutOfMemory)));
}

TEST_CASE("restart budgets end by class and in total") {
  FailedGangScene scene;
  SECTION("of an infrastructure class") {
    for (int i = 0; i < 3; ++i) scene.job().status.restarts.add(FailureClass::kNcclError, false);
    CHECK(endsFailed(scene.decide(FailureClass::kNcclError)));
    CHECK_FALSE(endsFailed(scene.decide(FailureClass::kGpuHardware)));
  }
  SECTION("but not after a long run that kept its work") {
    for (int i = 0; i < 3; ++i) scene.job().status.restarts.add(FailureClass::kNcclError, false);
    scene.job().spec.checkpoint = model::Checkpoint{};
    CHECK(endsFailed(scene.decide(FailureClass::kNcclError)));
    scene.job().status.conditions.push_back(
        {"Scheduled", model::ConditionStatus::kTrue, "GangPlaced", {}, at(-4'000), 1});
    const JobDecision decision = scene.decide(FailureClass::kNcclError);
    CHECK_FALSE(endsFailed(decision));
    CHECK(decision.status->restarts.of(FailureClass::kNcclError) == 4);
  }
  SECTION("an unknown failure is retried once unless the job states how often") {
    CHECK_FALSE(endsFailed(scene.decide(FailureClass::kUnknown)));
    scene.job().status.restarts.add(FailureClass::kUnknown, true);
    CHECK(endsFailed(scene.decide(FailureClass::kUnknown)));
    scene.job().spec.failure.maxRestarts = 2;
    CHECK_FALSE(endsFailed(scene.decide(FailureClass::kUnknown)));
    scene.job().status.restarts.add(FailureClass::kUnknown, true);
    CHECK(endsFailed(scene.decide(FailureClass::kUnknown)));
  }
  SECTION("counted over all classes") {
    scene.job().spec.failure.maxRestarts = 1;
    scene.job().status.restarts.add(FailureClass::kSegmentationFault, true);
    CHECK(endsFailed(scene.decide(FailureClass::kUnknown)));
  }
}

TEST_CASE("the user's own rules come first") {
  FailedGangScene scene;
  using Rule = model::PodFailureRule;
  const auto rules = [&](std::vector<Rule> list) { scene.job().spec.failure.rules = std::move(list); };
  SECTION("an exit code ends the job in any class") {
    rules({{.action = Rule::Action::kFailJob, .exitCodes = Rule::ExitCodes{"", true, {1, 42}}}});
    CHECK(endsFailed(scene.decide(FailureClass::kNcclError)));
  }
  SECTION("one of another container does not match") {
    rules({{.action = Rule::Action::kFailJob, .exitCodes = Rule::ExitCodes{"sidecar", true, {1}}}});
    CHECK_FALSE(endsFailed(scene.decide(FailureClass::kNcclError)));
  }
  SECTION("one of another role does not match") {
    rules({{.action = Rule::Action::kFailJob, .roles = {"ps"}, .exitCodes = Rule::ExitCodes{"", true, {1}}}});
    CHECK_FALSE(endsFailed(scene.decide(FailureClass::kNcclError)));
  }
  SECTION("a failure that would repeat is retried by a rule and counted or not") {
    rules({{.action = Rule::Action::kCount, .exitCodes = Rule::ExitCodes{"", false, {2}}}});
    CHECK(scene.decide(FailureClass::kImportError).status->restarts.counted == 1);
    rules({{.action = Rule::Action::kIgnore, .podConditions = {{"DisruptionTarget", "False"}}}});
    CHECK(scene.decide(FailureClass::kImportError).status->restarts.counted == 0);
  }
  SECTION("the first rule that matches decides") {
    rules({{.action = Rule::Action::kIgnore, .exitCodes = Rule::ExitCodes{"", true, {1}}},
           {.action = Rule::Action::kFailJob, .exitCodes = Rule::ExitCodes{"", true, {1}}}});
    CHECK_FALSE(endsFailed(scene.decide(FailureClass::kImportError)));
  }
}

TEST_CASE("with scope Pod only the failed member restarts") {
  FailedGangScene scene;
  scene.job().spec.failure.scope = model::RestartScope::kPod;
  const JobDecision decision = scene.decide(FailureClass::kConnectionLost);
  REQUIRE(decision.status->gang.proposal);
  CHECK(decision.status->gang.proposal->kind == model::ProposalKind::kReplace);
  REQUIRE(decision.status->gang.proposal->add.size() == 1);
  CHECK(decision.status->gang.proposal->add.front().indices.str() == "1");
}

TEST_CASE("with scope Pod the other members run during the back-off of the failed one") {
  FailedGangScene scene;
  scene.job().spec.failure.scope = model::RestartScope::kPod;
  scene.job().status.restarts.add(FailureClass::kConnectionLost, false);
  const JobDecision paused = scene.decide(FailureClass::kConnectionLost);
  REQUIRE(paused.status);
  CHECK_FALSE(paused.status->gang.proposal);
  CHECK(paused.status->gang.placed == scene.job().status.gang.placed);
  CHECK(paused.status->restarts.of(FailureClass::kConnectionLost) == 2);
  scene.job().status = *paused.status;

  scene.now = 105;
  const JobDecision waits = scene.decide(FailureClass::kConnectionLost);
  REQUIRE(waits.status);
  CHECK(waits.actions.empty());
  CHECK_FALSE(waits.status->gang.proposal);
  CHECK(waits.status->restarts == paused.status->restarts);
  REQUIRE(waits.status->pending);
  CHECK(waits.status->pending->reason == model::PendingReason::kBackingOff);
  scene.job().status = *waits.status;

  scene.now = 110;
  const JobDecision byRestart = scene.decide(FailureClass::kConnectionLost);
  REQUIRE(byRestart.status);
  REQUIRE(byRestart.status->gang.proposal);
  CHECK(byRestart.status->gang.proposal->kind == model::ProposalKind::kReplace);
  REQUIRE(byRestart.status->gang.proposal->add.size() == 1);
  CHECK(byRestart.status->gang.proposal->add.front().indices.str() == "1");
  CHECK(byRestart.status->restarts == paused.status->restarts);
  scene.job().status = *byRestart.status;
  CHECK_FALSE(mergeProposal(scene.job()).backoff);
}

TEST_CASE("a job ends when it has run until its deadline") {
  FailedGangScene scene;
  scene.job().spec.run.activeDeadline = std::chrono::seconds(100);
  const JobDecision decision = scene.decideOn(std::nullopt);
  CHECK(endsFailed(decision));
  CHECK(decision.status->lastFailure->failure == FailureClass::kDeadlineExceeded);
}

TEST_CASE("an ended job is deleted when its TTL is over and not examined before") {
  model::Job over = job("ml/bert").role("worker", 1, gpus(8));
  over.spec.run.ttlAfterFinished = std::chrono::seconds(60);
  over.status.completionTime = at(100);
  over.status.conditions.push_back(
      {"Succeeded", model::ConditionStatus::kTrue, "RolesSucceeded", {}, at(100), 1});
  const auto plan = [&](std::int64_t now) {
    CycleInput in;
    in.snapshot = cluster().now(now).add(over).build();
    return cycle(in);
  };
  CHECK(plan(159).decisions.empty());
  CHECK(plan(159).wakeAt == at(160));
  REQUIRE(plan(160).decisions.size() == 1);
  CHECK(std::holds_alternative<DeleteJob>(plan(160).decisions.front().actions.front()));
}

TEST_CASE("a failed preflight moves the gang off the node without evidence and without counting") {
  FailedGangScene scene;
  scene.preflightFails();
  scene.job().spec.failure.maxRestarts = 0;
  scene.job().spec.failure.rules.push_back({.exitCodes = model::PodFailureRule::ExitCodes{"", true, {1}}});
  const JobDecision decision = scene.decideOn(std::nullopt);
  const model::Proposal& restart = restartOf(decision);
  CHECK(std::none_of(restart.add.begin(), restart.add.end(),
                     [](const auto& each) { return each.node == model::NodeName("n2"); }));
  CHECK(restart.add.size() == 2);
  CHECK(decision.status->restarts.counted == 0);
  CHECK(decision.status->restarts.of(FailureClass::kPreflightFailed) == 1);
  REQUIRE(decision.status->lastFailure);
  CHECK(decision.status->lastFailure->node == model::NodeName("n2"));
}

TEST_CASE("a failed member restarts with a member that is lost during its back-off and counts once") {
  FailedGangScene scene;
  scene.job().spec.failure.scope = model::RestartScope::kPod;
  scene.job().status.restarts.add(FailureClass::kUnknown, true);
  scene.job().status.gang.backoff = model::Backoff{at(90), 0, {}, "pause"};
  scene.firstIsGone = true;
  const JobDecision decision = scene.decideOn(std::nullopt);
  REQUIRE(decision.status->gang.proposal);
  CHECK(decision.status->gang.proposal->removes("worker", 0));
  CHECK(decision.status->gang.proposal->removes("worker", 1));
  CHECK(decision.status->restarts.counted == 1);
}

TEST_CASE("a pod that exceeds its storage limit has failed and one evicted from a full node is lost") {
  FailedGangScene scene;
  scene.second().exit.reset();
  scene.second().statusReason = "Evicted";
  scene.second().disruptionReason = "TerminationByKubelet";
  auto failure = std::make_shared<model::PodFailure>(*scene.second().failure);
  const auto asks = [](const JobDecision& decision) {
    return std::any_of(decision.actions.begin(), decision.actions.end(),
                       [](const Action& each) { return std::holds_alternative<CollectEvidence>(each); });
  };
  failure->message =
      GENERATE("Usage of EmptyDir volume \"scratch\" exceeds the limit \"1Gi\". ",
               "Container train exceeded its local ephemeral storage limit \"1Gi\". ",
               "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ");
  scene.second().failure = failure;
  CHECK(asks(scene.decideOn(std::nullopt)));

  auto full = std::make_shared<model::PodFailure>(*failure);
  full->message =
      "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 9Mi. Container "
      "train was using 2Gi, request is 0, has larger consumption of ephemeral-storage. ";
  scene.second().failure = full;
  const JobDecision lost = scene.decideOn(std::nullopt);
  CHECK_FALSE(asks(lost));
  REQUIRE(lost.status->gang.proposal);
  // Not on the node that has just evicted it.
  for (const model::Assignment& place : lost.status->gang.proposal->add) CHECK(place.node.str() != "n2");
}
