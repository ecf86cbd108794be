// The messages of pending gangs. Their texts are specification: conditions, events and the CLI show them.
#include <catch2/catch.hpp>

#include "core/queues/holdings.h"
#include "core/queues/priority.h"
#include "core/schedule/pending_order.h"
#include "core/status/explain.h"
#include "support/placing.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

// Two blocks of two racks of two nodes of 8 GPUs: n0 … n7.
SnapshotBuilder eightNodes() {
  SnapshotBuilder builder = cluster();
  for (int i = 0; i < 8; ++i) {
    builder.add(node(fmt::format("n{}", i))
                    .zone("z")
                    .block(i < 4 ? "b1" : "b2")
                    .rack(fmt::format("r{}", i / 2))
                    .gpus(8));
  }
  return builder;
}

model::Pod filler(std::string_view nodeName, std::int64_t gpuCount) {
  return pod(fmt::format("filler/{}", nodeName)).on(nodeName).gpus(gpuCount);
}

model::Pending pendingIn(const model::Snapshot& snapshot, std::string_view name) {
  const Ledger ledger(snapshot);
  const model::Job& waiting = jobIn(snapshot, name);
  const auto outcome = place(wholeGang(waiting), ledger, snapshot.policy.topology);
  REQUIRE(std::holds_alternative<PlacementFailure>(outcome));
  LiveRuns live;
  RunTimeModel runs(snapshot, live);
  return explainFailure(std::get<PlacementFailure>(outcome), ledger, snapshot.now, runs);
}

std::string said(const model::Snapshot& snapshot) { return outcomeIn(snapshot, "x/j"); }

}  // namespace

TEST_CASE("no matching nodes: at most three reasons and the most common first") {
  CHECK(said(cluster().add(job("x/j").role("worker", 1, gpus(1)))) ==
        "NoMatchingNodes: the cluster has no nodes");
  CHECK(said(eightNodes().add(job("x/j").role("worker", 2, gpus(8)).select("pool", "train"))) ==
        "NoMatchingNodes: no node matches the template of role worker: 8 nodes have no label pool=train");
  const model::Snapshot mixed = cluster()
                                    .add(node("a").gpus(8).taint("dedicated", "infra"))
                                    .add(node("b").gpus(8))
                                    .add(node("c").gpus(8).notReady())
                                    .add(node("d").gpus(8).label("pool", "train").deleting())
                                    .add(job("x/j").role("worker", 1, gpus(8)).select("pool", "train"));
  CHECK(said(mixed) ==
        "NoMatchingNodes: no node matches the template of role worker: 2 nodes have no label pool=train, 1 "
        "node has the "
        "taint dedicated=infra:NoSchedule and 1 node is being deleted");
}

TEST_CASE("no matching nodes: the role is named") {
  CHECK(said(eightNodes().add(
            job("x/j").role("worker", 1, gpus(8)).role("ps", 1, cpus(1)).select("pool", "cpu"))) ==
        "NoMatchingNodes: no node matches the template of role ps: 8 nodes have no label pool=cpu");
}

TEST_CASE("a level that this cluster does not have") {
  CHECK(
      said(eightNodes().add(job("x/j").role("worker", 2, gpus(8)).required("row"))) ==
      "NoMatchingNodes: spec.locality.required: \"row\" is not a level of this cluster; it has zone, block, "
      "rack and "
      "node");
}

TEST_CASE("too large for any node") {
  CHECK(said(eightNodes().add(job("x/j").role("worker", 2, gpus(16)))) ==
        "TooLarge: needs 2 nodes with 16 nvidia.com/gpu each; the largest matching node n0 has 8");
  CHECK(said(eightNodes().add(job("x/j").role("worker", 1, requests(8, 200)))) ==
        "TooLarge: needs 1 node with 8 nvidia.com/gpu and 200 cpu; the largest matching node n0 has 8 "
        "nvidia.com/gpu and "
        "128 cpu");
  CHECK(said(eightNodes().add(job("x/j").role("worker", 1, requests(0, 1, 2000)))) ==
        "TooLarge: needs 1 node with 2000Gi memory; the largest matching node n0 has 1024Gi memory");
}

TEST_CASE("too large for the required level or for the cluster") {
  CHECK(said(eightNodes().add(job("x/j").role("worker", 3, gpus(8)).required("rack"))) ==
        "TooLarge: needs 3 nodes with 8 nvidia.com/gpu each in one rack; the largest rack, z/b1/r0, has 2 "
        "even when empty");
  CHECK(said(eightNodes().add(job("x/j").role("worker", 9, gpus(8)))) ==
        "TooLarge: needs 9 nodes with 8 nvidia.com/gpu each; the cluster has 8 even when empty");
  CHECK(said(eightNodes().add(job("x/j").role("worker", 9, gpus(4)).required("block"))) ==
        "TooLarge: needs capacity for 9 members with 4 nvidia.com/gpu each in one block; the largest block, "
        "z/b1, can hold 8 even when empty");
}

TEST_CASE("a required level that no node is labelled for") {
  CHECK(said(cluster()
                 .add(node("n1").gpus(8))
                 .add(node("n2").gpus(8))
                 .add(job("x/j").role("worker", 2, gpus(8)).required("rack"))) ==
        "TooLarge: needs 2 nodes with 8 nvidia.com/gpu each in one rack; the largest rack, (n1), has 1 even "
        "when empty; no "
        "node has the label cloud.provider.com/topology-rack");
}

TEST_CASE("waiting for capacity") {
  CHECK(said(eightNodes()
                 .add(filler("n0", 1))
                 .add(filler("n5", 1))
                 .add(job("x/j").role("worker", 7, gpus(8)))) ==
        "WaitingForCapacity: needs 7 nodes with 8 nvidia.com/gpu each; the cluster has 6");
  // Fillers block one node in each of three racks, and n6 and n7: r0, r1 and r2 have one node left, r3 none.
  CHECK(said(eightNodes()
                 .add(filler("n0", 1))
                 .add(filler("n2", 1))
                 .add(filler("n4", 1))
                 .add(filler("n6", 8))
                 .add(filler("n7", 8))
                 .add(filler("n1", 8))
                 .add(filler("n3", 8))
                 .add(job("x/j").role("worker", 2, gpus(8)).required("rack"))) ==
        "WaitingForCapacity: needs 2 nodes with 8 nvidia.com/gpu each in one rack; best rack z/b2/r2 has 1");
}

TEST_CASE("waiting for topology: enough is free but not together") {
  const model::Snapshot snapshot = eightNodes()
                                       .add(filler("n0", 1))
                                       .add(filler("n2", 1))
                                       .add(filler("n4", 1))
                                       .add(filler("n6", 1))
                                       .add(job("x/j").role("worker", 2, gpus(8)).required("rack"));
  CHECK(said(snapshot) ==
        "WaitingForTopology: needs 2 nodes with 8 nvidia.com/gpu each in one rack; best rack z/b1/r0 has 1, "
        "the whole "
        "cluster has 4");
}

TEST_CASE("members that do not fill a node are counted as members") {
  // r0 has 4 + 8 free: three members of 4 GPUs.
  CHECK(said(eightNodes()
                 .add(filler("n0", 4))
                 .add(filler("n2", 5))
                 .add(filler("n4", 5))
                 .add(filler("n6", 5))
                 .add(job("x/j").role("worker", 4, gpus(4)).required("rack"))) ==
        "WaitingForTopology: needs capacity for 4 members with 4 nvidia.com/gpu each in one rack; best rack "
        "z/b1/r0 can hold 3, the whole cluster can hold 9");
  CHECK(said(eightNodes()
                 .add(filler("n0", 1))
                 .add(filler("n1", 1))
                 .add(filler("n2", 1))
                 .add(filler("n3", 1))
                 .add(filler("n4", 1))
                 .add(filler("n5", 1))
                 .add(filler("n6", 1))
                 .add(filler("n7", 1))
                 .add(job("x/j").role("worker", 8, gpus(1)).required("node"))) ==
        "WaitingForTopology: needs capacity for 8 members with 1 nvidia.com/gpu each on one node; best node "
        "z/b1/r0/n0 can hold 7, the whole cluster can hold 56");
}

TEST_CASE("no node can hold one member: the message has the free capacity of the best node") {
  const auto full = [] {
    SnapshotBuilder builder = eightNodes();
    for (int i = 0; i < 8; ++i) builder.add(filler(fmt::format("n{}", i), i == 3 ? 2 : 6));
    return builder;
  };
  CHECK(said(full().add(job("x/j").role("worker", 1, gpus(8)))) ==
        "WaitingForCapacity: needs 1 node with 8 nvidia.com/gpu; best node n3 has 6");
  CHECK(said(full().add(job("x/j").role("worker", 2, gpus(8)).required("rack"))) ==
        "WaitingForCapacity: needs 2 nodes with 8 nvidia.com/gpu each in one rack; best node n3 has 6");
}

TEST_CASE("cpu and memory are named where they are in the way") {
  // GPUs are free everywhere; 100 of 128 cpu are used.
  SnapshotBuilder builder = eightNodes();
  for (int i = 0; i < 8; ++i)
    builder.add(pod(fmt::format("filler/p{}", i)).on(fmt::format("n{}", i)).cpu(100));
  CHECK(said(builder.add(job("x/j").role("worker", 2, requests(8, 64, 16)))) ==
        "WaitingForCapacity: needs 2 nodes with 8 nvidia.com/gpu and 64 cpu each; best node n0 has 8 "
        "nvidia.com/gpu and 28 "
        "cpu");
}

TEST_CASE("nodes that would help if they were open are mentioned") {
  const auto three = [] {
    return cluster()
        .add(node("n1").gpus(8))
        .add(node("n2").gpus(8).cordoned())
        .add(node("n3").gpus(8).notReady());
  };
  CHECK(said(three().add(job("x/j").role("worker", 2, gpus(8)))) ==
        "WaitingForCapacity: needs 2 nodes with 8 nvidia.com/gpu each; the cluster has 1; 2 more nodes have "
        "free capacity but 1 is "
        "cordoned and 1 is not ready");
  CHECK(said(cluster().add(node("n1").gpus(8).cordoned()).add(job("x/j").role("worker", 1, gpus(8)))) ==
        "WaitingForCapacity: needs 1 node with 8 nvidia.com/gpu; no matching node is available; 1 more node "
        "has free capacity but is "
        "cordoned");
  // A full node would not help, even without the cordon.
  CHECK(said(cluster()
                 .add(node("n1").gpus(8))
                 .add(node("n2").gpus(8).cordoned())
                 .add(filler("n2", 8))
                 .add(job("x/j").role("worker", 2, gpus(8)))) ==
        "WaitingForCapacity: needs 2 nodes with 8 nvidia.com/gpu each; the cluster has 1");
}

TEST_CASE("several kinds of members are listed one by one") {
  const auto gang = [] {
    return job("x/j").role("worker", 2, gpus(8)).role("ps", 1, cpus(100)).required("rack");
  };
  // Each rack has one whole node left.
  CHECK(said(eightNodes()
                 .add(filler("n0", 1))
                 .add(filler("n2", 1))
                 .add(filler("n4", 1))
                 .add(filler("n6", 1))
                 .add(gang())) ==
        "WaitingForTopology: needs capacity for 2 worker members with 8 nvidia.com/gpu each and 1 ps member "
        "with 100 cpu "
        "in one rack; "
        "best rack z/b1/r0 can hold 1 and 1, the whole cluster can hold all");
}

TEST_CASE("shortfall carries the numbers for programs") {
  const model::Snapshot snapshot = eightNodes()
                                       .add(filler("n0", 1))
                                       .add(filler("n2", 1))
                                       .add(filler("n4", 1))
                                       .add(filler("n6", 1))
                                       .add(job("x/j").role("worker", 2, gpus(8)).required("rack"));
  const auto shortfall = pendingIn(snapshot, "x/j").shortfall.value();
  CHECK(shortfall.resource == "nvidia.com/gpu");
  CHECK(shortfall.needed == 16);
  CHECK(shortfall.available == 15);  // 7 + 8
  CHECK(shortfall.neededNodes == 2);
  CHECK(shortfall.availableNodes == 1);
  CHECK(shortfall.level == "rack");
  CHECK(shortfall.domain == "z/b1/r0");
}

TEST_CASE("blockers: the jobs that hold most of what is missing in the best domain") {
  const model::Job bert = job("vision/bert")
                              .role("worker", 4, gpus(4))
                              .placed("n0", "worker", "0")
                              .placed("n2", "worker", "1-2")
                              .placed("n4", "worker", "3");
  const model::Snapshot snapshot =
      eightNodes()
          .add(bert)
          .add(job("ml/gpt").role("worker", 1, gpus(2)).placed("n0", "worker", "0"))
          .add(job("x/j").role("worker", 8, gpus(8)));
  const model::Pending pending = pendingIn(snapshot, "x/j");
  CHECK(pending.message ==
        "needs 8 nodes with 8 nvidia.com/gpu each; the cluster has 5; blocked by vision/bert (3 nodes) and "
        "ml/gpt (1 node)");
  REQUIRE(pending.blockedBy.size() == 2);
  CHECK(pending.blockedBy[0] == model::Blocker{key("vision/bert"), 3, 16});
  CHECK(pending.blockedBy[1] == model::Blocker{key("ml/gpt"), 1, 2});
}

TEST_CASE("blockers: only those in the best domain") {
  // r1 has a free node, the others have none: ml/near holds the other node of r1.
  const auto holder = [](std::string_view name, std::initializer_list<std::string_view> nodes) {
    JobBuilder builder = job(name).role("worker", static_cast<int>(nodes.size()), gpus(8));
    int index = 0;
    for (const auto& each : nodes) builder.placed(each, "worker", fmt::to_string(index++));
    return builder;
  };
  const model::Snapshot snapshot = eightNodes()
                                       .add(holder("ml/far", {"n0", "n1", "n4", "n5", "n6", "n7"}))
                                       .add(holder("ml/near", {"n2"}))
                                       .add(job("x/j").role("worker", 2, gpus(8)).required("rack"));
  CHECK(pendingIn(snapshot, "x/j").message ==
        "needs 2 nodes with 8 nvidia.com/gpu each in one rack; best rack z/b1/r1 has 1; blocked by ml/near "
        "(1 node)");
}

// Three zones of two nodes, and one of one: the last block of a cluster is rarely complete.
SnapshotBuilder partialLastZone() {
  SnapshotBuilder builder = cluster();
  for (int i = 0; i < 7; ++i)
    builder.add(node(fmt::format("n{}", i)).zone(fmt::format("z{}", i / 2)).block("b").rack("r").gpus(8));
  return builder;
}

TEST_CASE("a domain that can never hold the gang is not the best one and its jobs block nothing") {
  const auto holder = [](std::string_view name, int first, int nodes) {
    JobBuilder builder = job(name).role("worker", nodes, gpus(8));
    for (int i = 0; i < nodes; ++i)
      builder.placed(fmt::format("n{}", first + i), "worker", fmt::to_string(i));
    return builder;
  };
  SnapshotBuilder builder =
      partialLastZone().add(holder("ml/zero", 0, 2)).add(holder("ml/one", 2, 2)).add(holder("ml/two", 4, 1));
  SECTION("all of its nodes are free") {
    CHECK(pendingIn(builder.add(filler("n5", 8)).add(job("x/j").role("worker", 2, gpus(8)).required("zone")),
                    "x/j")
              .message ==
          "needs 2 nodes with 8 nvidia.com/gpu each in one zone; best zone z0 has 0; blocked by ml/zero (2 "
          "nodes)");
  }
  SECTION("it is held by a job") {
    const model::Pending pending = pendingIn(
        builder.add(holder("ml/three", 6, 1)).add(job("x/j").role("worker", 2, gpus(8)).required("zone")),
        "x/j");
    CHECK(pending.message ==
          "needs 2 nodes with 8 nvidia.com/gpu each in one zone; best zone z2 has 1; blocked by ml/two (1 "
          "node)");
    CHECK(pending.shortfall->domain == "z2");
  }
  SECTION("the gang has several kinds of members") {
    CHECK(
        pendingIn(
            builder.add(filler("n5", 8))
                .add(job("x/j").role("worker", 1, gpus(8)).role("ps", 1, requests(4, 100)).required("zone")),
            "x/j")
            .shortfall->domain != "z3");
  }
}

TEST_CASE("nodes that are closed or too small for one member have no blockers") {
  const auto on = [](std::string_view name, std::string_view nodeName, int count) {
    return job(name).role("worker", 1, gpus(count)).placed(nodeName, "worker", "0");
  };
  CHECK(pendingIn(cluster()
                      .add(node("big1").gpus(8))
                      .add(node("big2").gpus(8))
                      .add(node("closed").gpus(8).cordoned())
                      .add(node("small").gpus(4))
                      .add(on("ml/a", "small", 4))
                      .add(on("ml/b", "closed", 8))
                      .add(on("ml/c", "big1", 2))
                      .add(job("x/j").role("worker", 2, gpus(8))),
                  "x/j")
            .message ==
        "needs 2 nodes with 8 nvidia.com/gpu each; the cluster has 1; blocked by ml/c (1 node)");
  CHECK(pendingIn(cluster()
                      .add(node("big").gpus(8))
                      .add(node("small").gpus(4))
                      .add(on("ml/c", "big", 7))
                      .add(job("x/j").role("worker", 1, gpus(8))),
                  "x/j")
            .message == "needs 1 node with 8 nvidia.com/gpu; best node big has 1; blocked by ml/c (1 node)");
}

TEST_CASE("a level that no domain can satisfy is reported without blockers") {
  const model::Snapshot snapshot =
      eightNodes()
          .add(job("ml/a").role("worker", 1, gpus(8)).placed("n0", "worker", "0"))
          .add(job("x/j").role("worker", 4, gpus(8)));
  const Ledger ledger(snapshot);
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  PlaceRequest request = wholeGang(jobIn(snapshot, "x/j"));
  request.widest = domains.findLevel("rack").value();
  const PlacementFailure failure = std::get<PlacementFailure>(place(request, ledger, domains));
  CHECK(failure.message ==
        "needs 4 nodes with 8 nvidia.com/gpu each in one rack; no rack can hold that: the largest, z/b1/r0, "
        "has 2 even when empty, the whole cluster has 7");
  CHECK(failure.blockers.jobs.empty());
}

TEST_CASE("a job that is too large reports less usable capacity than it needs") {
  const auto shortfall =
      pendingIn(eightNodes().add(job("x/j").role("worker", 1, gpus(64))), "x/j").shortfall.value();
  CHECK(shortfall.needed == 64);
  CHECK(shortfall.available < 64);
}

TEST_CASE("blockers: at most three are named and foreign pods are counted") {
  SnapshotBuilder builder = eightNodes();
  for (int i = 0; i < 5; ++i) {
    builder.add(job(fmt::format("ml/j{}", i))
                    .role("worker", 1, gpus(8 - i))
                    .placed(fmt::format("n{}", i), "worker", "0"));
  }
  SECTION("one foreign pod") {
    builder.add(pod("s/notebook").on("n6").gpus(1));
    CHECK(pendingIn(builder.add(job("x/j").role("worker", 8, gpus(8))), "x/j").message ==
          "needs 8 nodes with 8 nvidia.com/gpu each; the cluster has 2; blocked by ml/j0 (1 node), ml/j1 (1 "
          "node), ml/j2 "
          "(1 node), 2 more jobs and pod s/notebook (1 node)");
  }
  SECTION("several; DaemonSets are part of the node") {
    builder.add(pod("s/a").on("n6").gpus(1))
        .add(pod("s/b").on("n6").gpus(1))
        .add(pod("s/d").on("n7").gpus(1).ownedBy("DaemonSet", "d"));
    const model::Pending pending = pendingIn(builder.add(job("x/j").role("worker", 8, gpus(8))), "x/j");
    CHECK(pending.message ==
          "needs 8 nodes with 8 nvidia.com/gpu each; the cluster has 1; blocked by ml/j0 (1 node), ml/j1 (1 "
          "node), ml/j2 "
          "(1 node), 2 more jobs and 2 pods of no TrainingJob, such as s/a (1 node)");
    CHECK(pending.blockedBy.size() == 3);
  }
}

TEST_CASE("a job is not blocked by itself") {
  const model::Job self = job("x/j").role("worker", 8, gpus(8));
  CHECK(pendingIn(eightNodes().add(self).add(pod("").memberOf(self, "worker", 0, 7).on("n0").terminating()),
                  "x/j")
            .message == "needs 8 nodes with 8 nvidia.com/gpu each; the cluster has 7");
}

TEST_CASE("jobs behind the first one report what it needs") {
  const model::Snapshot snapshot =
      eightNodes().add(filler("n0", 1)).add(job("vision/bert").role("worker", 8, gpus(8)));
  const model::Pending head = pendingIn(snapshot, "vision/bert");
  const model::Pending turn = explainPosition(jobIn(snapshot, "vision/bert"), head);
  CHECK(turn.reason == model::PendingReason::kWaitingForTurn);
  CHECK(turn.message == "behind vision/bert, which needs 8 nodes with 8 nvidia.com/gpu each");
  REQUIRE(turn.blockedBy.size() == 1);
  CHECK(turn.blockedBy[0].job == key("vision/bert"));
}

TEST_CASE("order: priority and then age and then name") {
  const model::Snapshot snapshot = cluster()
                                       .priorityClass("high", 1000)
                                       .priorityClass("low", -10)
                                       .add(job("b/young").created(20))
                                       .add(job("a/old").created(10))
                                       .add(job("c/urgent").created(30).priority("high"))
                                       .add(job("a/lazy").created(1).priority("low"))
                                       .add(job("b/old").created(10))
                                       .add(job("a/ghost").created(15).priority("deleted"));
  const QueueTree tree(snapshot);
  const Priorities priorities(snapshot);
  LiveRuns live;
  RunTimeModel forecast(snapshot, live);
  std::vector<SchedulableJob> jobs;
  for (const auto& each : snapshot.jobs) jobs.push_back({each});
  std::reverse(jobs.begin(), jobs.end());
  const Amounts demand = demandOf(tree.capacity(), *jobs.front().job);  // all jobs are equal
  std::vector<PendingJob> pendingJobs;
  for (const SchedulableJob& each : jobs) {
    const int priority = priorities.of(*each.job);
    pendingJobs.push_back({&each, priority, *tree.find(each.job->spec.queue), demand,
                           queuePositionOf(*each.job, priority, snapshot, forecast)});
  }
  PendingOrder order(tree, pendingJobs);
  std::string names;
  while (const PendingJob* next = order.next()) names += fmt::format("{} ", next->waiting->job->key);
  CHECK(names == "c/urgent a/old b/old a/ghost b/young a/lazy ");
}

TEST_CASE("order: the cluster's default class serves jobs without one") {
  const model::Snapshot snapshot =
      cluster().priorityClass("normal", 50, true).priorityClass("other", 70).add(job("a/j"));
  CHECK(Priorities(snapshot).of(jobIn(snapshot, "a/j")) == 50);
}
