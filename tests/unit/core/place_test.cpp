#include "core/place/place.h"

#include <catch2/catch.hpp>

#include "core/place/packer.h"
#include "core/place/problem.h"
#include "support/placing.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

// Racks of one block, each with nodes of 8 GPUs named RACKnI.
SnapshotBuilder racks(const std::vector<std::pair<std::string, int>>& sizes) {
  SnapshotBuilder builder = cluster();
  for (const auto& [rack, size] : sizes) {
    for (int i = 0; i < size; ++i) {
      builder.add(node(fmt::format("{}n{}", rack, i)).zone("z").block("b").rack(rack).gpus(8));
    }
  }
  return builder;
}

model::Pod filler(std::string_view nodeName, std::int64_t gpuCount) {
  return pod(fmt::format("filler/{}", nodeName)).on(nodeName).gpus(gpuCount);
}

}  // namespace

TEST_CASE("the tightest level that holds the gang wins") {
  CHECK(outcomeIn(racks({{"r1", 2}, {"r2", 2}}).add(job("x/j").role("worker", 4, gpus(2))), "x/j") ==
        "node z/b/r1/r1n0: r1n0:worker:0-3");
  CHECK(outcomeIn(racks({{"r1", 2}, {"r2", 2}}).add(job("x/j").role("worker", 2, gpus(8))), "x/j") ==
        "rack z/b/r1: r1n0:worker:0 r1n1:worker:1");
  CHECK(outcomeIn(racks({{"r1", 2}, {"r2", 2}}).add(job("x/j").role("worker", 3, gpus(8))), "x/j") ==
        "block z/b: r1n0:worker:0 r1n1:worker:1 r2n0:worker:2");
}

TEST_CASE("members with the same host port share no node and use none where another pod has it") {
  model::Resources wanted = gpus(1);
  wanted.setExtended("host port 8080/TCP", 1);
  model::Resources other = gpus(1);
  other.setExtended("host port 8081/TCP", 1);
  const auto scene = [] { return racks({{"r1", 3}}); };
  CHECK(outcomeIn(scene().add(job("x/j").role("worker", 2, wanted)), "x/j") ==
        "rack z/b/r1: r1n0:worker:0 r1n1:worker:1");
  CHECK(outcomeIn(scene().add(job("x/j").role("worker", 1, wanted).role("ps", 1, other)), "x/j") ==
        "node z/b/r1/r1n0: r1n0:worker:0 r1n0:ps:0");
  CHECK(outcomeIn(
            scene().add(pod("x/web").on("r1n0").requests(wanted)).add(job("x/j").role("worker", 1, wanted)),
            "x/j") == "node z/b/r1/r1n1: r1n1:worker:0");
  // A reserved node counts as one with a pod.
  CHECK(outcomeIn(scene()
                      .add(job("x/a").role("worker", 1, wanted).proposes("r1n0", "worker", "0"))
                      .add(job("x/j").role("worker", 1, wanted)),
                  "x/j") == "node z/b/r1/r1n1: r1n1:worker:0");
  const std::string none = outcomeIn(scene().add(job("x/j").role("worker", 4, wanted)), "x/j");
  CHECK_THAT(none, Catch::Contains("host port 8080/TCP"));
}

TEST_CASE("without labels the whole cluster is the only domain above the node") {
  CHECK(outcomeIn(cluster()
                      .add(node("n1").gpus(8))
                      .add(node("n2").gpus(8))
                      .add(job("x/j").role("worker", 2, gpus(8))),
                  "x/j") == "cluster: n1:worker:0 n2:worker:1");
}

TEST_CASE("the rack with the fewest free GPUs afterwards is chosen") {
  // Free: r1 24, r2 16, r3 20. 16 are needed: r2 is used completely, the others stay whole.
  CHECK(outcomeIn(racks({{"r1", 3}, {"r2", 2}, {"r3", 3}})
                      .add(filler("r3n2", 4))
                      .add(job("x/j").role("worker", 2, gpus(8))),
                  "x/j") == "rack z/b/r2: r2n0:worker:0 r2n1:worker:1");
}

TEST_CASE("among racks with as much free capacity the one with more in use is chosen") {
  // Free GPUs: r1 16 of 16, r2 16 of 24. Afterwards both have none; r2 was in use before, r1 stays whole.
  CHECK(outcomeIn(
            racks({{"r1", 2}, {"r2", 3}}).add(filler("r2n0", 8)).add(job("x/j").role("worker", 2, gpus(8))),
            "x/j") == "rack z/b/r2: r2n1:worker:0 r2n2:worker:1");
}

TEST_CASE("capacity on closed nodes does not make a rack emptier") {
  // r1 has 24 free, 8 of them cordoned: 16 count, as in r2. Then neither has more GPUs in use, and the path
  // decides. r2 has 20: without the rule r2 would be the fuller one.
  CHECK(outcomeIn(racks({{"r2", 2}})
                      .add(node("r1n0").zone("z").block("b").rack("r1").gpus(8))
                      .add(node("r1n1").zone("z").block("b").rack("r1").gpus(8))
                      .add(node("r1n2").zone("z").block("b").rack("r1").gpus(8).cordoned())
                      .add(node("r2n2").zone("z").block("b").rack("r2").gpus(4))
                      .add(job("x/j").role("worker", 2, gpus(8))),
                  "x/j") == "rack z/b/r1: r1n0:worker:0 r1n1:worker:1");
}

TEST_CASE("the fullest node that still fits takes a small gang") {
  CHECK(outcomeIn(racks({{"r1", 3}})
                      .add(filler("r1n1", 6))
                      .add(filler("r1n2", 4))
                      .add(job("x/j").role("worker", 1, gpus(2))),
                  "x/j") == "node z/b/r1/r1n1: r1n1:worker:0");
}

TEST_CASE("inside a rack a gang uses as few nodes as possible and the remainder the fullest") {
  // Capacity for members of 2 GPUs: n0 4, n1 2, n2 1, n3 4. Of six members, n0 takes 4 (n3 would do as well,
  // but n0 is first by name); the other 2 fit n1 exactly.
  CHECK(outcomeIn(racks({{"r1", 4}})
                      .add(filler("r1n1", 4))
                      .add(filler("r1n2", 6))
                      .add(job("x/j").role("worker", 6, gpus(2))),
                  "x/j") == "rack z/b/r1: r1n0:worker:0-3 r1n1:worker:4-5");
}

TEST_CASE("among equally suitable nodes the fullest is first") {
  // Members of 3 GPUs: every node takes 2; n2 has 6 free, the others 8.
  CHECK(outcomeIn(racks({{"r1", 3}}).add(filler("r1n2", 2)).add(job("x/j").role("worker", 4, gpus(3))),
                  "x/j") == "rack z/b/r1: r1n0:worker:0-1 r1n2:worker:2-3");
}

TEST_CASE("inside a block a gang uses as few racks as possible") {
  // Racks with 2, 1, 1, 3 free nodes; 5 needed: r4 (3) and r1 (2).
  CHECK(outcomeIn(
            racks({{"r1", 2}, {"r2", 1}, {"r3", 1}, {"r4", 3}}).add(job("x/j").role("worker", 5, gpus(8))),
            "x/j") == "block z/b: r1n0:worker:0 r1n1:worker:1 r4n0:worker:2 r4n1:worker:3 r4n2:worker:4");
}

TEST_CASE("the remainder goes where it fits tightest") {
  // r1 takes 3 of 5; the other 2 fit into r3 exactly, r2 stays whole.
  CHECK(
      outcomeIn(racks({{"r1", 3}, {"r2", 3}, {"r3", 2}}).add(job("x/j").role("worker", 5, gpus(8))), "x/j") ==
      "block z/b: r1n0:worker:0 r1n1:worker:1 r1n2:worker:2 r3n0:worker:3 r3n1:worker:4");
}

TEST_CASE("neighbours in rank are neighbours in the network") {
  const model::Snapshot snapshot = cluster()
                                       .add(node("a").rack("r2").gpus(8))
                                       .add(node("b").rack("r1").gpus(8))
                                       .add(node("c").rack("r2").gpus(8))
                                       .add(node("d").rack("r1").gpus(8))
                                       .add(job("x/j").role("worker", 4, gpus(8)));
  CHECK(outcomeIn(snapshot, "x/j") == "cluster: b:worker:0 d:worker:1 a:worker:2 c:worker:3");
}

TEST_CASE("closed and avoided nodes are left out") {
  const auto three = [] { return racks({{"r1", 3}}); };
  CHECK(outcomeIn(three()
                      .add(node("r1n9").zone("z").block("b").rack("r1").gpus(8).cordoned())
                      .add(job("x/j").role("worker", 3, gpus(8))),
                  "x/j") == "rack z/b/r1: r1n0:worker:0 r1n1:worker:1 r1n2:worker:2");
  const model::Snapshot snapshot = three().add(job("x/j").role("worker", 2, gpus(8)));
  PlaceRequest request = wholeGang(jobIn(snapshot, "x/j"));
  request.avoidNodes = {model::NodeName("r1n0"), model::NodeName("gone")};
  CHECK(outcomeText(place(request, Ledger(snapshot), snapshot.policy.topology)) ==
        "rack z/b/r1: r1n1:worker:0 r1n2:worker:1");
}

TEST_CASE("part of a gang can be placed by itself") {
  const model::Snapshot snapshot = racks({{"r1", 2}}).add(job("x/j").role("worker", 8, gpus(2)));
  PlaceRequest request = wholeGang(jobIn(snapshot, "x/j"));
  request.groups[0].indices = model::IndexSet({3, 5, 7, 9, 11});
  CHECK(outcomeText(place(request, Ledger(snapshot), snapshot.policy.topology)) ==
        "rack z/b/r1: r1n0:worker:3,5,7,9 r1n1:worker:11");
}

TEST_CASE("a gang without members needs no node") {
  const model::Snapshot snapshot = racks({{"r1", 1}}).add(job("x/j").role("worker", 0, gpus(2)));
  CHECK(outcomeIn(snapshot, "x/j") == "cluster: ");
}

TEST_CASE("a required level keeps the gang inside one domain of that level") {
  const auto twoRacks = [] { return racks({{"r1", 2}, {"r2", 2}}); };
  CHECK(outcomeIn(twoRacks().add(job("x/j").role("worker", 2, gpus(8)).required("rack")), "x/j") ==
        "rack z/b/r1: r1n0:worker:0 r1n1:worker:1");
  CHECK(outcomeIn(twoRacks()
                      .add(filler("r1n0", 1))
                      .add(filler("r2n0", 1))
                      .add(job("x/j").role("worker", 2, gpus(8)).required("rack")),
                  "x/j") ==
        "WaitingForTopology: needs 2 nodes with 8 nvidia.com/gpu each in one rack; best rack z/b/r1 has 1, "
        "the whole "
        "cluster has 2");
  CHECK(outcomeIn(twoRacks().add(job("x/j").role("worker", 8, gpus(1)).required("node")), "x/j") ==
        "node z/b/r1/r1n0: r1n0:worker:0-7");
}

TEST_CASE("equal roles share the nodes in the order of the roles") {
  CHECK(outcomeIn(racks({{"r1", 3}}).add(job("x/j").role("chief", 1, gpus(8)).role("worker", 2, gpus(8))),
                  "x/j") == "rack z/b/r1: r1n0:chief:0 r1n1:worker:0 r1n2:worker:1");
}

TEST_CASE("members without GPUs stay away from free GPUs") {
  CHECK(outcomeIn(racks({{"r1", 2}})
                      .add(node("cpu1").zone("z").block("b").rack("r1"))
                      .add(job("x/j").role("worker", 2, gpus(8)).role("ps", 2, cpus(16))),
                  "x/j") == "rack z/b/r1: r1n0:worker:0 r1n1:worker:1 cpu1:ps:0-1");
}

TEST_CASE("CPU members take what GPU members leave on their nodes") {
  // A node has 128 cpu; a worker takes 8 GPUs and 96 cpu, which leaves 32: one server of 20 cpu per node.
  const auto gang = [](int servers) {
    return racks({{"r1", 2}})
        .add(job("x/j").role("worker", 2, requests(8, 96)).role("ps", servers, cpus(20)).required("rack"));
  };
  CHECK(outcomeIn(gang(2), "x/j") == "rack z/b/r1: r1n0:worker:0 r1n1:worker:1 r1n0:ps:0 r1n1:ps:1");
  // Three servers of 20: 2 x 32 = 64 cpu would suffice in sum, but only one fits beside each worker.
  CHECK(outcomeIn(gang(3), "x/j").substr(0, 8) == "TooLarge");
}

TEST_CASE("GPU members leave capacity for CPU members that fit nowhere else") {
  // One node with 128 cpu, one with 64. Workers: 2 GPUs, 16 cpu; one server of 120 cpu. If workers filled the
  // first node, the server would not fit: all four workers must share the second, 4 x 16 = 64.
  const model::Snapshot snapshot =
      cluster()
          .add(node("n1").rack("r").gpus(8).cpu(128))
          .add(node("n2").rack("r").gpus(8).cpu(64))
          .add(job("x/j").role("worker", 4, requests(2, 16)).role("ps", 1, cpus(120)));
  CHECK(outcomeIn(snapshot, "x/j") == "rack r: n2:worker:0-3 n1:ps:0");
}

TEST_CASE("several kinds are combined exactly where every greedy order fails") {
  // n1: 2 GPUs, 6 cpu; n2: 2 GPUs, 7 cpu. Three workers of 1 GPU and 2 cpu, two servers of 3 cpu: 12 of 13
  // cpu. Both servers on n1 (6 cpu) leave three workers for the 2 GPUs of n2. With one server on each, n2
  // takes two workers beside its server (4 + 3 = 7), and n1 the third (2 + 3 = 5). No other combination fits;
  // two workers on n1 leave 2 cpu there.
  const model::Snapshot snapshot =
      cluster()
          .add(node("n1").rack("r").gpus(2).cpu(6))
          .add(node("n2").rack("r").gpus(2).cpu(7))
          .add(job("x/j").role("worker", 3, requests(1, 2)).role("ps", 2, cpus(3)));
  CHECK(outcomeIn(snapshot, "x/j") == "rack r: n1:worker:0 n2:worker:1-2 n1:ps:0 n2:ps:1");

  const Ledger ledger(snapshot);
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  const PlaceRequest request = wholeGang(jobIn(snapshot, "x/j"));
  const PlaceProblem problem(request, ledger, domains, PlaceProblem::Capacity::kFree);
  Packer greedy(problem);
  greedy.setExactBudget(0);
  CHECK_FALSE(greedy.packAtLevel(0));
}

TEST_CASE("resources other than GPUs decide as well") {
  const auto tight = [] {
    return cluster().add(node("n1").rack("r").gpus(8).cpu(10)).add(node("n2").rack("r").gpus(8).cpu(20));
  };
  // By cpu, n1 takes one member and n2 two.
  CHECK(outcomeIn(tight().add(job("x/j").role("worker", 3, requests(1, 10))), "x/j") ==
        "rack r: n1:worker:0 n2:worker:1-2");
  CHECK(outcomeIn(cluster().add(node("n1").gpus(8).pods(2)).add(job("x/j").role("worker", 3, gpus(1))),
                  "x/j") ==
        "TooLarge: needs capacity for 3 members with 1 nvidia.com/gpu and 1 pod slot each; the cluster can "
        "hold 2 even "
        "when empty");
}

TEST_CASE("the cached tree gives the same answers") {
  const model::Snapshot snapshot = racks({{"r1", 2}, {"r2", 2}}).add(job("x/j").role("worker", 3, gpus(8)));
  const Ledger ledger(snapshot);
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  const PlaceRequest request = wholeGang(jobIn(snapshot, "x/j"));
  CHECK(outcomeText(place(request, ledger, domains)) ==
        outcomeText(place(request, ledger, snapshot.policy.topology)));
}
