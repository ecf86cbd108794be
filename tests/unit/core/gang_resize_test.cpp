#include "core/gang/gang_resize.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "core/cycle.h"
#include "core/resize.h"
#include "model/membership.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

constexpr std::int64_t kNow = 100;

// Two members of one GPU on n1 and n2, with a training loop that reads the membership.
model::Job runningPair() {
  model::Job bert =
      job("ml/bert").role("worker", 2, gpus(1)).placed("n1", "worker", "0").placed("n2", "worker", "1");
  bert.spec.framework = model::Framework::kPyTorch;
  bert.spec.elastic = model::Elastic{.role = "worker", .replicas = 2, .minReplicas = 1, .maxReplicas = 8};
  bert.spec.checkpoint = model::Checkpoint{.mode = model::CheckpointMode::kHelper};
  bert.status.gang.lastEpoch = 1;
  bert.status.gang.placed->epoch = 1;
  bert.hasReleaseFinalizer = true;
  return bert;
}

struct Scene {
  model::Job bert = runningPair();
  std::vector<model::Pod> pods = {};
  JobFeedback feedback = {.auxiliariesReady = true, .templateError = ""};
  std::int64_t now = kNow;
  Settings settings = {};

  Scene() { pods = {old(0), old(1)}; }

  Author author() const { return {1, at(now), &settings}; }
  model::Pod old(int index) const {
    model::Pod made = pod("x").memberOf(bert, "worker", index).gpus(1).on(index == 0 ? "n1" : "n2");
    made.phase = model::PodPhase::kRunning;
    return made;
  }
  model::Pod joining(int index, std::int64_t epoch) const {
    model::Pod made = pod("x").memberOf(bert, "worker", index, epoch).gpus(1).on("n1");
    made.phase = model::PodPhase::kRunning;
    return made;
  }
  model::Snapshot snapshot() const {
    SnapshotBuilder builder = cluster();
    for (const char* name : {"n1", "n2"}) builder.add(model::Node(node(name).gpus(8)));
    for (const auto& each : pods) builder.add(each);
    return builder.add(bert).now(now).build();
  }
  GangStep step() const {
    const model::Snapshot world = snapshot();
    const Ledger ledger(world);
    const GangContext context{world.now, &settings, &ledger, &feedback, &world.jobs, &world.pods};
    return stepProposal(bert, ledger.pods().of(bert), context);
  }
  void grow() {
    bert.status.gang =
        proposeGrow(bert, {{model::NodeName("n1"), "worker", model::IndexSet({2, 3})}}, author());
  }
  void shrink() {
    bert.status.gang =
        proposeShrink(bert, lastMembers(bert, elasticMembers(bert) - 1), std::nullopt, author());
  }
};

template <typename T>
std::size_t countActions(const GangStep& step) {
  return static_cast<std::size_t>(
      std::count_if(step.actions.begin(), step.actions.end(),
                    [](const Action& a) { return std::holds_alternative<T>(a); }));
}

bool aborts(const GangStep& step) {
  return step.record && step.record->proposal &&
         step.record->proposal->phase == model::ProposalPhase::kAborting;
}

}  // namespace

TEST_CASE("the way to resize a job follows from its framework and its checkpoints") {
  model::Job bert = runningPair();
  CHECK(resizeMethod(bert.spec) == ResizeMethod::kNotified);
  bert.spec.checkpoint->mode = model::CheckpointMode::kLauncher;
  CHECK(resizeMethod(bert.spec) == ResizeMethod::kNotified);
  bert.spec.checkpoint->mode = model::CheckpointMode::kSignal;
  CHECK(resizeMethod(bert.spec) == ResizeMethod::kDiscovered);
  bert.spec.framework = model::Framework::kHorovod;
  CHECK(resizeMethod(bert.spec) == ResizeMethod::kNotified);
  bert.spec.framework = model::Framework::kJax;
  CHECK(resizeMethod(bert.spec) == ResizeMethod::kByRestart);
  bert.spec.framework = model::Framework::kTensorFlow;
  CHECK(resizeMethod(bert.spec) == ResizeMethod::kByRestart);
  bert.spec.roles.emplace_back().name = "ps";
  CHECK(resizeMethod(bert.spec) == ResizeMethod::kDiscovered);
  bert.spec.elastic->role = "ps";
  CHECK(resizeMethod(bert.spec) == ResizeMethod::kByRestart);
}

TEST_CASE("before a lost member is replaced the others are notified of the new epoch") {
  Scene scene;
  scene.bert.status.gang = propose(
      scene.bert, model::ProposalKind::kReplace, {{model::NodeName("n1"), "worker", model::IndexSet({1})}},
      {{model::NodeName("n2"), "worker", model::IndexSet({1})}}, {}, scene.author());
  scene.pods.pop_back();
  CHECK(model::membershipOf(scene.bert) == model::Membership{2, "worker", 2});
  const GangStep telling = scene.step();
  CHECK_FALSE(telling.record);
  CHECK(countActions<NotifyMember>(telling) == 1);
  scene.feedback.membersNotified = true;
  REQUIRE(scene.step().record);
  CHECK(scene.step().record->proposal->phase == model::ProposalPhase::kReserved);
  // A job that asks Kubernetes for its peers gets no membership.
  scene.feedback.membersNotified = false;
  scene.bert.spec.checkpoint->mode = model::CheckpointMode::kSignal;
  CHECK(countActions<NotifyMember>(scene.step()) == 0);
}

TEST_CASE("a growing gang first starts its new members and then notifies the running ones") {
  Scene scene;
  scene.grow();
  CHECK(countActions<CreateMember>(scene.step()) == 2);
  scene.pods.push_back(scene.joining(2, 2));
  scene.pods.push_back(scene.joining(3, 2));
  const GangStep bound = scene.step();
  REQUIRE(bound.record);
  CHECK(bound.record->proposal->phase == model::ProposalPhase::kReleasing);
  scene.bert.status.gang = *bound.record;
  const GangStep telling = scene.step();
  CHECK_FALSE(telling.record);
  CHECK(countActions<NotifyMember>(telling) == 2);

  SECTION("also when a new member is lost after the others were notified") {
    scene.pods.pop_back();
    CHECK_FALSE(aborts(scene.step()));
  }
  scene.feedback.membersNotified = true;
  const GangStep merged = scene.step();
  REQUIRE(merged.record);
  CHECK_FALSE(merged.record->proposal);
  REQUIRE(merged.record->placed);
  CHECK(merged.record->placed->assignments.size() == 3);
  CHECK(merged.record->placed->epochOf(merged.record->placed->assignments.back()) == 2);
  const auto said = resizeEnded(scene.bert, *merged.record);
  REQUIRE(said);
  CHECK(said->reason == "Resized");
  CHECK(said->note == "it has 4 members of role worker now, 2 before");
}

TEST_CASE("the deadline to notify running members of new ones is the checkpoint grace") {
  Scene scene;
  scene.grow();
  scene.bert.spec.checkpoint->gracePeriod = std::chrono::seconds(120);
  scene.now = kNow + 1'000;
  scene.bert.status.gang.proposal->deadline = at(scene.now + 1);
  scene.pods.push_back(scene.joining(2, 2));
  scene.pods.push_back(scene.joining(3, 2));
  const GangStep bound = scene.step();
  REQUIRE(bound.record);
  CHECK(bound.record->proposal->deadline == at(scene.now + 120));
}

TEST_CASE("a deleted job completes its growth without notifications") {
  Scene scene;
  scene.grow();
  scene.pods.push_back(scene.joining(2, 2));
  scene.pods.push_back(scene.joining(3, 2));
  scene.bert.status.gang.proposal->phase = model::ProposalPhase::kReleasing;
  CHECK(countActions<NotifyMember>(scene.step()) == 2);
  scene.bert.spec.run.suspend = true;
  CHECK(countActions<NotifyMember>(scene.step()) == 2);
  scene.bert.deleting = true;
  const GangStep step = scene.step();
  CHECK(step.actions.empty());
  REQUIRE(step.record);
  CHECK_FALSE(step.record->proposal);
}

TEST_CASE("a framework that detects its size by itself is not notified") {
  Scene scene;
  scene.bert.spec.checkpoint.reset();
  scene.grow();
  scene.pods.push_back(scene.joining(2, 2));
  scene.pods.push_back(scene.joining(3, 2));
  const GangStep merged = scene.step();
  REQUIRE(merged.record);
  CHECK_FALSE(merged.record->proposal);
}

TEST_CASE("a gang keeps its size when it loses a member or fails or ends before the new members run") {
  Scene scene;
  scene.grow();
  scene.pods.push_back(scene.joining(2, 2));
  SECTION("lost") { scene.pods.erase(scene.pods.begin()); }
  SECTION("failed") {
    scene.pods[0].phase = model::PodPhase::kFailed;
    scene.pods[0].exit = model::ContainerExit{.code = 1, .reason = "Error", .message = {}};
  }
  SECTION("ended") { scene.pods[0].phase = scene.pods[1].phase = model::PodPhase::kSucceeded; }
  SECTION("its deadline passed") { scene.now = kNow + 1'000; }
  SECTION("deleted") { scene.bert.deleting = true; }
  const GangStep step = scene.step();
  CHECK(aborts(step));
  CHECK(step.events.empty());
  scene.bert.status.gang = *step.record;
  CHECK(countActions<DeletePod>(scene.step()) == 1);
  scene.pods.erase(scene.pods.end() - 1);
  const GangStep dropped = scene.step();
  REQUIRE(dropped.record);
  CHECK_FALSE(dropped.record->proposal);
  CHECK(dropped.record->placed->assignments.size() == 2);
}

TEST_CASE("a shrinking gang notifies all members and deletes the leaving ones after their grace") {
  Scene scene;
  scene.shrink();
  CHECK(countActions<NotifyMember>(scene.step()) == 2);
  scene.feedback.membersNotified = true;
  const GangStep waiting = scene.step();
  CHECK(waiting.actions.empty());
  CHECK(waiting.wakeAt == at(kNow + 30));
  SECTION("its grace is over") { scene.now = kNow + 30; }
  SECTION("it has exited") { scene.pods[1].phase = model::PodPhase::kSucceeded; }
  SECTION("it has failed") { scene.pods[1].phase = model::PodPhase::kFailed; }
  const GangStep step = scene.step();
  REQUIRE(countActions<DeletePod>(step) == 1);
  CHECK(std::get<DeletePod>(step.actions.front()).pod.name == "bert-worker-1");
  scene.pods.pop_back();
  const GangStep merged = scene.step();
  REQUIRE(merged.record);
  CHECK_FALSE(merged.record->proposal);
  CHECK(merged.record->placed->assignments.size() == 1);
}

TEST_CASE("a leaving member of a job that detects its size by itself is deleted at once") {
  Scene scene;
  scene.bert.spec.checkpoint.reset();
  scene.shrink();
  const GangStep step = scene.step();
  CHECK(countActions<NotifyMember>(step) == 0);
  CHECK(countActions<DeletePod>(step) == 1);
}

TEST_CASE("a shrink whose gang ends meanwhile is complete and frees its nodes") {
  Scene scene;
  scene.shrink();
  SECTION("suspended") { scene.bert.spec.run.suspend = true; }
  SECTION("deleted") { scene.bert.deleting = true; }
  SECTION("ended") { scene.pods[0].phase = model::PodPhase::kSucceeded; }
  SECTION("lost") { scene.pods.erase(scene.pods.begin()); }
  const GangStep step = scene.step();
  REQUIRE(step.record);
  CHECK_FALSE(step.record->proposal);
  CHECK(step.record->placed->assignments.size() == 1);
}

TEST_CASE("a job that cannot resize while it runs restarts with the new size on its nodes") {
  Scene scene;
  scene.bert.spec.framework = model::Framework::kJax;
  scene.bert.spec.checkpoint.reset();
  SECTION("larger") {
    scene.grow();
    const model::Proposal& proposal = *scene.bert.status.gang.proposal;
    CHECK(proposal.kind == model::ProposalKind::kRestart);
    REQUIRE(proposal.add.size() == 2);
    CHECK(proposal.add[0].node == model::NodeName("n1"));
    CHECK(proposal.add[0].indices.str() == "0,2-3");
    CHECK(proposal.add[1].node == model::NodeName("n2"));
    CHECK(resizeUnderWay(scene.bert.spec, scene.bert.status.gang) == Resize{"worker", 2, 4, true});
  }
  SECTION("smaller") {
    scene.shrink();
    const model::Proposal& proposal = *scene.bert.status.gang.proposal;
    CHECK(proposal.kind == model::ProposalKind::kRestart);
    REQUIRE(proposal.add.size() == 1);
    CHECK(proposal.add[0].indices.str() == "0");
    CHECK(resizeUnderWay(scene.bert.spec, scene.bert.status.gang) == Resize{"worker", 2, 1, true});
  }
  CHECK(countActions<DeletePod>(scene.step()) == 2);
}

TEST_CASE("members that leave for a claim are not deleted by the preemptor") {
  Scene scene;
  model::Job preemptor = job("ml/claiming")
                             .role("worker", 1, gpus(8))
                             .proposes("n2", "worker", "0", model::ProposalPhase::kClaiming);
  preemptor.hasReleaseFinalizer = true;
  preemptor.status.gang.proposal->deadline = at(kNow + 1'000);
  const model::Pod victim = scene.old(1);
  preemptor.status.gang.proposal->victims = {{victim.key, victim.uid, victim.node}};
  const auto stepOf = [&] {
    SnapshotBuilder builder = cluster();
    for (const char* name : {"n1", "n2"}) builder.add(model::Node(node(name).gpus(8)));
    for (const auto& each : scene.pods) builder.add(each);
    builder.add(model::Pod(pod("x").memberOf(preemptor, "worker", 0).gpus(8).gated()));
    const model::Snapshot world = builder.add(scene.bert).add(preemptor).now(kNow).build();
    const Ledger ledger(world);
    const GangContext context{world.now, &scene.settings, &ledger, &scene.feedback, &world.jobs, &world.pods};
    return stepProposal(preemptor, ledger.pods().of(preemptor), context);
  };
  const GangStep alone = stepOf();
  CHECK(alone.evicts);
  CHECK(countActions<DeletePod>(alone) == 1);
  scene.bert.status.gang = proposeShrink(scene.bert, lastMembers(scene.bert, elasticMembers(scene.bert) - 1),
                                         preemptor.key, scene.author());
  CHECK_FALSE(resizeUnderWay(scene.bert.spec, scene.bert.status.gang));
  const GangStep beside = stepOf();
  CHECK(beside.evicts);
  CHECK(countActions<DeletePod>(beside) == 0);
  scene.bert.status.gang = beginShrink(scene.bert, scene.author());
  CHECK(resizeUnderWay(scene.bert.spec, scene.bert.status.gang) == Resize{"worker", 2, 1, false});
  CHECK(countActions<DeletePod>(stepOf()) == 0);
}

// --- user requests
// -----------------------------------------------------------------------------------

namespace {

Plan planOf(const Scene& scene) {
  CycleInput input;
  input.snapshot = scene.snapshot();
  input.settings = scene.settings;
  input.feedback[scene.bert.key] = scene.feedback;
  return cycle(input);
}

const model::JobStatus& statusIn(const Plan& plan) {
  REQUIRE(plan.decisions.size() == 1);
  REQUIRE(plan.decisions.front().status);
  return *plan.decisions.front().status;
}

const model::Condition& resizing(const model::JobStatus& status) {
  const auto at = std::find_if(status.conditions.begin(), status.conditions.end(),
                               [](const auto& each) { return each.type == "Resizing"; });
  REQUIRE(at != status.conditions.end());
  return *at;
}

}  // namespace

TEST_CASE("a requested size is carried out where capacity is free") {
  Scene scene;
  scene.bert.spec.elastic->replicas = 5;
  const Plan plan = planOf(scene);
  const model::JobStatus& status = statusIn(plan);
  REQUIRE(status.gang.proposal);
  CHECK(status.gang.proposal->kind == model::ProposalKind::kGrow);
  CHECK(status.gang.proposal->add.front().indices.str() == "2-4");
  CHECK(status.phase == "Resizing");
  CHECK(status.replicas == 2);
  CHECK(status.resize.step == model::ResizeStep::kResizing);
  CHECK(resizing(status).status == model::ConditionStatus::kTrue);
  CHECK(resizing(status).reason == "Growing");
  REQUIRE(plan.decisions.front().events.size() == 1);
  CHECK(plan.decisions.front().events.front().note.starts_with(
      "grows from 2 to 5 members of role worker, on "));
}

TEST_CASE("a job gets as many members as fit and reports what is missing") {
  Scene scene;
  scene.bert.spec.elastic->replicas = 8;
  scene.pods.push_back(pod("other/a").on("n1").gpus(7));
  SECTION("some") {
    scene.pods.push_back(pod("other/b").on("n2").gpus(5));
    const model::JobStatus status = statusIn(planOf(scene));
    REQUIRE(status.gang.proposal);
    CHECK(status.gang.proposal->add.front().indices.str() == "2-3");
  }
  SECTION("none") {
    scene.pods.push_back(pod("other/b").on("n2").gpus(7));
    const model::JobStatus status = statusIn(planOf(scene));
    CHECK_FALSE(status.gang.proposal);
    CHECK(resizing(status).status == model::ConditionStatus::kFalse);
    CHECK(resizing(status).reason == "Waiting");
    CHECK(resizing(status).message == "8 are requested, it has 2: no more can start now");
  }
  SECTION("fewer than requested of a job that would restart for them") {
    scene.bert.spec.framework = model::Framework::kJax;
    scene.bert.spec.checkpoint.reset();
    scene.pods.push_back(pod("other/b").on("n2").gpus(5));
    CHECK_FALSE(statusIn(planOf(scene)).gang.proposal);
  }
}

TEST_CASE("a smaller size is carried out at once and the last members leave first") {
  Scene scene;
  scene.bert.spec.elastic->replicas = 1;
  const Plan plan = planOf(scene);
  const model::JobStatus& status = statusIn(plan);
  REQUIRE(status.gang.proposal);
  CHECK(status.gang.proposal->kind == model::ProposalKind::kShrink);
  REQUIRE(status.gang.proposal->remove.size() == 1);
  CHECK(status.gang.proposal->remove.front().indices.str() == "1");
  CHECK(status.replicas == 1);
  CHECK(status.ready == "0/1");
  CHECK(resizing(status).reason == "Shrinking");
}

TEST_CASE("joining members stay within the level that their gang requires") {
  Scene scene;
  scene.bert.spec.elastic->replicas = 3;
  scene.bert.spec.locality.required = "node";
  scene.pods.push_back(pod("other/a").on("n1").gpus(7));
  CHECK_FALSE(statusIn(planOf(scene)).gang.proposal);
}

// The victims of a claim ended while it was in progress: it stands, and the victims' gang holds less.
TEST_CASE("a gang that shrinks for a claim gives up the nodes even when it has failed meanwhile") {
  Scene scene;
  const bool byRestart = GENERATE(false, true);
  if (byRestart) {
    scene.bert.spec.framework = model::Framework::kJax;
    scene.bert.spec.checkpoint->mode = model::CheckpointMode::kSignal;
  }
  const model::Pod claimed = scene.pods[1];
  const auto end = GENERATE(as<std::string>(), "all have failed", "the leaving member has completed",
                            "the leaving member is missing");
  if (end == "all have failed") {
    for (model::Pod& each : scene.pods) each.phase = model::PodPhase::kFailed;
  } else if (end == "the leaving member is missing") {
    scene.pods.pop_back();
  } else {
    scene.pods[1].phase = model::PodPhase::kSucceeded;
  }
  CAPTURE(byRestart, end);
  scene.bert.status.gang =
      proposeShrink(scene.bert, lastMembers(scene.bert, 1), key("ml/next"), scene.author());
  const auto claim = [&] {
    return job("ml/next")
        .role("worker", 1, gpus(1))
        .proposes("n1", "worker", "0", model::ProposalPhase::kClaiming)
        .victim(claimed);
  };
  const auto proposalIn = [&](std::optional<model::Job> preemptor) {
    CycleInput input{.snapshot = scene.snapshot()};
    if (preemptor) input.snapshot.jobs.push_back(std::make_shared<const model::Job>(std::move(*preemptor)));
    input.otherFeedback = scene.feedback;
    for (const JobDecision& each : cycle(input).decisions) {
      if (each.job->key == key("ml/bert") && each.status) return each.status->gang.proposal;
    }
    FAIL("nothing was decided");
    return std::optional<model::Proposal>();
  };
  const auto proposal = proposalIn(claim());
  REQUIRE(proposal);
  CHECK(proposal->kind == (byRestart ? model::ProposalKind::kRestart : model::ProposalKind::kShrink));
  CHECK_FALSE(proposal->movesFor);
  // Without the claim, or if it is aborted in this very cycle, the gang keeps its nodes.
  CHECK_FALSE(proposalIn(std::nullopt));
  model::Job suspended = claim();
  suspended.spec.run.suspend = true;
  CHECK_FALSE(proposalIn(suspended));
  // A member that has completed is not missing: the gang ends.
  if (end == "the leaving member is missing") return;
  for (model::Pod& each : scene.pods) each.phase = model::PodPhase::kSucceeded;
  CHECK_FALSE(proposalIn(claim()));
}

// The claim may still fail: a running gang gives nothing up before it has to.
TEST_CASE("a gang whose claimed member has completed waits until the claim awaits no other pod") {
  Scene scene;
  scene.pods[1].phase = model::PodPhase::kSucceeded;
  scene.bert.status.gang =
      proposeShrink(scene.bert, lastMembers(scene.bert, 1), key("ml/next"), scene.author());
  scene.pods.push_back(pod("other/a").on("n2").gpus(1));
  CycleInput input{.snapshot = scene.snapshot()};
  input.snapshot.jobs.push_back(
      std::make_shared<const model::Job>(job("ml/next")
                                             .role("worker", 1, gpus(1))
                                             .proposes("n1", "worker", "0", model::ProposalPhase::kClaiming)
                                             .victim(scene.pods[1])
                                             .victim(scene.pods[2])));
  input.otherFeedback = scene.feedback;
  for (const JobDecision& each : cycle(input).decisions) {
    if (each.job->key == key("ml/bert") && each.status) CHECK(each.status->gang.proposal->movesFor);
  }
}

// The gang's own write that gives up the nodes is missing, or the gang was suspended: a restart in place
// would use the claimed nodes as well.
TEST_CASE("a gang whose claimed member is missing without a record of it is pending again") {
  Scene scene;
  scene.bert.status.gang.backoff =
      model::Backoff{.until = at(1000), .count = 1, .avoidNodes = {}, .reason = "x"};
  const model::Pod claimed = scene.pods[1];
  scene.pods.pop_back();
  CycleInput input{.snapshot = scene.snapshot()};
  const model::Job preemptor = job("ml/next")
                                   .role("worker", 1, gpus(1))
                                   .proposes("n1", "worker", "0", model::ProposalPhase::kClaiming)
                                   .victim(claimed);
  input.snapshot.jobs.push_back(std::make_shared<const model::Job>(preemptor));
  input.otherFeedback = scene.feedback;
  bool gaveUp = false;
  for (const JobDecision& each : cycle(input).decisions) {
    if (!each.status || !each.status->gang.proposal) continue;
    const model::Proposal& proposal = *each.status->gang.proposal;
    if (each.job->key == key("ml/next")) CHECK(proposal.phase == model::ProposalPhase::kClaiming);
    if (each.job->key != key("ml/bert")) continue;
    CHECK(proposal.kind == model::ProposalKind::kRestart);
    CHECK(proposal.add.empty());
    gaveUp = true;
  }
  CHECK(gaveUp);
}

// A suspended job can change whether it is elastic, and the claim may stand before the cycle sees
// either.
TEST_CASE("a gang that shrinks for a claim may have become inelastic when the claim is complete") {
  Scene scene;
  const model::Pod claimed = scene.pods[1];
  scene.bert.status.gang =
      proposeShrink(scene.bert, lastMembers(scene.bert, 1), key("ml/next"), scene.author());
  scene.bert.spec.run.suspend = GENERATE(false, true);
  scene.bert.spec.elastic.reset();
  model::Job preemptor = job("ml/next")
                             .role("worker", 1, gpus(1))
                             .proposes("n1", "worker", "0", model::ProposalPhase::kClaiming)
                             .victim(claimed);
  preemptor.hasReleaseFinalizer = true;
  scene.pods.push_back(pod("x").memberOf(preemptor, "worker", 0).gpus(1).gated());
  CycleInput input{.snapshot = scene.snapshot()};
  input.snapshot.jobs.push_back(std::make_shared<const model::Job>(preemptor));
  input.otherFeedback = scene.feedback;
  bool begun = false;
  for (const JobDecision& each : cycle(input).decisions) {
    if (each.job->key != key("ml/bert")) continue;
    REQUIRE(each.status->gang.proposal);
    CHECK(each.status->gang.proposal->kind == model::ProposalKind::kShrink);
    CHECK_FALSE(each.status->gang.proposal->movesFor);
    begun = true;
  }
  CHECK(begun);
}
