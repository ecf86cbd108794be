#include "core/gang/owned_steps.h"

#include <map>

#include <catch2/catch.hpp>

#include "core/gang/gang_proposals.h"
#include "core/gang/outcome.h"
#include "core/gang/owned_size.h"
#include "core/gang/victim_assignment.h"
#include "core/guard/guard.h"
#include "core/preemption/claims.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

constexpr std::int64_t kDeadline = 1'000;

// Two workers of 8 GPUs, reserved on n1 and n2.
JobBuilder pair() {
  return job("ml/pair.pods")
      .role("worker", 2, gpus(8))
      .proposes("n1", "worker", "0")
      .proposes("n2", "worker", "1")
      .ofPods();
}

struct Scene {
  model::Job gang;
  std::vector<model::Pod> pods = {};
  std::int64_t now = 10;
  JobFeedback feedback = {};
  std::vector<model::Node> nodes = {node("n1").gpus(8), node("n2").gpus(8)};

  explicit Scene(model::Job of) : gang(std::move(of)) {
    if (gang.status.gang.proposal) gang.status.gang.proposal->deadline = at(kDeadline);
    gang.status.gang.lastEpoch = 1;
    gang.hasReleaseFinalizer = true;
  }

  [[nodiscard]] model::Snapshot snapshot() const {
    SnapshotBuilder builder = cluster();
    for (const auto& n : nodes) builder.add(n);
    for (const auto& p : pods) builder.add(p);
    return builder.add(gang).now(now).build();
  }

  GangStep step() {
    const model::Snapshot all = snapshot();
    const Ledger ledger(all);
    const Settings settings;
    const std::map<model::ObjectKey, JobFeedback> others;
    const GangContext context{all.now, &settings, &ledger, &feedback, &all.jobs, &all.pods, &others};
    return stepProposal(gang, ledger.pods().of(gang), context);
  }
};

// "POD on NODE as ROLE-INDEX" of each released pod.
std::vector<std::string> released(const GangStep& step) {
  std::vector<std::string> texts;
  for (const Action& each : step.actions) {
    if (const auto* place = std::get_if<GivePlace>(&each))
      texts.push_back(place->pod.name + " on " + place->node.str() + " as " + place->role + "-" +
                      std::to_string(place->index));
  }
  return texts;
}

template <typename T>
const T* only(const GangStep& step) {
  return step.actions.size() == 1 ? std::get_if<T>(&step.actions.front()) : nullptr;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("each pod of a Gang is released to its place as it arrives") {
  Scene scene(pair());
  CHECK(scene.step().actions.empty());
  scene.pods = {pod("ml/b").arrives(scene.gang, "worker").created(2)};
  CHECK(released(scene.step()) == Texts{"b on n1 as worker-0"});
  scene.pods.push_back(pod("ml/a").arrives(scene.gang, "worker").created(3));
  CHECK(released(scene.step()) == Texts{"b on n1 as worker-0", "a on n2 as worker-1"});
}

TEST_CASE("a pod with a rank gets the place of that index, and others the rest") {
  Scene scene(pair());
  scene.pods = {pod("ml/a").arrives(scene.gang, "worker").created(1),
                pod("ml/b").arrives(scene.gang, "worker", 0).created(2)};
  CHECK(released(scene.step()) == Texts{"b on n1 as worker-0", "a on n2 as worker-1"});
  scene.pods = {pod("ml/c").arrives(scene.gang, "worker", 7)};
  CHECK(released(scene.step()) == Texts{"c on n1 as worker-0"});
  scene.pods = {pod("ml/d").arrives(scene.gang, "worker")};
  scene.pods.front().arrival =
      std::make_shared<const model::Arrival>(model::Arrival{"pair.pods", "chief", -1});
  CHECK(released(scene.step()).empty());
}

TEST_CASE("a pod of a group gets the place of its index in its group") {
  model::Job gang = pair();
  gang.spec.roles.front().groupSize = 1;
  Scene scene(gang);
  scene.pods = {pod("ml/a").arrives(scene.gang, "worker", 0).created(1),
                pod("ml/b").arrives(scene.gang, "worker", 0).created(2)};
  const auto ofGroup = [](model::Pod& each, int group) {
    auto arrival = *each.arrival;
    arrival.group = group;
    each.arrival = std::make_shared<const model::Arrival>(arrival);
  };
  ofGroup(scene.pods.front(), 1);
  ofGroup(scene.pods.back(), 0);
  CHECK(released(scene.step()) == Texts{"b on n1 as worker-0", "a on n2 as worker-1"});
}

TEST_CASE(
    "a pod whose index has no place, or another's pod in it, takes an open one; others wait for theirs") {
  // Scaled down to the place of index 2, and up again.
  Scene scene(job("ml/pair.pods")
                  .role("worker", 3, gpus(8))
                  .placed("n1", "worker", "2")
                  .placed("n2", "worker", "1")
                  .ofPods());
  const auto takes = [&](std::vector<model::Pod> pods) {
    scene.pods = std::move(pods);
    const model::Snapshot all = scene.snapshot();
    const Ledger ledger(all);
    const auto members =
        placedMembers(scene.gang, *scene.gang.status.gang.placed, ledger.pods().of(scene.gang));
    Texts texts;
    for (const Member& each : matchArrivals(scene.gang, members, ledger.pods()))
      texts.push_back(each.pod->key.name + " as " + std::to_string(each.index));
    return texts;
  };
  const model::Pod none = pod("ml/none").arrives(scene.gang, "worker", 0);
  CHECK(takes({none}) == Texts{"none as 2"});
  const model::Pod two = pod("ml/two").arrives(scene.gang, "worker", 2);
  CHECK(takes({pod("ml/a").placedIn(scene.gang, "worker", 2).on("n1"), two}) == Texts{"two as 1"});
  CHECK(takes({pod("ml/a").placedIn(scene.gang, "worker", 2).on("n1").terminating(), two}).empty());
}

TEST_CASE("while a Gang grows, a pod takes a new place only if its own one is held") {
  Scene scene(job("ml/pair.pods")
                  .role("worker", 2, gpus(8))
                  .placed("n1", "worker", "0")
                  .proposes("n2", "worker", "1")
                  .ofPods());
  const auto taken = [&](std::vector<model::Pod> pods) {
    scene.pods = std::move(pods);
    const model::Snapshot all = scene.snapshot();
    const Ledger ledger(all);
    const auto added =
        addedMembers(scene.gang, *scene.gang.status.gang.proposal, ledger.pods().of(scene.gang));
    return matchArrivals(scene.gang, added, ledger.pods()).size();
  };
  const model::Pod first = pod("ml/b").arrives(scene.gang, "worker", 0);
  CHECK(taken({first}) == 0);
  const auto held = [&] { return pod("ml/a").placedIn(scene.gang, "worker", 0).on("n1"); };
  CHECK(taken({held(), first}) == 1);
  CHECK(taken({held().phase(model::PodPhase::kSucceeded), first}) == 1);
  CHECK(taken({held().phase(model::PodPhase::kFailed), first}) == 0);
}

TEST_CASE("in a placed Gang a pod is released if its own node is open, whatever the others'") {
  Scene scene(job("ml/pair.pods")
                  .role("worker", 2, gpus(8))
                  .placed("n1", "worker", "0")
                  .placed("n2", "worker", "1")
                  .ofPods());
  scene.nodes.back() = node("n2").gpus(8).cordoned();
  scene.pods = {pod("ml/a").arrives(scene.gang, "worker", 0), pod("ml/b").arrives(scene.gang, "worker", 1)};
  const model::Snapshot all = scene.snapshot();
  const Ledger ledger(all);
  const auto members =
      placedMembers(scene.gang, *scene.gang.status.gang.placed, ledger.pods().of(scene.gang));
  const Settings settings;
  const JobFeedback feedback;
  const std::map<model::ObjectKey, JobFeedback> others;
  const Placing placing = placeArrivals(
      scene.gang, members, {all.now, &settings, &ledger, &feedback, &all.jobs, &all.pods, &others});
  REQUIRE(placing.actions.size() == 1);
  CHECK(std::get<GivePlace>(placing.actions.front()).pod.name == "a");
  CHECK(placing.refused.verdict == BarrierVerdict::kAbort);
  const ClosedPlaces closed = closedPlaces(scene.gang, members, ledger, all.jobs);
  REQUIRE(closed.members.size() == 1);
  CHECK(closed.members.front().node.str() == "n2");
  CHECK_THAT(closed.reason, Catch::Contains("n2"));
}

TEST_CASE("a Gang that starts stops when its owner is gone, and when its owner is not found in time") {
  Scene scene(pair());
  const auto unknown = std::make_shared<model::Owner>(*scene.gang.owner);
  unknown->uid = model::Uid("o1");
  scene.gang.owner = unknown;
  CHECK_FALSE(scene.step().record);
  scene.gang.deleting = true;
  REQUIRE(scene.step().record);
  CHECK(scene.step().record->proposal->phase == model::ProposalPhase::kAborting);
  scene.gang.deleting = false;
  scene.now = kDeadline;
  REQUIRE(scene.step().record);
  CHECK(scene.step().record->proposal->phase == model::ProposalPhase::kAborting);
}

TEST_CASE("a pod that waits for another gate, or is being deleted, takes no place") {
  Scene scene(pair());
  scene.pods = {pod("ml/a").arrives(scene.gang, "worker"), pod("ml/b").arrives(scene.gang, "worker")};
  scene.pods.front().otherGate = "example.com/wait";
  scene.pods.back().terminating = true;
  CHECK(scene.step().actions.empty());
}

TEST_CASE("a Gang is placed once every place has a bound pod") {
  Scene scene(pair());
  scene.pods = {pod("ml/a").placedIn(scene.gang, "worker", 0).on("n1"),
                pod("ml/b").placedIn(scene.gang, "worker", 1).pinnedTo("n2")};
  CHECK_FALSE(scene.step().record);
  scene.pods.back() = pod("ml/b").placedIn(scene.gang, "worker", 1).on("n2");
  const GangStep step = scene.step();
  REQUIRE(step.record);
  CHECK(step.record->placed);
  CHECK_FALSE(step.record->proposal);
}

TEST_CASE("at its deadline a Gang of which a part runs keeps the places of the rest") {
  Scene scene(pair());
  scene.now = kDeadline;
  scene.pods = {pod("ml/a").placedIn(scene.gang, "worker", 0).on("n1")};
  const GangStep step = scene.step();
  REQUIRE(step.record);
  REQUIRE(step.record->placed);
  CHECK(memberCount(step.record->placed->assignments) == 2);
}

TEST_CASE("at its deadline a Gang without pods gives up its attempt") {
  Scene scene(pair());
  scene.now = kDeadline;
  const GangStep step = scene.step();
  REQUIRE(step.record);
  CHECK(step.record->proposal->phase == model::ProposalPhase::kAborting);
  CHECK(step.record->proposal->abortReason == "Pod pair.pods made no pod before the deadline");
}

TEST_CASE("a pod with more GPUs than its template takes no place, and its gang waits for another") {
  Scene scene(pair());
  scene.pods = {pod("ml/a").arrives(scene.gang, "worker").gpus(9)};
  CHECK(scene.step().actions.empty());
  CHECK_FALSE(scene.step().record);
  scene.pods.push_back(pod("ml/b").arrives(scene.gang, "worker").gpus(8));
  CHECK(released(scene.step()) == Texts{"b on n1 as worker-0"});
}

TEST_CASE("a pod that was made larger ends the attempt of an owner's gang, with the node to avoid") {
  const auto stepOf = [](Scene scene) {
    scene.nodes = {node("n1").gpus(8).cpu(4), node("n2").gpus(8).cpu(4)};
    scene.pods = {pod("ml/a").arrives(scene.gang, "worker").gpus(8).cpu(9)};
    return scene.step();
  };
  const GangStep owned = stepOf(Scene(pair().ownedByJobSet(false)));
  REQUIRE(owned.record);
  CHECK_THAT(owned.record->proposal->abortReason, Catch::Contains("node n1 has"));
  // The others of a gang of bare pods go on.
  CHECK_FALSE(stepOf(Scene(pair())).record);
}

TEST_CASE("an owner that others suspend while its gang starts ends the attempt; it is not started again") {
  Scene scene(pair().ownedByJobSet(true));
  scene.feedback.ownerStarted = true;
  const GangStep step = scene.step();
  REQUIRE(step.record);
  CHECK(step.record->proposal->abortReason == "JobSet llama was suspended by another client");
  CHECK(step.record->backoff->count == 1);
}

TEST_CASE("a Gang that users have written gets the finalizer before its first pod gets a place") {
  Scene scene(pair());
  scene.gang.hasReleaseFinalizer = false;
  scene.pods = {pod("ml/a").arrives(scene.gang, "worker")};
  CHECK(only<AddFinalizer>(scene.step()) != nullptr);
}

TEST_CASE("an owner that can be suspended is started once its gang has places") {
  Scene scene(pair().ownedByJobSet(true));
  const GangStep step = scene.step();
  REQUIRE(only<SuspendOwner>(step) != nullptr);
  CHECK_FALSE(only<SuspendOwner>(step)->suspend);
  Scene started(pair().ownedByJobSet(false));
  CHECK(started.step().actions.empty());
}

TEST_CASE("an owner that can be suspended stops by that alone") {
  Scene scene(pair().ownedByJobSet(false));
  scene.gang.status.gang.proposal->phase = model::ProposalPhase::kAborting;
  scene.pods = {pod("ml/a").placedIn(scene.gang, "worker", 0).on("n1")};
  const GangStep step = scene.step();
  REQUIRE(only<SuspendOwner>(step) != nullptr);
  CHECK(only<SuspendOwner>(step)->suspend);
  Scene stopped(pair().ownedByJobSet(true));
  stopped.gang.status.gang.proposal->phase = model::ProposalPhase::kAborting;
  stopped.pods = scene.pods;
  CHECK(stopped.step().actions.empty());
  CHECK_FALSE(stopped.step().record);
  stopped.pods.clear();
  CHECK(stopped.step().record);
}

TEST_CASE("a Gang that stops does not wait for pods that have ended, and leaves them") {
  Scene scene(pair().ownedByJobSet(true).placed("n1", "worker", "0").placed("n2", "worker", "1"));
  model::Proposal& restart = *scene.gang.status.gang.proposal;
  restart.kind = model::ProposalKind::kRestart;
  restart.phase = model::ProposalPhase::kClaiming;
  restart.epoch = 2;
  restart.add.clear();
  restart.remove = scene.gang.status.gang.placed->assignments;
  const model::Pod ended =
      pod("ml/a").placedIn(scene.gang, "worker", 0).on("n1").phase(model::PodPhase::kSucceeded);
  scene.pods = {ended, pod("ml/b").placedIn(scene.gang, "worker", 1).on("n2").terminating()};
  CHECK_FALSE(scene.step().record);
  scene.pods = {ended};
  const GangStep step = scene.step();
  REQUIRE(step.record);
  CHECK_FALSE(step.record->proposal);
  CHECK(step.actions.empty());
  // Its pod of a former placement is no stray.
  model::Job pending = scene.gang;
  pending.status.gang = *step.record;
  CHECK(strayPods(pending, {std::make_shared<const model::Pod>(ended)}).empty());
}

TEST_CASE("a Gang gives up its last places once its owner has taken back the pods that it does not want") {
  const model::Job gang =
      job("ml/a.jobset").role("worker", 1, gpus(8)).placed("n1", "worker", "0-2").ownedByJobSet(false);
  const auto given = [&](const std::vector<model::Pod>& pods) {
    JobPods all;
    for (const model::Pod& each : pods) all.push_back(std::make_shared<const model::Pod>(each));
    std::vector<int> indices;
    for (const Member& each :
         abandonedPlaces(gang, placedMembers(gang, *gang.status.gang.placed, all), at(10)))
      indices.push_back(each.index);
    return indices;
  };
  const model::Pod failed = pod("ml/a").placedIn(gang, "worker", 0).on("n1").phase(model::PodPhase::kFailed);
  const auto other = [&](int index) {
    return pod("ml/b" + std::to_string(index)).placedIn(gang, "worker", index).on("n1");
  };
  CHECK(given({failed, other(1), other(2)}).empty());
  CHECK(given({failed, other(2).terminating()}).empty());
  CHECK(given({failed}) == std::vector<int>{2, 1});
}

TEST_CASE("a Gang gives up the places of a role that its owner has dropped, and moves none of them") {
  const model::Job gang = job("ml/a.raycluster")
                              .role("one", 1, gpus(8))
                              .placed("n1", "one", "0")
                              .placed("n2", "two", "0-1")
                              .ownedByJobSet(false);
  const JobPods pods{std::make_shared<const model::Pod>(pod("ml/a").placedIn(gang, "one", 0).on("n1"))};
  const auto members = placedMembers(gang, *gang.status.gang.placed, pods);
  const auto given = abandonedPlaces(gang, members, at(10));
  REQUIRE(given.size() == 2);
  CHECK(given[0].role == "two");
  const model::Snapshot all = cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(gang).build();
  CHECK(closedPlaces(gang, members, Ledger(all), all.jobs).members.empty());
}

TEST_CASE("each role with more pods than places is a surplus of its own") {
  const model::Job gang = job("ml/a.raycluster")
                              .role("one", 2, gpus(8))
                              .role("two", 3, gpus(0))
                              .placed("n1", "one", "0")
                              .placed("n1", "two", "0")
                              .ownedByJobSet(false);
  const JobPods pods{std::make_shared<const model::Pod>(pod("ml/a").placedIn(gang, "one", 0).on("n1")),
                     std::make_shared<const model::Pod>(pod("ml/b").placedIn(gang, "two", 0).on("n1"))};
  JobPods arrivals;
  for (const char* name : {"ml/c", "ml/d", "ml/e", "ml/f"})
    arrivals.push_back(
        std::make_shared<const model::Pod>(pod(name).arrives(gang, arrivals.empty() ? "one" : "two", -1)));
  const auto surplus = surplusOf(gang, pods, arrivals);
  REQUIRE(surplus.size() == 2);
  CHECK(surplus[0].role->name == "one");
  CHECK(surplus[0].pods == 1);
  CHECK(surplus[1].role->name == "two");
  CHECK(surplus[1].pods == 2);
  CHECK(surplus[1].places == 1);
  CHECK_FALSE(startsOver(gang, placedMembers(gang, *gang.status.gang.placed, pods), surplus));
}

TEST_CASE("an owner whose pods all come again, also those that had succeeded, starts over") {
  const model::Job gang = job("ml/a.jobset")
                              .role("prep", 1, gpus(8))
                              .role("worker", 2, gpus(8))
                              .placed("n1", "prep", "0")
                              .placed("n2", "worker", "0-1")
                              .ownedByJobSet(false);
  const model::Pod prep = pod("ml/old").placedIn(gang, "prep", 0).on("n1").phase(model::PodPhase::kSucceeded);
  const JobPods ended{std::make_shared<const model::Pod>(prep)};
  const JobPods arrivals{std::make_shared<const model::Pod>(pod("ml/new").arrives(gang, "prep", 0))};
  const auto members = placedMembers(gang, *gang.status.gang.placed, ended);
  const auto surplus = surplusOf(gang, ended, arrivals);
  REQUIRE(surplus.size() == 1);
  CHECK(surplus[0].places == 0);
  CHECK(startsOver(gang, members, surplus));
  JobPods running = ended;
  running.push_back(std::make_shared<const model::Pod>(pod("ml/w").placedIn(gang, "worker", 0).on("n2")));
  CHECK_FALSE(startsOver(gang, placedMembers(gang, *gang.status.gang.placed, running), surplus));
}

TEST_CASE("bare pods have ended when all have, but not one that its controller makes again") {
  const model::Job gang = job("ml/pair.pods").role("worker", 1, gpus(8)).placed("n1", "worker", "0").ofPods();
  const auto outcomeWith = [&](const model::Pod& only) {
    const JobPods pods = {std::make_shared<const model::Pod>(only)};
    return judge(gang, placedMembers(gang, *gang.status.gang.placed, pods)).outcome;
  };
  const auto member = [&] { return pod("ml/a").placedIn(gang, "worker", 0).on("n1"); };
  CHECK(outcomeWith(member()) == Outcome::kRunning);
  CHECK(outcomeWith(member().phase(model::PodPhase::kSucceeded)) == Outcome::kSucceeded);
  CHECK(outcomeWith(member().phase(model::PodPhase::kFailed)) == Outcome::kFailed);
  CHECK(outcomeWith(member().phase(model::PodPhase::kFailed).terminating()) == Outcome::kRunning);
  model::Pod evicted = member().phase(model::PodPhase::kFailed);
  evicted.statusReason = "Evicted";
  CHECK(outcomeWith(evicted) == Outcome::kFailed);
  evicted.controllerKind = "ReplicaSet";
  evicted.controllerUid = model::Uid("r1");
  CHECK(outcomeWith(evicted) == Outcome::kRunning);
}

TEST_CASE("bare pods are evicted, which their controllers can distinguish from a failure") {
  Scene scene(pair());
  scene.gang.status.gang.proposal->phase = model::ProposalPhase::kAborting;
  scene.pods = {pod("ml/a").placedIn(scene.gang, "worker", 0).on("n1"),
                pod("ml/waits").arrives(scene.gang, "worker")};
  const GangStep step = scene.step();
  REQUIRE(only<DeletePod>(step) != nullptr);
  CHECK(only<DeletePod>(step)->pod.name == "a");
  CHECK(only<DeletePod>(step)->evict);
}

TEST_CASE("the place of a failed pod is its successor's, and of two pods the bound one has it") {
  const model::Job gang = job("ml/pair.pods").role("worker", 1, gpus(8)).placed("n1", "worker", "0").ofPods();
  const model::Pod failed = pod("ml/a").placedIn(gang, "worker", 0).on("n1").phase(model::PodPhase::kFailed);
  const model::Pod next = pod("ml/b").placedIn(gang, "worker", 0).pinnedTo("n1");
  const model::Pod bound = pod("ml/c").placedIn(gang, "worker", 0).on("n1");
  const auto holder = [&](std::vector<model::Pod> pods) {
    JobPods all;
    for (const auto& each : pods) all.push_back(std::make_shared<const model::Pod>(each));
    return placedMembers(gang, *gang.status.gang.placed, all).front().pod->key.name;
  };
  CHECK(holder({failed}) == "a");
  CHECK(holder({failed, next}) == "b");
  CHECK(holder({next, failed, bound}) == "c");
  const JobPods only = {std::make_shared<const model::Pod>(failed)};
  const Member member = placedMembers(gang, *gang.status.gang.placed, only).front();
  const model::Snapshot arrived = cluster().add(gang).add(pod("ml/d").arrives(gang, "worker")).build();
  const Ledger ledger(arrived);
  REQUIRE(matchArrivals(gang, {member}, ledger.pods()).size() == 1);
  CHECK(matchArrivals(gang, {member}, ledger.pods()).front().pod->key.name == "d");
}

TEST_CASE(
    "a victim of a Gang keeps its place in the claim, because its name does not say it once it is gone") {
  model::Job gang = job("ml/pair.pods").role("worker", 1, gpus(8)).placed("n1", "worker", "0").ofPods();
  const model::Pod member = pod("ml/x7f").placedIn(gang, "worker", 0).on("n1");
  const model::Snapshot before = cluster().add(node("n1").gpus(8)).add(gang).add(member).build();
  const Ledger ledger(before);
  const auto victims = victimPods({before.jobs.front()}, ledger.pods());
  REQUIRE(victims.size() == 1);
  REQUIRE(victims.front().place);
  const model::Snapshot after = cluster().add(node("n1").gpus(8)).add(gang).build();
  const VictimAssignment place = placeOf(victims.front(), after.pods, after.jobs);
  REQUIRE(place.gang != nullptr);
  CHECK(place.gang->key == gang.key);
  CHECK_FALSE(place.givenUp);
}

TEST_CASE("the extender lets a Gang's pod onto its own node only, and one that copies its labels nowhere") {
  const model::Job gang = job("ml/pair.pods").role("worker", 1, gpus(8)).placed("n1", "worker", "0").ofPods();
  const model::Pod member = pod("ml/a").placedIn(gang, "worker", 0).pinnedTo("n1");
  const model::Snapshot snapshot =
      cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(gang).add(member).build();
  const GuardView view(snapshot);
  const Holds holds;
  const std::vector<std::string_view> names{"n1", "n2"};
  CHECK(filter(view, holds, member, names).value().accepted == std::vector<std::string_view>{"n1"});
  const model::Pod other = pod("ml/b").placedIn(gang, "worker", 3).pinnedTo("n2");
  CHECK(filter(view, holds, other, names).value().accepted.empty());
}

TEST_CASE("the places of a Gang count on their nodes until pods fill them") {
  Scene scene(pair());
  const auto freeGpus = [&] {
    const model::Snapshot all = scene.snapshot();
    const Ledger ledger(all);
    return std::vector<std::int64_t>{ledger.nodes()[0].free.gpus(), ledger.nodes()[1].free.gpus()};
  };
  CHECK(freeGpus() == std::vector<std::int64_t>{0, 0});
  scene.pods = {pod("ml/a").placedIn(scene.gang, "worker", 0).on("n1"),
                pod("ml/b").placedIn(scene.gang, "worker", 1).pinnedTo("n2"),
                pod("ml/c").arrives(scene.gang, "worker")};
  CHECK(freeGpus() == std::vector<std::int64_t>{0, 0});
}
