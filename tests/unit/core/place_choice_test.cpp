// Which of several equivalent placements is chosen: by job mix, by shape costs, by the present gangs.
#include <catch2/catch.hpp>

#include "core/place/fragmentation.h"
#include "core/place/place.h"
#include "core/place/shape_cost.h"
#include "support/placing.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

struct Guides {
  std::vector<TaskShape> mix;
  std::vector<model::ShapeCost> costs;
};

std::string placedBy(const model::Snapshot& snapshot, const Guides& guides) {
  const Ledger ledger(snapshot);
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  PlaceRequest request = wholeGang(jobIn(snapshot, "x/j"));
  JobMix mix;
  for (const TaskShape& task : guides.mix) mix.add(task, task.devices);
  if (!guides.mix.empty()) request.mix = &mix;
  if (!guides.costs.empty()) request.shapeCosts = &guides.costs;
  return outcomeText(place(request, ledger, domains));
}

TaskShape task(std::int64_t gpuCount, std::int64_t cores) {
  return {cores * 1000, 0, gpuCount, kWholeDevice, 0};
}

// One rack: n0 … with 8 GPUs each, of which this many are free.
SnapshotBuilder rack(const std::vector<int>& freeGpus) {
  SnapshotBuilder builder = cluster();
  for (std::size_t i = 0; i < freeGpus.size(); ++i) {
    const std::string name = fmt::format("n{}", i);
    builder.add(node(name).zone("z").rack("r").gpus(8));
    if (freeGpus[i] < 8) builder.add(pod("filler/" + name).on(name).gpus(8 - freeGpus[i]));
  }
  return builder;
}

// From measured step times of four T4 nodes: BERT on 1, 2+2 and 1+1+1+1 GPUs.
const std::vector<model::ShapeCost> kSlowNetwork = {{2, 2, 3650}, {4, 1, 2230}};

}  // namespace

TEST_CASE("shape choices are the table's shapes of this gang in order of their cost") {
  CHECK(shapeChoices(kSlowNetwork, 1, 4) ==
        std::vector<ShapeChoice>{{1, 4, 1000}, {4, 1, 2230}, {2, 2, 3650}});
  // Members of two GPUs cannot be placed one GPU at a time.
  CHECK(shapeChoices(kSlowNetwork, 2, 2) == std::vector<ShapeChoice>{{1, 2, 1000}, {2, 1, 3650}});
  CHECK(shapeChoices(kSlowNetwork, 1, 8).empty());
  CHECK(shapeChoices(kSlowNetwork, 8, 2).empty());
  CHECK(shapeChoices(kSlowNetwork, 0, 4).empty());
  CHECK(shapeChoices({}, 1, 4).empty());
  CHECK(shapeChoices({{0, 4, 1}, {-1, 4, 1}, {1, 0, 1}}, 1, 4).empty());
  CHECK(shapeChoices({{1, 4, 1200}, {2, 2, 1100}}, 1, 4) ==
        std::vector<ShapeChoice>{{2, 2, 1100}, {1, 4, 1200}});
}

TEST_CASE("the cheapest shape is chosen even if it has more nodes") {
  const model::Job four = job("x/j").role("worker", 4, gpus(1));
  CHECK(placedBy(rack({2, 2, 2, 2}).add(four), {}) == "rack z/r: n0:worker:0-1 n1:worker:2-3");
  CHECK(placedBy(rack({2, 2, 2, 2}).add(four), {{}, kSlowNetwork}) ==
        "rack z/r: n0:worker:0 n1:worker:1 n2:worker:2 n3:worker:3");
  // One node is still cheaper.
  CHECK(placedBy(rack({2, 2, 8, 2}).add(four), {{}, kSlowNetwork}) == "node z/r/n2: n2:worker:0-3");
  // Only three nodes: the cheapest shape is impossible.
  CHECK(placedBy(rack({2, 3, 2}).add(four), {{}, kSlowNetwork}) == "rack z/r: n0:worker:0-1 n2:worker:2-3");
  // No listed shape is possible: any placement is accepted.
  CHECK(placedBy(rack({3, 1, 0}).add(four), {{}, kSlowNetwork}) == "rack z/r: n0:worker:0-2 n1:worker:3");
  // The table has no entry for this gang.
  CHECK(placedBy(rack({2, 2, 2, 2}).add(job("x/j").role("worker", 3, gpus(1))), {{}, kSlowNetwork}) ==
        "rack z/r: n0:worker:0-1 n1:worker:2");
}

TEST_CASE("the cheapest shape ignores roles without GPUs and does not bind two kinds of GPU members") {
  const model::Job withServer = job("x/j").role("worker", 4, gpus(1)).role("ps", 2, requests(0, 4));
  const std::string placed = placedBy(rack({2, 2, 2, 2}).add(withServer), {{}, kSlowNetwork});
  CHECK(placed.find("n0:worker:0 n1:worker:1 n2:worker:2 n3:worker:3") != std::string::npos);
  const model::Job twoKinds = job("x/j").role("worker", 2, gpus(2)).role("chief", 2, gpus(1));
  CHECK(placedBy(rack({2, 2, 2, 2}).add(twoKinds), {{}, kSlowNetwork}) ==
        placedBy(rack({2, 2, 2, 2}).add(twoKinds), {}));
}

TEST_CASE("a job mix sends small jobs to partly used nodes and cpu jobs to nodes with cpu to spare") {
  const model::Job one = job("x/j").role("worker", 1, requests(1, 1));
  // By free GPUs alone n1, with 2 free. But pairs are requested, and n0 has one GPU to spare.
  CHECK(placedBy(rack({3, 2}).add(one), {}) == "node z/r/n1: n1:worker:0");
  CHECK(placedBy(rack({3, 2}).add(one), {{task(2, 1)}, {}}) == "node z/r/n0: n0:worker:0");
  // A whole node is used last.
  CHECK(placedBy(rack({8, 5}).add(one), {{task(1, 1), task(8, 1)}, {}}) == "node z/r/n1: n1:worker:0");
  // A job without GPUs that would take cpu which the GPUs need: n1 has cpu to spare.
  SnapshotBuilder poor = cluster();
  poor.add(node("n0").zone("z").rack("r").gpus(4).cpu(8)).add(node("n1").zone("z").rack("r").gpus(4).cpu(32));
  const model::Job hungry = job("x/j").role("worker", 1, requests(0, 6));
  CHECK(placedBy(poor.add(hungry), {}) == "node z/r/n0: n0:worker:0");
  CHECK(placedBy(poor, {{task(1, 4)}, {}}) == "node z/r/n1: n1:worker:0");
}

TEST_CASE("the remainder of a gang goes where it fragments least") {
  // Two whole nodes are filled; the last two GPUs fit n2 exactly, or leave n3 unusable for members of four.
  const model::Job ten = job("x/j").role("worker", 5, gpus(2));
  CHECK(placedBy(rack({4, 4, 2, 4}).add(ten), {{task(4, 1)}, {}}) ==
        "rack z/r: n0:worker:0-1 n1:worker:2-3 n2:worker:4");
}

TEST_CASE("two gangs that need the network get separate nodes where that costs nothing") {
  // There are four half-free nodes: n0 and n1 have a gang of two nodes, n2 and n3 single-pod jobs.
  SnapshotBuilder builder = cluster();
  for (int i = 0; i < 4; ++i) builder.add(node(fmt::format("n{}", i)).zone("z").rack("r").gpus(8));
  builder.add(
      job("x/spread").role("worker", 2, gpus(4)).placed("n0", "worker", "0").placed("n1", "worker", "1"));
  builder.add(job("x/s2").role("worker", 1, gpus(4)).placed("n2", "worker", "0"));
  builder.add(job("x/s3").role("worker", 1, gpus(4)).placed("n3", "worker", "0"));
  const model::Job pair = job("x/j").role("worker", 2, gpus(4));
  CHECK(placedBy(builder.add(pair), {}) == "rack z/r: n2:worker:0 n3:worker:1");
}

TEST_CASE("free GPUs decide for a gang of one node and where separation would cost another node") {
  SnapshotBuilder builder = cluster();
  for (int i = 0; i < 3; ++i) builder.add(node(fmt::format("n{}", i)).zone("z").rack("r").gpus(8));
  builder.add(
      job("x/spread").role("worker", 2, gpus(4)).placed("n0", "worker", "0").placed("n1", "worker", "1"));
  CHECK(placedBy(SnapshotBuilder(builder).add(job("x/j").role("worker", 1, gpus(4))), {}) ==
        "node z/r/n0: n0:worker:0");
  // No further node is opened for the third member either.
  CHECK(placedBy(SnapshotBuilder(builder).add(job("x/j").role("worker", 3, gpus(4))), {}) ==
        "rack z/r: n0:worker:0 n2:worker:1-2");
}

TEST_CASE("nodes that a member prefers to avoid are used where nothing else is equally close") {
  const auto two = [](auto change) {
    model::Job gang = job("x/j").role("worker", 2, gpus(8));
    change(gang.spec.roles[0].shape);
    return gang;
  };
  const auto as = [](model::PodShape&) {};
  const auto tainted = [](std::string_view name, std::string_view rack) {
    return node(name).gpus(8).zone("z").rack(rack).taint("old", "", model::TaintEffect::kPreferNoSchedule);
  };
  const auto plain = [](std::string_view name, std::string_view rack) {
    return node(name).gpus(8).zone("z").rack(rack);
  };
  SECTION("a taint PreferNoSchedule") {
    SnapshotBuilder builder = cluster();
    builder.add(tainted("n0", "r")).add(plain("n1", "r")).add(plain("n2", "r"));
    CHECK(outcomeIn(builder.add(two(as)), "x/j") == "rack z/r: n1:worker:0 n2:worker:1");
  }
  SECTION("which a member tolerates does not count") {
    SnapshotBuilder builder = cluster();
    builder.add(tainted("n0", "r")).add(plain("n1", "r")).add(plain("n2", "r"));
    const auto tolerates = [](model::PodShape& shape) {
      shape.tolerations.push_back({.key = "old", .value = "", .exists = true});
    };
    CHECK(outcomeIn(builder.add(two(tolerates)), "x/j") == "rack z/r: n0:worker:0 n1:worker:1");
  }
  SECTION("as few of them as possible") {
    SnapshotBuilder builder = cluster();
    builder.add(tainted("n0", "r")).add(tainted("n1", "r")).add(plain("n2", "r"));
    CHECK(outcomeIn(builder.add(two(as)), "x/j") == "rack z/r: n0:worker:0 n2:worker:1");
  }
  SECTION("closeness comes first") {
    SnapshotBuilder builder = cluster();
    builder.add(tainted("n0", "r")).add(tainted("n1", "r")).add(plain("n2", "q")).add(plain("n3", "s"));
    const std::string outcome = outcomeIn(builder.add(two(as)), "x/j");
    CHECK(outcome.find("n0:worker:0 n1:worker:1") != std::string::npos);
  }
  SECTION("preferred node affinity") {
    SnapshotBuilder builder = cluster();
    builder.add(plain("n0", "q")).add(plain("n1", "q")).add(plain("n2", "r").label("disk", "ssd"));
    builder.add(plain("n3", "r").label("disk", "ssd"));
    const auto prefers = [](model::PodShape& shape) {
      shape.preferred = {{{{"disk", model::SelectorOperator::kIn, {"ssd"}}}, {}}};
    };
    const std::string outcome = outcomeIn(builder.add(two(prefers)), "x/j");
    CHECK(outcome.find("n2:worker:0 n3:worker:1") != std::string::npos);
  }
}
