#include "core/guard/guard.h"

#include <catch2/catch.hpp>

#include "support/builders.h"
#include "support/gpu_resources.h"

namespace {

using namespace trainyard;
using namespace trainyard::test;
using core::GuardReason;
using Names = std::vector<std::string_view>;

std::size_t count(const core::FilterDecision& decision, GuardReason reason) {
  return decision.refusedBy[static_cast<std::size_t>(reason)];
}

std::string_view textOf(const core::FilterDecision& decision, std::string_view node) {
  for (const core::NodeRefusal& each : decision.refused) {
    if (each.node == node) return each.message;
  }
  return "";
}

core::Hold hold(std::string_view node, std::int64_t gpuCount) {
  return {model::NodeName(node), gpus(gpuCount), base::Instant(std::chrono::seconds(60))};
}

// ml/bert has four members with 4 GPUs: two on n1 and two on n2, reserved, none created yet.
struct Reserved {
  model::Job bert = job("ml/bert")
                        .role("worker", 4, gpus(4))
                        .proposes("n1", "worker", "0-1", model::ProposalPhase::kReleasing)
                        .proposes("n2", "worker", "2-3", model::ProposalPhase::kReleasing);
  core::GuardView view{
      cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(node("n3").gpus(8)).add(bert)};
  core::Holds holds;
  Names all{"n1", "n2", "n3"};
};

TEST_CASE("a gang member is accepted only on its own node") {
  Reserved f;
  const model::Pod member = pod("ml/x").memberOf(f.bert, "worker", 2).gpus(4);
  const auto decision = core::filter(f.view, f.holds, member, f.all);
  REQUIRE(decision);
  CHECK(decision->accepted == Names{"n2"});
  CHECK(count(*decision, GuardReason::kNotItsPlace) == 2);
  CHECK_FALSE(decision->hold);
  CHECK(core::prioritize(f.view, f.holds, member, f.all) == std::vector<int>{0, 10, 0});
}

TEST_CASE("the pod of a single-pod job takes only unreserved capacity and preempts no pod") {
  Reserved f;
  const model::Job solo = job("ml/solo").role("worker", 1, gpus(4));
  const model::Pod own = pod("ml/x").memberOf(solo, "worker", 0, 1).gpus(4);
  const model::Pod late = pod("ml/x").memberOf(solo, "worker", 0, 2).gpus(4);
  const core::GuardView view(cluster().add(node("n1").gpus(8)).add(node("n2").gpus(4)).add(f.bert).add(solo));
  const auto free = core::filter(view, f.holds, own, Names{"n1"});
  REQUIRE(free);
  // bert has all of n1 and more than all of n2.
  CHECK(free->accepted.empty());
  CHECK(count(*free, GuardReason::kReserved) == 1);
  const core::GuardView roomy(cluster().add(node("n1").gpus(8)).add(node("n3").gpus(8)).add(solo));
  const auto accepted = core::filter(roomy, f.holds, own, Names{"n3"});
  REQUIRE(accepted);
  CHECK(accepted->accepted == Names{"n3"});
  CHECK(accepted->hold == model::NodeName("n3"));
  // An epoch two steps ahead is newer than the view.
  CHECK_FALSE(core::filter(roomy, f.holds, late, Names{"n3"}));
  const model::Pod small = pod("other/small").on("n3").gpus(8);
  const core::GuardView full(cluster().add(node("n3").gpus(8)).add(small).add(solo));
  const std::vector<core::PreemptionCandidate> candidates{{"n3", {small.uid.str()}}};
  CHECK(core::mayPreempt(full, own, candidates) == std::vector<bool>{false});
}

TEST_CASE("a gang member that is not offered its node is refused everywhere with one text") {
  Reserved f;
  const model::Pod member = pod("ml/x").memberOf(f.bert, "worker", 2).gpus(4);
  const auto decision = core::filter(f.view, f.holds, member, Names{"n1", "n3"});
  REQUIRE(decision);
  CHECK(decision->accepted.empty());
  REQUIRE(decision->refused.size() == 2);
  CHECK(decision->refused[0].message == "trainyard: ml/bert-worker-2 is assigned to node n2");
  CHECK(decision->refused[0].message.data() == decision->refused[1].message.data());
}

TEST_CASE("members of the placed record and of a proposal of another epoch are both known") {
  // Placed: worker 0 on n1 with epoch 1. Growing: worker 1 on n2 with epoch 2.
  const model::Job grown = job("ml/bert")
                               .role("worker", 2, gpus(8))
                               .placed("n1", "worker", "0", 1)
                               .proposes("n2", "worker", "1", model::ProposalPhase::kReleasing, 2)
                               .proposalKind(model::ProposalKind::kGrow);
  const core::GuardView view(cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(grown));
  const Names all{"n1", "n2"};
  const auto accepted = [&](int index, std::int64_t epoch) {
    const auto decision =
        core::filter(view, {}, pod("ml/x").memberOf(grown, "worker", index, epoch).gpus(8), all);
    return decision ? decision->accepted : Names{"error"};
  };
  CHECK(accepted(0, 1) == Names{"n1"});
  CHECK(accepted(1, 2) == Names{"n2"});
  CHECK(accepted(1, 1).empty());            // epoch 1 never had a worker 1
  CHECK(accepted(0, 2).empty());            // nor epoch 2 a worker 0
  CHECK(accepted(0, 0).empty());            // left from an earlier epoch
  CHECK(accepted(1, 3) == Names{"error"});  // newer than the view: retried
}

TEST_CASE("a member of a gang that the view does not have yet is an error so that kube-scheduler retries") {
  Reserved f;
  SECTION("the job is unknown") {
    const model::Job other = job("ml/gpt").role("worker", 1, gpus(4));
    const auto decision =
        core::filter(f.view, f.holds, pod("ml/x").memberOf(other, "worker", 0).gpus(4), f.all);
    REQUIRE_FALSE(decision);
    CHECK(decision.error().code == base::ErrorCode::kUnavailable);
    CHECK(decision.error().message ==
          "trainyard: the TrainingJob that controls ml/gpt-worker-0 (uid uid-ml-gpt) is not known yet");
  }
  SECTION("the epoch is newer than the record") {
    const auto decision =
        core::filter(f.view, f.holds, pod("ml/x").memberOf(f.bert, "worker", 0, 2).gpus(4), f.all);
    REQUIRE_FALSE(decision);
    CHECK(decision.error().message ==
          "trainyard: epoch 2 of TrainingJob ml/bert, which ml/bert-worker-0 belongs to, is not known yet");
  }
  SECTION("the job has no record at all") {
    const model::Job waiting = job("ml/bert").role("worker", 4, gpus(4));
    const core::GuardView view(cluster().add(node("n1").gpus(8)).add(waiting));
    CHECK_FALSE(core::filter(view, f.holds, pod("ml/x").memberOf(waiting, "worker", 0).gpus(4), f.all));
  }
}

TEST_CASE("labels alone do not make a pod a gang member") {
  // n1 and n2 have 8 of 8 GPUs reserved: foreign pods fit on n3 only, members of index 0 on n1 only.
  Reserved f;
  model::Pod thief = pod("ml/x").memberOf(f.bert, "worker", 0).gpus(4);
  SECTION("without a controller") {
    thief.controllerKind.clear();
    thief.controllerUid = {};
  }
  SECTION("controlled by something else that borrows the uid") { thief.controllerKind = "ReplicaSet"; }
  SECTION("with the uid of a job in another namespace") { thief.key.ns = "intruder"; }
  const auto decision = core::filter(f.view, f.holds, thief, f.all);
  REQUIRE(decision);
  CHECK(decision->accepted == Names{"n3"});
  CHECK(count(*decision, GuardReason::kReserved) == 2);
}

TEST_CASE("a pod controlled by a job but not recorded is refused everywhere") {
  Reserved f;
  model::Pod stray = pod("ml/x").memberOf(f.bert, "worker", 0).gpus(4);
  SECTION("its labels match a member and its name does not") { stray.key.name = "bert-worker-0-copy"; }
  SECTION("no such index") { stray = pod("ml/x").memberOf(f.bert, "worker", 9).gpus(4); }
  SECTION("no such role") { stray = pod("ml/x").memberOf(f.bert, "chief", 0).gpus(4); }
  SECTION("no labels") { stray.member.reset(); }
  const auto decision = core::filter(f.view, f.holds, stray, f.all);
  REQUIRE(decision);
  CHECK(decision->accepted.empty());
  CHECK(count(*decision, GuardReason::kNotRecorded) == 3);
}

TEST_CASE("a pod of an attempt without a record is refused and not waited for") {
  model::Job bert = job("ml/bert").role("worker", 2, gpus(4));
  bert.status.gang.lastEpoch = 3;
  const core::GuardView view(cluster().add(node("n1").gpus(8)).add(bert));
  const auto ask = [&](std::int64_t epoch) {
    return core::filter(view, {}, pod("ml/x").memberOf(bert, "worker", 0, epoch).gpus(4), Names{"n1"});
  };
  REQUIRE(ask(3));
  CHECK(count(*ask(3), GuardReason::kNotRecorded) == 1);
  CHECK_FALSE(ask(4));
}

TEST_CASE("no pod of an ended attempt is accepted") {
  const auto accepted = [](const model::Job& owner) {
    const core::GuardView view(cluster().add(node("n1").gpus(8)).add(owner));
    const auto decision =
        core::filter(view, {}, pod("ml/x").memberOf(owner, "worker", 0).gpus(4), Names{"n1"});
    REQUIRE(decision);
    return decision->accepted.size();
  };
  const auto bert = [] { return job("ml/bert").role("worker", 1, gpus(4)); };
  CHECK(accepted(bert().proposes("n1", "worker", "0")) == 1);
  CHECK(accepted(bert().proposes("n1", "worker", "0", model::ProposalPhase::kAborting)) == 0);
  CHECK(accepted(bert().placed("n1", "worker", "0")) == 1);
  CHECK(accepted(bert().placed("n1", "worker", "0").deleting()) == 0);
  CHECK(accepted(bert().placed("n1", "worker", "0").condition("Failed")) == 0);
  CHECK(accepted(bert()
                     .placed("n1", "worker", "0", 1)
                     .proposes("n1", "worker", "0", model::ProposalPhase::kReserved, 2)
                     .proposalKind(model::ProposalKind::kRestart)) == 0);
}

TEST_CASE("a foreign pod gets what reservations leave and its refusal has the numbers") {
  // n1: 8 GPUs, 2 bound, 4 reserved: 2 free. n2: 4 reserved: 4 free.
  const model::Job bert =
      job("ml/bert").role("worker", 2, gpus(4)).proposes("n1", "worker", "0").proposes("n2", "worker", "1");
  const core::GuardView view(
      cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(pod("ml/a").on("n1").gpus(2)).add(bert));
  const Names all{"n1", "n2", "n3"};
  const auto decision = core::filter(view, {}, pod("ml/foreign").gpus(4), all);
  REQUIRE(decision);
  CHECK(decision->accepted == Names{"n2"});
  CHECK(textOf(*decision, "n1") ==
        "trainyard: needs 4 nvidia.com/gpu, has 2 free beside 4 reserved for gangs");
  CHECK(textOf(*decision, "n3") == "trainyard: the node is not known yet");
  CHECK(decision->hold == model::NodeName("n2"));
}

TEST_CASE("without reservations kube-scheduler's own count decides") {
  // The view still shows a bound pod that kube-scheduler has just seen deleted: a refusal would evict a
  // second victim.
  const core::GuardView view(cluster().add(node("n1").gpus(8)).add(pod("ml/gone").on("n1").gpus(8)));
  const auto decision = core::filter(view, {}, pod("ml/preemptor").gpus(8), Names{"n1"});
  REQUIRE(decision);
  CHECK(decision->accepted == Names{"n1"});
}

TEST_CASE("on nodes with members the free capacity counts without terminating foreign pods") {
  // 4 GPUs of a running member, 4 of a foreign pod: none is free. Another scheduler may not have seen the
  // member yet.
  const model::Job bert = job("ml/bert").role("worker", 1, gpus(4)).placed("n1", "worker", "0");
  SnapshotBuilder snapshot = cluster()
                                 .add(node("n1").gpus(8))
                                 .add(bert)
                                 .add(pod("ml/x").memberOf(bert, "worker", 0).on("n1").gpus(4));
  const auto ask = [&](const PodBuilder& foreignPod, std::int64_t wanted) {
    const core::GuardView view(SnapshotBuilder(snapshot).add(foreignPod).build());
    return *core::filter(view, {}, pod("ml/s").gpus(wanted), Names{"n1"});
  };
  const PodBuilder stays = pod("ml/a").on("n1").gpus(4);
  CHECK(textOf(ask(stays, 4), "n1") ==
        "trainyard: needs 4 nvidia.com/gpu, has 0 free beside 4 of running gangs");
  // kube-scheduler offers the node only after it has seen the foreign pod's deletion.
  const PodBuilder leaves = pod("ml/a").on("n1").gpus(4).terminating();
  CHECK(ask(leaves, 4).accepted.size() == 1);
  CHECK(count(ask(leaves, 5), GuardReason::kRunning) == 1);
}

TEST_CASE("reservations count in every resource") {
  // 128 cpu and 8 GPUs; the gang reserves 100 cpu and 2 GPUs: 28 cpu and 6 GPUs are left.
  const model::Job bert = job("ml/bert").role("worker", 1, requests(2, 100)).proposes("n1", "worker", "0");
  const core::GuardView view(cluster().add(node("n1").gpus(8)).add(bert));
  const auto ask = [&](const model::Resources& wanted) {
    return *core::filter(view, {}, pod("ml/foreign").requests(wanted), Names{"n1"});
  };
  CHECK(ask(requests(6, 28)).accepted.size() == 1);
  const auto refused = ask(requests(6, 29));
  CHECK(refused.accepted.empty());
  CHECK(textOf(refused, "n1") == "trainyard: too little cpu beside what is reserved for gangs");
}

TEST_CASE("a member that is bound no longer counts as reserved") {
  // Member 0 is bound on n1, member 1 pinned to n1, member 2 not created: 4 + 2 + 2 of 8 GPUs, 4 of them
  // reserved.
  const model::Job bert = job("ml/bert").role("worker", 3, gpus(2)).proposes("n1", "worker", "0-2");
  const core::GuardView view(cluster()
                                 .add(node("n1").gpus(8))
                                 .add(pod("ml/x").memberOf(bert, "worker", 0).gpus(2).on("n1"))
                                 .add(pod("ml/x").memberOf(bert, "worker", 1).gpus(2).pinnedTo("n1"))
                                 .add(bert));
  const core::GuardNode* n1 = view.findNode("n1");
  REQUIRE(n1 != nullptr);
  CHECK(n1->freeGpus == 2);
  CHECK(n1->reservedGpus == 4);
  CHECK(n1->reserved);
}

TEST_CASE("GPUs of every configured name are reserved for gangs and messages have that name") {
  const GpuResources setting({"nvidia.com/gpu", "amd.com/gpu"});
  model::Resources four;
  four.pods = 1;
  four.setExtended("amd.com/gpu", 4);
  const model::Job bert = job("ml/bert").role("worker", 2, four).proposes("n1", "worker", "0-1");
  const core::GuardView view(cluster()
                                 .add(node("n1").extended("amd.com/gpu", 10))
                                 .add(node("n2").extended("amd.com/gpu", 8))
                                 .add(bert));
  const core::Holds holds;
  const model::Pod foreignPod = pod("other/x").requests(four);
  const auto decision = core::filter(view, holds, foreignPod, Names{"n1", "n2"});
  REQUIRE(decision);
  CHECK(decision->accepted == Names{"n2"});
  CHECK(textOf(*decision, "n1") == "trainyard: needs 4 amd.com/gpu, has 2 free beside 8 reserved for gangs");
  CHECK(decision->hold == model::NodeName("n2"));
}

TEST_CASE("a pod without GPUs is accepted everywhere") {
  Reserved f;
  const Names all{"n1", "n2", "n3", "unheard-of"};
  const auto decision = core::filter(f.view, f.holds, pod("ml/web").cpu(4), all);
  REQUIRE(decision);
  CHECK(decision->accepted == all);
  CHECK_FALSE(decision->hold);
  CHECK(core::prioritize(f.view, f.holds, pod("ml/web").cpu(4), all) == std::vector<int>{0, 0, 0, 0});
}

TEST_CASE("foreign pods that wait for one node reserve nothing there") {
  // ml/tool can run on n1 only, which is full for it; ml/bert has 2 GPUs reserved.
  const model::Pod tool = pod("ml/tool").gpus(8).pinnedTo("n1");
  const model::Job bert = job("ml/bert").role("worker", 1, gpus(2)).proposes("n1", "worker", "0");
  const core::GuardView view(cluster().add(node("n1").gpus(8)).add(tool).add(bert));
  CHECK(core::filter(view, {}, pod("ml/other").gpus(6), Names{"n1"})->accepted.size() == 1);
  CHECK(core::filter(view, {}, pod("ml/other").gpus(7), Names{"n1"})->accepted.empty());
  CHECK(core::filter(view, {}, tool, Names{"n1"})->accepted.empty());
}

TEST_CASE("an unbound pod that only claims to be a member reserves nothing") {
  model::Job bert = job("ml/bert").role("worker", 1, gpus(6));
  bert.status.gang.lastEpoch = 1;
  model::Pod thief = pod("ml/x").memberOf(bert, "worker", 0).gpus(6).pinnedTo("n1");
  SnapshotBuilder snapshot = cluster().add(node("n1").gpus(8));
  SECTION("of a job that does not exist") {}
  SECTION("of a job in another namespace") {
    thief.key.ns = "intruder";
    snapshot.add(bert);
  }
  SECTION("of a job of its own namespace, but under another name than the member's") {
    thief.key.name = "bert-worker-0-copy";
    snapshot.add(bert);
  }
  SECTION("of a foreign kind TrainingJob") {
    thief.controllerKind = "TrainingJob.example.com";
    snapshot.add(bert);
  }
  const core::GuardView view(snapshot.add(thief));
  CHECK(core::filter(view, {}, pod("ml/other").gpus(8), Names{"n1"})->accepted.size() == 1);
}

TEST_CASE("a released member counts as reserved until it is bound") {
  const model::Job bert = job("ml/bert").role("worker", 1, gpus(6)).proposes("n1", "worker", "0");
  const core::GuardView view(cluster()
                                 .add(node("n1").gpus(8))
                                 .add(bert)
                                 .add(pod("ml/x").memberOf(bert, "worker", 0).gpus(6).pinnedTo("n1")));
  CHECK(core::filter(view, {}, pod("ml/other").gpus(2), Names{"n1"})->accepted.size() == 1);
  CHECK(core::filter(view, {}, pod("ml/other").gpus(3), Names{"n1"})->accepted.empty());
}

TEST_CASE("a foreign pod is offered only the best of the nodes with reservations and holds it") {
  // n1: 8 GPUs, 4 reserved: 4 free. n2: 6 reserved: 2 free. n3: none reserved, 4 bound. n4: all free.
  const model::Job bert = job("ml/bert")
                              .role("worker", 5, gpus(2))
                              .proposes("n1", "worker", "0-1")
                              .proposes("n2", "worker", "2-4");
  const core::GuardView view(cluster()
                                 .add(node("n1").gpus(8))
                                 .add(node("n2").gpus(8))
                                 .add(node("n3").gpus(8))
                                 .add(node("n4").gpus(8))
                                 .add(pod("ml/a").on("n3").gpus(4))
                                 .add(bert));
  const Names all{"n1", "n2", "n3", "n4"};
  core::Holds holds;
  const model::Pod first = pod("ml/first").gpus(2);
  const auto offer = *core::filter(view, holds, first, all);
  // n2 is a perfect fit; n1 has reservations as well and is excluded; n3 and n4 are left to kube-scheduler.
  CHECK(offer.accepted == Names{"n2", "n3", "n4"});
  CHECK(offer.hold == model::NodeName("n2"));
  CHECK(textOf(offer, "n1") == "trainyard: has capacity reserved for gangs, and another node was offered");

  holds.put(first.uid, hold("n2", 2));
  // 2 of 8 left on n3: 9 - ceil(8*2/8) = 7; using the empty n4: 0; n1 has 2 left as well: 7.
  CHECK(core::prioritize(view, holds, first, all) == std::vector<int>{7, 10, 7, 0});

  // Before the watch shows the first pod, n2 still has 2 free in the view: the hold excludes the second pod.
  const auto second = *core::filter(view, holds, pod("ml/second").gpus(2), all);
  CHECK(second.accepted == Names{"n1", "n3", "n4"});
  CHECK(textOf(second, "n2") ==
        "trainyard: needs 2 nvidia.com/gpu, has 0 free beside 6 reserved for gangs and pods just placed");
  // The first pod's own hold does not exclude it in a repeated request.
  CHECK(core::filter(view, holds, first, all)->hold == model::NodeName("n2"));
}

TEST_CASE("holds do not count without reservations because kube-scheduler's own count closes the lag") {
  const core::GuardView view(cluster().add(node("n1").gpus(8)));
  core::Holds holds;
  holds.put(model::Uid("someone"), hold("n1", 8));
  CHECK(core::filter(view, holds, pod("ml/a").gpus(8), Names{"n1"})->accepted.size() == 1);
}

TEST_CASE("a foreign pod's score prefers the tightest fit and preserves whole nodes") {
  // With 2 GPUs requested: n1 has 2 free (0 left: 9), n2 4 free (2 left: 7), n3 6 free (4 left: 5), n4 8 of 8
  // (0).
  const core::GuardView view(cluster()
                                 .add(node("n1").gpus(8))
                                 .add(node("n2").gpus(8))
                                 .add(node("n3").gpus(8))
                                 .add(node("n4").gpus(8))
                                 .add(pod("ml/a").on("n1").gpus(6))
                                 .add(pod("ml/b").on("n2").gpus(4))
                                 .add(pod("ml/c").on("n3").gpus(2)));
  const Names all{"n4", "n3", "n2", "n1", "nowhere"};
  CHECK(core::prioritize(view, {}, pod("ml/s").gpus(2), all) == std::vector<int>{0, 5, 7, 9, 0});
  CHECK(core::filter(view, {}, pod("ml/s").gpus(2), all)->hold == model::NodeName("n1"));
  // For 8 GPUs only the whole node fits, and fits perfectly.
  CHECK(core::prioritize(view, {}, pod("ml/s").gpus(8), all) == std::vector<int>{9, 0, 0, 0, 0});
}

TEST_CASE("equal nodes are ordered by name in any order of the request") {
  const core::GuardView view(cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)));
  CHECK(core::filter(view, {}, pod("ml/s").gpus(8), Names{"n2", "n1"})->hold == model::NodeName("n1"));
  CHECK(core::filter(view, {}, pod("ml/s").gpus(8), Names{"n1", "n2"})->hold == model::NodeName("n1"));
}

TEST_CASE("an absurd request fits beside no reservation and holds nothing") {
  Reserved f;
  const auto decision = core::filter(f.view, f.holds, pod("ml/s").gpus(INT64_MAX), f.all);
  REQUIRE(decision);
  CHECK(decision->accepted == Names{"n3"});  // kube-scheduler will refuse it
  CHECK_FALSE(decision->hold);
}

TEST_CASE("preemption spares gangs and reservations") {
  // n1: foreign pod a and a gang member. n2: foreign pods. n3: one beside a reservation. n4: unknown pod.
  const model::Job bert = job("ml/bert")
                              .role("worker", 2, gpus(4))
                              .placed("n1", "worker", "0")
                              .proposes("n3", "worker", "1", model::ProposalPhase::kReserved, 2);
  const core::GuardView view(cluster()
                                 .add(node("n1").gpus(8))
                                 .add(node("n2").gpus(8))
                                 .add(node("n3").gpus(8))
                                 .add(node("n4").gpus(8))
                                 .add(pod("ml/a").on("n1").gpus(4).uid("a"))
                                 .add(pod("ml/x").memberOf(bert, "worker", 0).on("n1").gpus(4).uid("member"))
                                 .add(pod("ml/b").on("n2").gpus(8).uid("b"))
                                 .add(pod("ml/c").on("n3").gpus(4).uid("c"))
                                 .add(bert));
  const std::vector<core::PreemptionCandidate> candidates{
      {"n1", {"a", "member"}}, {"n1", {"a"}}, {"n2", {"b"}}, {"n3", {"c"}},
      {"n4", {"unheard-of"}},  {"n9", {"b"}}, {"n2", {}}};
  CHECK(core::mayPreempt(view, pod("ml/s").gpus(4), candidates) ==
        std::vector<bool>{false, true, true, false, false, false, false});
  // Never on behalf of a gang's pod, whether its gang is known or not.
  CHECK(core::mayPreempt(view, pod("ml/x").memberOf(bert, "worker", 1, 2).gpus(4), candidates) ==
        std::vector<bool>(7, false));
  CHECK(core::mayPreempt(view, pod("ml/x").ownedBy("TrainingJob", "unknown").gpus(4), candidates) ==
        std::vector<bool>(7, false));
}

TEST_CASE("preemption does not spare a pod that only claims to be a gang's") {
  model::Job bert = job("ml/bert").role("worker", 2, gpus(4));
  const auto spares = [&](const model::Pod& each) {
    const core::GuardView view(cluster().add(node("n1").gpus(8)).add(each).add(bert));
    const std::vector<core::PreemptionCandidate> candidates{{"n1", {each.uid.str()}}};
    return core::mayPreempt(view, pod("ml/s").gpus(4), candidates) == std::vector<bool>{false};
  };
  const model::Pod former = pod("ml/x").memberOf(bert, "worker", 0, 1).on("n1").gpus(4).uid("p");
  model::Pod own = former;
  own.key = key("ml/own");
  CHECK_FALSE(spares(own));
  own.member.reset();
  CHECK_FALSE(spares(own));
  bert.status.gang.lastEpoch = 1;
  CHECK_FALSE(spares(own));
  CHECK(spares(former));
  bert.spec.managedBy = "x.y/z";
  CHECK_FALSE(spares(former));
}

TEST_CASE("holds are one for each pod and expire") {
  core::Holds holds;
  const auto second = [](int s) { return base::Instant(std::chrono::seconds(s)); };
  holds.put(model::Uid("a"), {model::NodeName("n1"), gpus(4), second(60)});
  holds.put(model::Uid("b"), {model::NodeName("n1"), gpus(2), second(90)});
  REQUIRE(holds.on("n1") != nullptr);
  CHECK(holds.on("n1")->gpus() == 6);
  holds.put(model::Uid("a"), {model::NodeName("n2"), gpus(4), second(70)});
  CHECK(holds.on("n1")->gpus() == 2);
  CHECK(holds.on("n2")->gpus() == 4);
  CHECK(holds.size() == 2);
  holds.expire(second(69));
  CHECK(holds.size() == 2);
  holds.expire(second(70));
  CHECK(holds.find(model::Uid("a")) == nullptr);
  CHECK(holds.on("n2") == nullptr);
  holds.drop(model::Uid("b"));
  holds.drop(model::Uid("b"));
  CHECK(holds.on("n1") == nullptr);
}

}  // namespace
