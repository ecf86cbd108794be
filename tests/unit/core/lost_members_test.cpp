#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/outcome.h"
#include "core/lifecycle/node_endings.h"
#include "model/conditions.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

using model::FailureClass;
using Rule = model::PodFailureRule;

// A gang of three on n1, n2 and n3. Each test loses some members; the other nodes are free or used.
class LostMembersScene {
 public:
  LostMembersScene() {
    job.status.gang.lastEpoch = 1;
    job.status.service.updatedAt = at(0);
    job.hasReleaseFinalizer = true;
    for (int i = 0; i < 3; ++i) {
      pods.push_back(pod("x")
                         .memberOf(job, "worker", i)
                         .gpus(8)
                         .on("n" + std::to_string(i + 1))
                         .phase(model::PodPhase::kRunning));
    }
  }

  void fail(int index, std::string reason, std::string message = {}) {
    model::Pod& lost = pods[static_cast<std::size_t>(index)];
    lost.phase = model::PodPhase::kFailed;
    lost.statusReason = std::move(reason);
    auto failure = std::make_shared<model::PodFailure>();
    failure->message = std::move(message);
    lost.failure = std::move(failure);
  }

  void disrupt(int index, std::string reason) {
    model::Pod& lost = pods[static_cast<std::size_t>(index)];
    lost.terminating = true;
    lost.disruptionReason = std::move(reason);
    auto failure = std::make_shared<model::PodFailure>();
    failure->conditions.push_back({"DisruptionTarget", "True"});
    lost.failure = std::move(failure);
  }

  void elastic(model::CheckpointMode mode) {
    job.spec.elastic = model::Elastic{"worker", 3, 2, 3};
    job.spec.checkpoint = model::Checkpoint{.mode = mode};
    job.spec.failure.scope = model::RestartScope::kPod;
  }

  JobDecision decide() {
    SnapshotBuilder builder = cluster().now(now);
    for (const char* name : {"n1", "n2", "n3", "n4"}) {
      if (name != gone) builder.add(node(name).gpus(8));
    }
    if (othersTaken) builder.add(pod("else/filler").on("n4").gpus(8));
    builder.add(job);
    for (const model::Pod& each : pods) builder.add(each);
    CycleInput in;
    in.snapshot = builder.build();
    in.feedback[job.key] = {.templateError = ""};
    Plan plan = cycle(in);
    REQUIRE(plan.decisions.size() == 1);
    return plan.decisions.front();
  }

  model::Job job = test::job("ml/bert")
                       .role("worker", 3, gpus(8))
                       .placed("n1", "worker", "0")
                       .placed("n2", "worker", "1")
                       .placed("n3", "worker", "2");
  std::vector<model::Pod> pods;
  bool othersTaken = false;
  std::string_view gone = {};  // the name of a deleted node
  std::int64_t now = 100;
};

const model::Proposal& proposalOf(const JobDecision& decision) {
  REQUIRE(decision.status);
  REQUIRE(decision.status->gang.proposal);
  return *decision.status->gang.proposal;
}

bool endsFailed(const JobDecision& decision) {
  REQUIRE(decision.status);
  return decision.status->phase == "Failed";
}

}  // namespace

TEST_CASE("a member that its node did not run is lost and not failed for any reason") {
  LostMembersScene scene;
  const std::string reason =
      GENERATE("TopologyAffinityError", "SMTAlignmentError", "VolumeAttachmentLimitExceeded",
               "UnexpectedAdmissionError", "OutOfcpu", "OutOfnvidia.com/gpu", "NodeAffinity", "Preempting",
               "PodLevelResourcesNotSupported", "NodeShutdown", "AReasonOfKubernetesToCome");
  scene.fail(1, reason);
  for (int i = 0; i < 5; ++i) scene.job.status.restarts.add(FailureClass::kAdmissionRefused, false);
  const JobDecision decision = scene.decide();
  CHECK(proposalOf(decision).kind == model::ProposalKind::kRestart);
  for (const model::Assignment& place : proposalOf(decision).add) CHECK(place.node.str() != "n2");
  CHECK(decision.status->restarts.counted == 0);
}

TEST_CASE("a pod that the kubelet reports as rejected is refused by its node for any reason") {
  model::Pod rejected = pod("ml/x").on("n1").phase(model::PodPhase::kFailed);
  rejected.exit = model::ContainerExit{137, "ContainerStatusUnknown", {}, {}};
  CHECK_FALSE(endedByNode(rejected));
  auto failure = std::make_shared<model::PodFailure>();
  failure->message = "Pod was rejected: Allocate failed due to no healthy devices present";
  rejected.failure = failure;
  CHECK(endedByNode(rejected) == FailureClass::kAdmissionRefused);
}

TEST_CASE("an end that the pod itself requested is no loss") {
  model::Pod own = pod("ml/x").on("n1").phase(model::PodPhase::kFailed);
  own.statusReason = "DeadlineExceeded";
  CHECK_FALSE(endedByNode(own));
}

TEST_CASE("user rules on conditions apply to lost members and those on exit codes do not") {
  LostMembersScene scene;
  scene.disrupt(1, "EvictionByEvictionAPI");
  const auto rules = [&](std::vector<Rule> list) { scene.job.spec.failure.rules = std::move(list); };
  SECTION("a loss ends the job where a rule states it") {
    rules({{.action = Rule::Action::kFailJob, .podConditions = {{"DisruptionTarget", "True"}}}});
    const JobDecision decision = scene.decide();
    CHECK(endsFailed(decision));
    CHECK(decision.status->lastFailure->action == "Failed");
    CHECK(
        decision.events.front().note ==
        "pod bert-worker-1 on node n2 is being deleted: EvictionByEvictionAPI; a rule of spec.failure.rules "
        "ends the job");
  }
  SECTION("a loss is counted where a rule states it, and ends the job after maxRestarts") {
    rules({{.action = Rule::Action::kCount, .podConditions = {{"DisruptionTarget", "True"}}}});
    scene.job.spec.failure.maxRestarts = 1;
    CHECK(scene.decide().status->restarts.counted == 1);
    scene.job.status.restarts.counted = 1;
    CHECK(endsFailed(scene.decide()));
  }
  SECTION("a rule of another role or condition does not apply") {
    rules(
        {{.action = Rule::Action::kFailJob, .roles = {"ps"}, .podConditions = {{"DisruptionTarget", "True"}}},
         {.action = Rule::Action::kFailJob, .podConditions = {{"DisruptionTarget", "False"}}}});
    CHECK_FALSE(endsFailed(scene.decide()));
  }
  SECTION("exit codes of lost members are those of their end by signal") {
    auto failure = std::make_shared<model::PodFailure>(*scene.pods[1].failure);
    failure->containers.push_back({"train", 137});
    scene.pods[1].failure = failure;
    rules({{.action = Rule::Action::kFailJob, .exitCodes = Rule::ExitCodes{"", true, {137}}}});
    CHECK_FALSE(endsFailed(scene.decide()));
  }
}

TEST_CASE("members that are lost repeatedly wait longer each time") {
  LostMembersScene scene;
  scene.disrupt(1, "EvictionByEvictionAPI");
  const JobDecision first = scene.decide();
  CHECK(proposalOf(first).add.size() == 3);
  CHECK(first.status->restarts.lossesInARow == 1);

  const auto again = [&](int inARow, std::int64_t lastAt) {
    scene.job.status.restarts.lossesInARow = inARow;
    scene.job.status.lastFailure.emplace().time = at(lastAt);
    return scene.decide();
  };
  SECTION("the whole gang gives up its placement meanwhile") {
    const JobDecision second = again(1, 99);
    CHECK(proposalOf(second).add.empty());
    REQUIRE(second.status->gang.backoff);
    CHECK(second.status->gang.backoff->until == at(101));
    CHECK(again(3, 99).status->gang.backoff->until == at(104));
    CHECK(again(300, 99).status->gang.backoff->until == at(160));
  }
  SECTION("a run of ten minutes ends the row") {
    const JobDecision later = again(300, -500);
    CHECK(proposalOf(later).add.size() == 3);
    CHECK(later.status->restarts.lossesInARow == 1);
  }
  SECTION("with scope Pod the survivors run on, and the loss is recorded once") {
    scene.job.spec.failure.scope = model::RestartScope::kPod;
    const JobDecision second = again(1, 99);
    CHECK_FALSE(second.status->gang.proposal);
    CHECK(second.status->gang.backoff->until == at(101));
    scene.job.status = *second.status;
    scene.now = 101;
    const JobDecision third = scene.decide();
    CHECK(proposalOf(third).kind == model::ProposalKind::kReplace);
    CHECK(third.status->restarts == second.status->restarts);
  }
}

TEST_CASE("without a node for a lost member an elastic gang continues with the survivors") {
  LostMembersScene scene;
  scene.othersTaken = true;
  scene.gone = "n3";
  SECTION("the last member is lost: the gang shrinks by it") {
    scene.elastic(GENERATE(model::CheckpointMode::kHelper, model::CheckpointMode::kLauncher));
    scene.pods.pop_back();
    const model::Proposal proposal = proposalOf(scene.decide());
    CHECK(proposal.kind == model::ProposalKind::kShrink);
    CHECK(proposal.removes("worker", 2));
    CHECK_FALSE(proposal.removes("worker", 1));
  }
  SECTION("so does a gang with gang.minAvailable") {
    scene.job.spec.elastic = model::Elastic{"worker", 3, 2, 3};
    scene.job.spec.minAvailable = 2;
    scene.job.spec.failure.scope = model::RestartScope::kPod;
    scene.pods.pop_back();
    CHECK(proposalOf(scene.decide()).kind == model::ProposalKind::kShrink);
  }
  SECTION("another member is lost: it takes the node of the last one and the others run on") {
    scene.elastic(model::CheckpointMode::kHelper);
    scene.gone = "n2";
    scene.pods.erase(scene.pods.begin() + 1);
    const JobDecision decision = scene.decide();
    const model::Proposal& proposal = proposalOf(decision);
    CHECK(proposal.kind == model::ProposalKind::kReplace);
    REQUIRE(proposal.add.size() == 1);
    CHECK(proposal.add.front().node.str() == "n3");
    CHECK(proposal.add.front().indices.str() == "1");
    CHECK(proposal.removes("worker", 2));
    CHECK_FALSE(proposal.removes("worker", 0));
    scene.job.status = *decision.status;
    const model::GangRecord merged = mergeProposal(scene.job);
    CHECK(memberCount(merged.placed->assignments) == 2);
  }
  SECTION("a gang that must restart does so with the remaining members") {
    scene.elastic(model::CheckpointMode::kSignal);
    scene.job.spec.framework = model::Framework::kMpi;
    scene.pods.pop_back();
    const model::Proposal proposal = proposalOf(scene.decide());
    CHECK(proposal.kind == model::ProposalKind::kRestart);
    CHECK(memberCount(proposal.add) == 2);
  }
  SECTION("fewer than the minimum are pending again") {
    scene.elastic(model::CheckpointMode::kHelper);
    scene.job.spec.elastic->minReplicas = 3;
    scene.pods.pop_back();
    CHECK(proposalOf(scene.decide()).kind == model::ProposalKind::kRestart);
    CHECK(proposalOf(scene.decide()).add.empty());
  }
  SECTION("with a node for it the member is replaced") {
    scene.elastic(model::CheckpointMode::kHelper);
    scene.othersTaken = false;
    scene.pods.pop_back();
    CHECK(proposalOf(scene.decide()).kind == model::ProposalKind::kReplace);
  }
}

namespace {

// worker-0 and worker-1 have the container "train" of their template, and one added by admission that still
// runs.
Plan planWithSidecars(int firstExit, std::optional<int> secondExit,
                      std::vector<std::string> ofTemplate = {"train"}) {
  model::Job job =
      test::job("ml/bert").role("worker", 2, gpus(8)).placed("n1", "worker", "0").placed("n2", "worker", "1");
  job.spec.roles[0].containers = std::move(ofTemplate);
  job.hasReleaseFinalizer = true;
  const auto member = [&](int index, std::optional<int> exit) {
    model::Pod each = pod("x")
                          .memberOf(job, "worker", index)
                          .gpus(8)
                          .on(index == 0 ? "n1" : "n2")
                          .phase(model::PodPhase::kRunning);
    if (!exit) return each;
    each.exit = model::ContainerExit{*exit, "Error", {}, {}};
    auto partly = std::make_shared<model::PartlyEnded>();
    partly->ended.push_back({"train", *exit});
    partly->running.emplace_back("istio-proxy");
    each.partlyEnded = partly;
    return each;
  };
  SnapshotBuilder builder = cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(job);
  builder.add(member(0, firstExit)).add(member(1, secondExit));
  CycleInput in;
  in.snapshot = builder.build();
  in.feedback[job.key] = {.templateError = ""};
  return cycle(in);
}

}  // namespace

TEST_CASE("a container that admission added and that never ends does not keep its member from ending") {
  const Plan ended = planWithSidecars(0, 0);
  REQUIRE(ended.decisions.size() == 1);
  CHECK(ended.decisions[0].status->phase == "Succeeded");
  CHECK(
      ended.decisions[0].events.front().note ==
      "all members that spec.success requires ended with exit code 0; pod bert-worker-0 still runs container "
      "istio-proxy, which is not in its template");
  SECTION("not before all members have ended") {
    const Plan plan = planWithSidecars(0, std::nullopt);
    CHECK((plan.decisions.empty() || plan.decisions[0].status->phase != "Succeeded"));
  }
  SECTION("an error is a failure") {
    const Plan plan = planWithSidecars(1, std::nullopt);
    REQUIRE(plan.decisions.size() == 1);
    REQUIRE(plan.decisions[0].actions.size() == 1);
    CHECK(std::holds_alternative<CollectEvidence>(plan.decisions[0].actions.front()));
  }
  SECTION("a container of the template has to end") {
    const Plan plan = planWithSidecars(0, 0, {"train", "istio-proxy"});
    CHECK((plan.decisions.empty() || plan.decisions[0].status->phase != "Succeeded"));
  }
}
