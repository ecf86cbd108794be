#include "core/gang/gang_protocol.h"

#include "core/gang/gang_proposals.h"

#include <map>

#include <catch2/catch.hpp>

#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

constexpr std::int64_t kDeadline = 1'000;

model::Job reservedPair() {
  model::Job bert =
      job("ml/bert").role("worker", 2, gpus(8)).proposes("n1", "worker", "0").proposes("n2", "worker", "1");
  bert.status.gang.proposal->deadline = at(kDeadline);
  bert.status.gang.lastEpoch = 1;
  bert.hasReleaseFinalizer = true;
  return bert;
}

// A snapshot of two empty nodes and what the test adds, stepped once.
struct Scene {
  model::Job bert = reservedPair();
  std::vector<model::Pod> pods = {};
  std::vector<model::Job> others = {};
  JobFeedback feedback = {.auxiliariesReady = true};
  std::map<model::ObjectKey, JobFeedback> otherFeedback = {};  // of the other jobs
  std::int64_t now = 10;
  std::vector<model::Node> nodes = {node("n1").gpus(8), node("n2").gpus(8)};

  GangStep step() {
    SnapshotBuilder builder = cluster();
    for (const auto& n : nodes) builder.add(n);
    for (const auto& p : pods) builder.add(p);
    for (const auto& j : others) builder.add(j);
    const model::Snapshot snapshot = builder.add(bert).now(now).build();
    const Ledger ledger(snapshot);
    const Settings settings;
    const GangContext context{snapshot.now,   &settings,      &ledger,       &feedback,
                              &snapshot.jobs, &snapshot.pods, &otherFeedback};
    return stepProposal(bert, ledger.pods().of(bert), context);
  }

  model::Pod member(int index) const { return pod("x").memberOf(bert, "worker", index).gpus(8); }
  model::Pod gatedMember(int index) const { return pod("x").memberOf(bert, "worker", index).gpus(8).gated(); }
  model::Pod boundMember(int index) const {
    return pod("x").memberOf(bert, "worker", index).gpus(8).on(index == 0 ? "n1" : "n2");
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

TEST_CASE("a reserved gang creates nothing before its finalizer and auxiliaries") {
  Scene scene;
  scene.bert.hasReleaseFinalizer = false;
  CHECK(countActions<AddFinalizer>(scene.step()) == 1);
  CHECK(countActions<CreateMember>(scene.step()) == 0);

  scene.bert.hasReleaseFinalizer = true;
  scene.feedback.auxiliariesReady = false;
  CHECK(countActions<EnsureAuxiliaries>(scene.step()) == 1);
  CHECK(countActions<CreateMember>(scene.step()) == 0);

  scene.feedback.auxiliariesReady = true;
  CHECK(countActions<CreateMember>(scene.step()) == 2);
}

TEST_CASE("only missing members are created and they are gated") {
  Scene scene;
  scene.pods = {scene.gatedMember(0)};
  const GangStep step = scene.step();
  REQUIRE(step.actions.size() == 1);
  const auto& create = std::get<CreateMember>(step.actions.front());
  CHECK(create.index == 1);
  CHECK_FALSE(create.pinned);
}

TEST_CASE("a single pod is created pinned and without finalizer or auxiliaries") {
  Scene scene;
  scene.bert = job("ml/solo").role("worker", 1, gpus(1)).proposes("n1", "worker", "0");
  scene.bert.status.gang.proposal->deadline = at(kDeadline);
  scene.feedback = {};
  const GangStep step = scene.step();
  REQUIRE(step.actions.size() == 1);
  CHECK(std::get<CreateMember>(step.actions.front()).pinned == model::NodeName("n1"));
}

TEST_CASE("all members exist: the barrier releases them together") {
  Scene scene;
  scene.pods = {scene.gatedMember(0), scene.gatedMember(1)};
  CHECK(countActions<ReleaseMember>(scene.step()) == 2);
}

TEST_CASE("a half released gang continues without a second barrier") {
  Scene scene;
  scene.pods = {scene.boundMember(0), scene.gatedMember(1)};
  // A foreign pod filled n2 in the meantime; kube-scheduler and the deadline resolve that.
  scene.pods.push_back(pod("other/foreign").on("n2").gpus(8));
  const GangStep step = scene.step();
  CHECK(countActions<ReleaseMember>(step) == 1);
  CHECK_FALSE(step.record);
}

TEST_CASE("all bound but one was refused by its node: the attempt is aborted and the node avoided") {
  Scene scene;
  scene.pods = {scene.boundMember(0), scene.boundMember(1)};
  scene.pods.back().phase = model::PodPhase::kFailed;
  scene.pods.back().statusReason = "UnexpectedAdmissionError";
  const GangStep step = scene.step();
  REQUIRE(aborts(step));
  CHECK(step.record->proposal->abortReason == "node n2 refused pod bert-worker-1: UnexpectedAdmissionError");
  CHECK(step.record->backoff->avoidNodes == std::vector{model::NodeName("n2")});
}

TEST_CASE("all bound: the proposal becomes the placed gang") {
  Scene scene;
  scene.pods = {scene.boundMember(0), scene.boundMember(1)};
  const GangStep step = scene.step();
  REQUIRE(step.record);
  CHECK_FALSE(step.record->proposal);
  REQUIRE(step.record->placed);
  CHECK(step.record->placed->assignments.size() == 2);
  CHECK(step.record->placed->epoch == 1);
}

TEST_CASE("the barrier aborts when capacity has been taken and the next plan counts it") {
  Scene scene;
  scene.pods = {scene.gatedMember(0), scene.gatedMember(1)};
  SECTION("by a foreign pod") {
    // 8 on n2, the foreign pod holds 1: 7 are left where 8 are needed.
    scene.pods.push_back(pod("other/foreign").on("n2").gpus(1));
  }
  SECTION("by a foreign pod's host port") {
    scene.bert.spec.roles.front().shape.requests.setExtended("host port 1/TCP", 1);
    for (model::Pod& member : scene.pods) member.shape = scene.bert.spec.roles.front().shape;
    model::Pod foreign = pod("other/foreign").on("n2");
    foreign.shape.requests.setExtended("host port 1/TCP", 1);
    scene.pods.push_back(foreign);
  }
  const GangStep step = scene.step();
  REQUIRE(aborts(step));
  REQUIRE(step.record->backoff);
  CHECK(step.record->backoff->avoidNodes.empty());
  CHECK(countActions<ReleaseMember>(step) == 0);
}

TEST_CASE("the barrier aborts when an assigned node is lost and the next plan avoids it") {
  Scene scene;
  scene.pods = {scene.gatedMember(0), scene.gatedMember(1)};
  SECTION("by a cordon") { scene.nodes[1].unschedulable = true; }
  SECTION("by the deletion of the node") { scene.nodes.pop_back(); }
  SECTION("because admission enlarged the pods") {
    scene.pods[1].shape.requests.memory = model::Bytes{2048 * kGi};
  }
  const GangStep step = scene.step();
  REQUIRE(aborts(step));
  REQUIRE(step.record->backoff);
  CHECK(step.record->backoff->avoidNodes == std::vector{model::NodeName("n2")});
  CHECK(countActions<ReleaseMember>(step) == 0);
}

TEST_CASE("two proposals for one node: one aborts and the other waits for it") {
  Scene scene;
  scene.pods = {scene.gatedMember(0), scene.gatedMember(1)};
  model::Job rival = job("ml/rival").role("worker", 1, gpus(8)).proposes("n2", "worker", "0");
  rival.status.gang.proposal->term = 1;
  SECTION("the higher term wins") {
    scene.bert.status.gang.proposal->term = 2;
    scene.others = {rival};
    const GangStep step = scene.step();
    CHECK_FALSE(step.record);
    CHECK(step.actions.empty());
  }
  SECTION("the lower term aborts") {
    scene.bert.status.gang.proposal->term = 0;
    scene.others = {rival};
    CHECK(aborts(scene.step()));
  }
}

TEST_CASE("a gang that is preempted while it restarts keeps released members in its record") {
  model::Job bert = reservedPair();
  bert.status.gang.placed = model::Placed{1, {{model::NodeName("n3"), "worker", model::IndexSet({0, 1})}}};
  bert.status.gang.backoff = model::Backoff{.until = at(50), .count = 2, .avoidNodes = {}, .reason = "x"};
  model::Proposal& restart = *bert.status.gang.proposal;
  restart.kind = model::ProposalKind::kRestart;
  restart.epoch = bert.status.gang.lastEpoch = 2;
  const Settings settings;
  const Author author{.term = 1, .now = at(10), .settings = &settings};

  // Its members may be bound on n1 and n2 until they are deleted.
  model::GangRecord record = proposeEviction(bert, author);
  CHECK(record.placed == model::Placed{2, restart.add});
  CHECK(record.proposal->remove == restart.add);
  CHECK(record.proposal->add.empty());
  CHECK(record.backoff == bert.status.gang.backoff);

  // Before that, only the old members can be.
  restart.phase = model::ProposalPhase::kClaiming;
  record = proposeEviction(bert, author);
  CHECK(record.placed == bert.status.gang.placed);
  CHECK(record.proposal->remove == bert.status.gang.placed->assignments);
}

TEST_CASE("an attempt ends before anything runs") {
  Scene scene;
  scene.pods = {scene.gatedMember(0)};
  SECTION("when the job is deleted") { scene.bert.deleting = true; }
  SECTION("when it is suspended") { scene.bert.spec.run.suspend = true; }
  SECTION("when its template was edited") {
    scene.bert.generation = 7;
    scene.bert.spec.templateHash = "another";
  }
  SECTION("when the API refuses a member") {
    scene.feedback.creationRefused = JobFeedback::CreationRefused{"Forbidden", "exceeded quota"};
  }
  SECTION("at its deadline") { scene.now = kDeadline; }
  CHECK(aborts(scene.step()));
}

TEST_CASE("an edit that leaves the pods alone does not end the attempt") {
  Scene scene;
  scene.bert.generation = 7;
  CHECK_FALSE(aborts(scene.step()));
}

TEST_CASE("released members that cannot run on their node end the attempt") {
  Scene scene;
  scene.pods = {scene.boundMember(0), scene.member(1)};
  model::Pod& second = scene.pods[1];
  SECTION("kube-scheduler finds no capacity for too long") {
    second.unschedulableMessage = "1 Insufficient nvidia.com/gpu";
    second.unschedulableSince = at(0);
    scene.now = 9;  // the grace period is 10 s
    const GangStep early = scene.step();
    CHECK_FALSE(early.record);
    CHECK(early.wakeAt == at(10));
    scene.now = 10;
  }
  SECTION("its patience counts from the release and not from the gated time before") {
    second.unschedulableMessage = "1 Insufficient nvidia.com/gpu";
    second.unschedulableSince = at(0);
    scene.feedback.released = at(30);
    scene.now = 39;
    CHECK_FALSE(scene.step().record);
    scene.now = 40;
  }
  SECTION("the node was deleted") { scene.nodes.pop_back(); }
  SECTION("the pod was deleted") { scene.pods.pop_back(); }
  SECTION("the kubelet refused it") {
    second.phase = model::PodPhase::kFailed;
    second.node = model::NodeName("n2");
    second.statusReason = "OutOfnvidia.com/gpu";
    scene.pods[0] = scene.member(0);
  }
  CHECK(aborts(scene.step()));
}

TEST_CASE("aborting deletes by uid and holds the nodes until the pods have ended") {
  Scene scene;
  scene.bert.status.gang.proposal->phase = model::ProposalPhase::kAborting;
  scene.pods = {scene.boundMember(0), scene.gatedMember(1)};
  CHECK(countActions<DeletePod>(scene.step()) == 2);
  CHECK_FALSE(scene.step().record);

  scene.pods[0].terminating = true;
  scene.pods.pop_back();
  CHECK(scene.step().actions.empty());
  CHECK_FALSE(scene.step().record);

  scene.pods.clear();
  const GangStep last = scene.step();
  REQUIRE(last.record);
  CHECK_FALSE(last.record->proposal);
}

TEST_CASE("back-off doubles and is bounded") {
  model::Job bert = reservedPair();
  const Settings settings;
  const auto delayAfter = [&](int count) {
    bert.status.gang.backoff =
        model::Backoff{.until = {}, .count = count - 1, .avoidNodes = {}, .reason = {}};
    return abortProposal(bert, "why", {}, at(0), settings).backoff->until - at(0);
  };
  CHECK(delayAfter(1) == std::chrono::seconds(1));
  CHECK(delayAfter(2) == std::chrono::seconds(2));
  CHECK(delayAfter(5) == std::chrono::seconds(16));
  CHECK(delayAfter(50) == std::chrono::seconds(60));
}

TEST_CASE("nodes that failed attempts in a row add up and the latest is last") {
  model::Job bert = reservedPair();
  const Settings settings;
  const auto fail = [&](std::vector<model::NodeName> nodes) {
    bert.status.gang.backoff = abortProposal(bert, "why", nodes, at(0), settings).backoff;
    return bert.status.gang.backoff->avoidNodes;
  };
  using Names = std::vector<model::NodeName>;
  const model::NodeName n1("n1");
  const model::NodeName n2("n2");
  CHECK(fail({n1}) == Names{n1});
  CHECK(fail({n2}) == Names{n1, n2});
  CHECK(fail({}) == Names{n1, n2});
  CHECK(fail({n1}) == Names{n2, n1});
  CHECK_FALSE(mergeProposal(bert).backoff);
}

TEST_CASE("a missed deadline counts against the nodes that did not bind their released members") {
  Scene scene;
  scene.pods = {scene.boundMember(0), scene.member(1)};
  scene.now = kDeadline;
  CHECK(scene.step().record->backoff->avoidNodes == std::vector{model::NodeName("n2")});
  scene.pods = {scene.gatedMember(0), scene.gatedMember(1)};
  CHECK(scene.step().record->backoff->avoidNodes.empty());
}

TEST_CASE("epochs are never used twice") {
  model::Job bert = job("ml/bert").role("worker", 1, gpus(1));
  bert.status.gang.lastEpoch = 41;
  const Settings settings;
  const auto record = propose(bert, model::ProposalKind::kStart, {}, {}, {}, {3, at(0), &settings});
  CHECK(record.lastEpoch == 42);
  CHECK(record.proposal->epoch == 42);
  CHECK(record.proposal->term == 3);
}

namespace {

// bert runs on n1 and n2; a Restart moves it to n3 and n4.
struct RestartScene : Scene {
  RestartScene() {
    bert = job("ml/bert").role("worker", 2, gpus(8)).placed("n1", "worker", "0").placed("n2", "worker", "1");
    bert.hasReleaseFinalizer = true;
    bert.status.gang.lastEpoch = 1;
    bert.status.gang = propose(bert, model::ProposalKind::kRestart,
                               {{model::NodeName("n3"), "worker", model::IndexSet({0})},
                                {model::NodeName("n4"), "worker", model::IndexSet({1})}},
                               bert.status.gang.placed->assignments, {}, {1, at(0), &settings});
    nodes = {node("n1").gpus(8), node("n2").gpus(8), node("n3").gpus(8), node("n4").gpus(8)};
  }
  model::Pod old(int index) const { return boundMember(index); }
  Settings settings;
};

}  // namespace

TEST_CASE("a restart first removes the old pods and then reserves and creates") {
  RestartScene scene;
  CHECK(scene.bert.status.gang.proposal->phase == model::ProposalPhase::kClaiming);
  scene.pods = {scene.old(0), scene.old(1)};
  CHECK(countActions<DeletePod>(scene.step()) == 2);

  for (model::Pod& pod : scene.pods) pod.terminating = true;
  CHECK(scene.step().actions.empty());

  scene.pods.clear();
  const GangStep gone = scene.step();
  REQUIRE(gone.record);
  CHECK(gone.record->proposal->phase == model::ProposalPhase::kReserved);
  scene.bert.status.gang = *gone.record;
  CHECK(countActions<CreateMember>(scene.step()) == 2);
}

TEST_CASE("a finished pod of the old gang is removed as well because it has the name") {
  RestartScene scene;
  scene.pods = {scene.old(0)};
  scene.pods[0].phase = model::PodPhase::kFailed;
  CHECK(countActions<DeletePod>(scene.step()) == 1);
}

TEST_CASE("a restart without enough capacity ends with nothing placed") {
  RestartScene scene;
  scene.bert.status.gang.proposal->add.clear();
  const GangStep step = scene.step();
  REQUIRE(step.record);
  CHECK_FALSE(step.record->placed);
  CHECK_FALSE(step.record->proposal);
}

TEST_CASE("an aborted restart leaves nothing placed") {
  RestartScene scene;
  scene.bert.status.gang.proposal->phase = model::ProposalPhase::kAborting;
  const GangStep step = scene.step();
  REQUIRE(step.record);
  CHECK_FALSE(step.record->placed);
}

TEST_CASE("a pod on a lost node is deleted by force once its node is known to be lost") {
  RestartScene scene;
  scene.pods = {scene.old(0)};
  scene.pods[0].terminating = true;
  scene.pods[0].deletionTime = at(5);
  SECTION("the node is fine: wait for its kubelet") {
    scene.now = 1'000;
    CHECK(scene.step().actions.empty());
  }
  SECTION("the node has not been ready for a minute") {
    scene.nodes[0].ready = false;
    scene.nodes[0].readyChanged = at(0);
    scene.now = 59;
    CHECK(scene.step().actions.empty());
    CHECK(scene.step().wakeAt == at(60));
    scene.now = 60;
    REQUIRE(scene.step().actions.size() == 1);
    CHECK(std::get<DeletePod>(scene.step().actions.front()).force);
  }
  SECTION("the node was deleted") {
    scene.nodes.erase(scene.nodes.begin());
    CHECK(std::get<DeletePod>(scene.step().actions.front()).force);
  }
  SECTION("the node is out of service") {
    scene.nodes[0].taints.push_back(
        {"node.kubernetes.io/out-of-service", "", model::TaintEffect::kNoExecute});
    CHECK(std::get<DeletePod>(scene.step().actions.front()).force);
  }
}

namespace {

// bert claims n1, on which another gang runs, and n2.
struct ClaimScene : Scene {
  ClaimScene() {
    bert.status.gang.proposal->phase = model::ProposalPhase::kClaiming;
    bert.status.gang.proposal->victims = {{victim.key, victim.uid, victim.node}};
    pods = {victim, gatedMember(0), gatedMember(1)};
  }
  model::Pod victim = pod("other/v").uid("victim").on("n1").gpus(8);
};

}  // namespace

TEST_CASE("a claim preempts no gang before all its own pods exist") {
  ClaimScene scene;
  scene.pods = {scene.victim};
  SECTION("finalizer and auxiliaries come first, as in any attempt") {
    scene.bert.hasReleaseFinalizer = false;
    CHECK(countActions<AddFinalizer>(scene.step()) == 1);
    scene.bert.hasReleaseFinalizer = true;
    scene.feedback.auxiliariesReady = false;
    CHECK(countActions<EnsureAuxiliaries>(scene.step()) == 1);
  }
  SECTION("then they are created and gated") {
    const GangStep step = scene.step();
    REQUIRE(countActions<CreateMember>(step) == 2);
    CHECK_FALSE(std::get<CreateMember>(step.actions.front()).pinned);
    scene.pods.push_back(scene.gatedMember(0));
    CHECK(countActions<CreateMember>(scene.step()) == 1);
  }
  SECTION("a pod that is deleted meanwhile is created again first") {
    scene.pods.push_back(scene.gatedMember(0));
    scene.pods.push_back(scene.gatedMember(1));
    scene.pods.back().terminating = true;
    CHECK(scene.step().actions.empty());
  }
  CHECK(countActions<DeletePod>(scene.step()) == 0);
  CHECK_FALSE(scene.step().evicts);
  CHECK(scene.step().wakeAt == at(kDeadline));
}

TEST_CASE("the pod of a single-pod claim is created gated because its node is not free yet") {
  ClaimScene scene;
  scene.bert = job("ml/solo").role("worker", 1, gpus(8)).proposes("n1", "worker", "0").victim(scene.victim);
  scene.bert.status.gang.proposal->phase = model::ProposalPhase::kClaiming;
  scene.bert.status.gang.proposal->deadline = at(kDeadline);
  scene.pods = {scene.victim};
  scene.feedback = {};
  CHECK(countActions<AddFinalizer>(scene.step()) == 1);
  scene.bert.hasReleaseFinalizer = true;
  REQUIRE(countActions<CreateMember>(scene.step()) == 1);
  CHECK_FALSE(std::get<CreateMember>(scene.step().actions.front()).pinned);

  scene.pods.push_back(scene.gatedMember(0));
  CHECK(countActions<DeletePod>(scene.step()) == 1);
  scene.pods = {scene.gatedMember(0)};
  scene.bert.status.gang = *scene.step().record;
  CHECK(countActions<ReleaseMember>(scene.step()) == 1);
}

TEST_CASE("a claim deletes no pods of a gang that cannot be decided yet") {
  ClaimScene scene;
  const model::Job other = job("ml/other").role("worker", 1, gpus(8)).placed("n1", "worker", "0");
  scene.others = {other};
  scene.victim = pod("x").memberOf(other, "worker", 0).gpus(8).on("n1");
  scene.pods.front() = scene.victim;
  scene.bert.status.gang.proposal->victims = {{scene.victim.key, scene.victim.uid, scene.victim.node}};
  scene.otherFeedback[other.key].busy = true;
  CHECK(countActions<DeletePod>(scene.step()) == 0);
  CHECK(scene.step().evicts);
  scene.otherFeedback.clear();
  CHECK(countActions<DeletePod>(scene.step()) == 1);
}

TEST_CASE("a claim whose pods cannot be created is aborted and preempts no gang") {
  ClaimScene scene;
  SECTION("the API refuses one of them") {
    scene.pods.pop_back();
    scene.feedback.creationRefused = JobFeedback::CreationRefused{"Forbidden", "exceeded quota: pods"};
    CHECK(scene.step().record->proposal->abortReason == "Forbidden: exceeded quota: pods");
  }
  SECTION("they are larger than what the victims leave") { scene.pods[1].shape.requests = gpus(9); }
  SECTION("capacity beside the victims was taken") {
    scene.pods.push_back(pod("other/foreign").on("n2").gpus(1));
    CHECK(scene.step().record->backoff->avoidNodes.empty());
  }
  CHECK(aborts(scene.step()));
  CHECK(scene.step().actions.empty());
}

TEST_CASE("a claim takes over the host ports of its victims") {
  ClaimScene scene;
  model::Resources& wanted = scene.bert.spec.roles.front().shape.requests;
  wanted.setExtended("host port 1/TCP", 1);
  for (model::Pod& each : scene.pods) each.shape.requests = wanted;
  CHECK(scene.step().evicts);
  scene.pods.push_back(pod("other/foreign").on("n1").requests(wanted));
  scene.pods.back().shape.requests.setExtended("nvidia.com/gpu", 0);
  CHECK(aborts(scene.step()));
}

TEST_CASE("a claim counts what its victims hold beyond the capacity that it takes") {
  ClaimScene scene;
  // The victim holds all of n1; the preemptor requests half, and admission made three quarters of it.
  scene.bert.spec.roles.front().shape.requests = gpus(4);
  scene.pods[1].shape.requests = gpus(6);
  CHECK(scene.step().evicts);
  scene.pods[1].shape.requests = gpus(9);
  CHECK(aborts(scene.step()));
}

TEST_CASE("a complete claim waits for its victims and for no longer than its deadline") {
  ClaimScene scene;
  CHECK(countActions<DeletePod>(scene.step()) == 1);
  CHECK(scene.step().evicts);
  scene.now = kDeadline;
  scene.pods[0].terminating = true;
  REQUIRE(aborts(scene.step()));
  CHECK(scene.step().record->backoff->avoidNodes == std::vector{model::NodeName("n1")});
  scene.now = 10;
  scene.pods.erase(scene.pods.begin());
  CHECK(scene.step().record->proposal->phase == model::ProposalPhase::kReserved);
}

// The write is late (429, a new leader): both gangs would hold the nodes, and their queues exceed the quota.
TEST_CASE("a claim whose victims have ended waits until the record of their gang gives up the nodes") {
  ClaimScene scene;
  const auto places = [](std::vector<int> indices) {
    return std::vector<model::Assignment>{
        {model::NodeName("n1"), "worker", model::IndexSet(std::move(indices))}};
  };
  model::Job gang = job("other/g").role("worker", 2, gpus(8)).placed("n1", "worker", "0-1");
  const model::Pod victim = pod("x").memberOf(gang, "worker", 1).on("n1").gpus(8);
  scene.bert.status.gang.proposal->victims = {{victim.key, victim.uid, victim.node}};
  scene.pods.erase(scene.pods.begin());
  auto& proposal = gang.status.gang.proposal;
  proposal.emplace().kind = model::ProposalKind::kShrink;
  proposal->remove = places({1});
  proposal->movesFor = scene.bert.key;
  const auto stepWithOther = [&](const model::Job& other) {
    scene.others = {other};
    return scene.step();
  };
  const auto reserves = [](const GangStep& step) {
    return step.record && step.record->proposal->phase == model::ProposalPhase::kReserved;
  };
  const GangStep step = stepWithOther(gang);
  CHECK_FALSE(step.record);
  CHECK_FALSE(step.evicts);
  CHECK(step.wakeAt == scene.bert.status.gang.proposal->deadline);
  scene.now = kDeadline;
  REQUIRE(aborts(stepWithOther(gang)));
  CHECK(stepWithOther(gang).record->backoff->reason ==
        "the node of pod other/g-worker-1 was not released in time");
  scene.now = 10;

  SECTION("it has begun to shrink") {
    proposal->movesFor.reset();
    scene.otherFeedback[gang.key].writing = true;
    CHECK_FALSE(stepWithOther(gang).record);
    scene.otherFeedback[gang.key].writing = false;
    CHECK(reserves(stepWithOther(gang)));
  }
  SECTION("it is pending again as a whole or restarts without the member") {
    proposal->kind = model::ProposalKind::kRestart;
    proposal->remove = places({0, 1});
    CHECK_FALSE(stepWithOther(gang).record);
    proposal->movesFor.reset();
    CHECK(reserves(stepWithOther(gang)));
  }
  SECTION("its record is not written or still being written") {
    proposal.reset();
    CHECK_FALSE(stepWithOther(gang).record);
    gang.status.gang.placed.reset();
    scene.otherFeedback[gang.key].writing = true;
    CHECK_FALSE(stepWithOther(gang).record);
    scene.otherFeedback.clear();
    CHECK(reserves(stepWithOther(gang)));
  }
  SECTION("its replacement was tried and aborted") {
    proposal->kind = model::ProposalKind::kReplace;
    proposal->movesFor.reset();
    CHECK(reserves(stepWithOther(gang)));
    proposal->phase = model::ProposalPhase::kAborting;
    CHECK_FALSE(stepWithOther(gang).record);
  }
  SECTION("the member has completed") {
    proposal.reset();
    gang.status.gang.placed->noteSucceeded("worker", 1);
    CHECK(reserves(stepWithOther(gang)));
  }
  SECTION("the member came back") {
    proposal.reset();
    scene.pods.push_back(pod("x").memberOf(gang, "worker", 1).uid("again").on("n1").gpus(8));
    CHECK(reserves(stepWithOther(gang)));
  }
  SECTION("the member is placed elsewhere by now") {
    proposal.reset();
    gang.status.gang.placed->assignments.front().node = model::NodeName("n2");
    CHECK(reserves(stepWithOther(gang)));
  }
  SECTION("the gang is being deleted or has ended or has another controller") {
    proposal.reset();
    const int which = GENERATE(0, 1, 2);
    gang.deleting = which == 0;
    auto& succeeded = gang.status.conditions.emplace_back();
    succeeded.type = model::conditions::kSucceeded;
    succeeded.status = which == 1 ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse;
    if (which == 2) gang.spec.managedBy = "example.com/controller";
    CHECK(reserves(stepWithOther(gang)));
  }
}

TEST_CASE("a claim that also replaces own members preempts no gang before the new pods exist") {
  ClaimScene scene;
  scene.bert.status.gang.placed = model::Placed{1, {{model::NodeName("n3"), "worker", model::IndexSet({0})}}};
  scene.bert.status.gang.proposal->kind = model::ProposalKind::kReplace;
  scene.bert.status.gang.proposal->epoch = 2;
  scene.bert.status.gang.proposal->remove = scene.bert.status.gang.placed->assignments;
  const model::Pod old = pod("x").memberOf(scene.bert, "worker", 0).gpus(8).on("n3");
  scene.nodes.push_back(node("n3").gpus(8));
  scene.pods = {scene.victim, old};
  REQUIRE(scene.step().actions.size() == 1);
  CHECK(std::get<CreateMember>(scene.step().actions.front()).index == 1);
  scene.pods.push_back(pod("x").memberOf(scene.bert, "worker", 1, 2).gpus(8).gated());
  CHECK(countActions<DeletePod>(scene.step()) == 2);
}

TEST_CASE("a replaced member joins the others under its own epoch") {
  model::Job bert = job("ml/bert").role("worker", 2, gpus(8)).placed("n1", "worker", "0-1");
  bert.status.gang.lastEpoch = 1;
  const Settings settings;
  bert.status.gang =
      propose(bert, model::ProposalKind::kReplace, {{model::NodeName("n2"), "worker", model::IndexSet({1})}},
              {{model::NodeName("n1"), "worker", model::IndexSet({1})}}, {}, {1, at(0), &settings});
  const model::GangRecord merged = mergeProposal(bert);
  REQUIRE(merged.placed->assignments.size() == 2);
  CHECK(merged.placed->assignments[0].indices.str() == "0");
  CHECK(merged.placed->epochOf(merged.placed->assignments[0]) == 1);
  CHECK(merged.placed->assignments[1].node == model::NodeName("n2"));
  CHECK(merged.placed->epochOf(merged.placed->assignments[1]) == 2);
}
