#include "core/place/relaxation.h"

#include <limits>

#include <catch2/catch.hpp>

#include "support/placing.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test
using namespace std::chrono_literals;

namespace {

model::RelaxationPolicy policy() { return {60s, 5s, 50, 3600s}; }

// Formats "0 node, 60 rack, 660 block": seconds, and the widest level from then on.
std::string stepsText(const RelaxationInput& input, const Domains& domains = binaryDomains()) {
  std::string text;
  for (const RelaxationStep& step : relaxationSteps(input, policy(), domains)) {
    const std::string& name = domains.levels()[step.widest].name;
    text += fmt::format("{}{:g} {}", text.empty() ? "" : ", ",
                        std::chrono::duration<double>(step.after).count(), name.empty() ? "any" : name);
  }
  return text;
}

std::string stated(std::vector<model::LocalityLevel> levels, std::string required, std::int64_t gpuCount = 16,
                   std::optional<std::chrono::seconds> estimate = std::nullopt) {
  const model::Locality locality{std::move(levels), std::move(required)};
  return stepsText({&locality, gpuCount, estimate, 0});
}

std::string unstated(std::string_view attainable, std::string required, std::int64_t gpuCount,
                     std::optional<std::chrono::seconds> estimate = std::nullopt) {
  const model::Locality locality{{}, std::move(required)};
  const std::size_t level = attainable.empty() ? 0 : binaryDomains().findLevel(attainable).value();
  return stepsText({&locality, gpuCount, estimate, level});
}

}  // namespace

TEST_CASE("a job that lists levels waits for each as long as it states") {
  CHECK(stated({{"node", 60s}, {"rack", 600s}, {"block", std::nullopt}}, "block") ==
        "0 node, 60 rack, 660 block");
  CHECK(stated({{"node", 60s}, {"rack", 600s}}, "") == "0 node, 60 rack, 660 any");
  CHECK(stated({{"rack", 0s}, {"block", 30s}}, "") == "0 block, 30 any");
  CHECK(stated({{"rack", 10s}}, "rack") == "0 rack");
}

TEST_CASE("an unstated wait grows with the job's GPUs and its estimated duration up to the cap") {
  CHECK(stated({{"rack", std::nullopt}}, "", 16) == "0 rack, 140 any");
  CHECK(stated({{"rack", std::nullopt}, {"block", 5s}}, "", 64) == "0 rack, 380 block, 385 any");
  CHECK(stated({{"rack", std::nullopt}}, "", 16, 7200s) == "0 rack, 360 any");
  CHECK(stated({{"rack", std::nullopt}}, "", 16, 60s) == "0 rack, 140 any");
  CHECK(stated({{"rack", std::nullopt}}, "", 5000) == "0 rack, 3600 any");
}

TEST_CASE("the required level is never crossed for any listed levels") {
  CHECK(stated({{"node", 1s}, {"rack", 1s}, {"block", 1s}, {"zone", 1s}}, "rack") == "0 node, 1 rack");
  CHECK(stated({{"zone", 1s}}, "node") == "0 node");
}

TEST_CASE("levels out of order never make the job tighter again; unknown ones count for nothing") {
  CHECK(stated({{"block", 10s}, {"node", 10s}, {"zone", 10s}}, "") == "0 block, 20 zone, 30 any");
  CHECK(stated({{"pod", 10s}, {"rack", 10s}}, "") == "0 rack, 10 any");
  CHECK(stated({{"pod", 10s}}, "") == unstated("", "", 16));
}

TEST_CASE("a job that lists no levels starts at the tightest that could hold it and divides its patience") {
  CHECK(unstated("rack", "", 48) == "0 rack, 80 block, 160 zone, 240 any");
  CHECK(unstated("rack", "block", 48) == "0 rack, 240 block");
  CHECK(unstated("block", "", 64) == "0 block, 160 zone, 320 any");
  CHECK(unstated("rack", "", 48, 36'000s) == "0 rack, 600 block, 1200 zone, 1800 any");
  // At most the cost of being spread: 15 % of 400 s.
  CHECK(unstated("rack", "block", 48, 400s) == "0 rack, 60 block");
  CHECK(unstated("rack", "block", 100'000) == "0 rack, 3600 block");
}

TEST_CASE("levels of the same nodes count as one for a job that lists none") {
  const auto steps = [](const model::Node& a, const model::Node& b, std::string required = "") {
    const Domains domains({&a, &b}, model::defaultTopologyLevels());
    const model::Locality locality{{}, std::move(required)};
    return stepsText({&locality, 48, std::nullopt, domains.findLevel("rack").value()}, domains);
  };
  const auto at = [](const char* name, const char* zone, const char* rack) -> model::Node {
    return node(name).zone(zone).block(rack).rack(rack);
  };
  CHECK(steps(at("n1", "z", "r1"), at("n2", "z", "r2")) == "0 rack, 160 any");
  CHECK(steps(at("n1", "z", "r1"), at("n2", "z", "r1")) == "0 any");
  CHECK(steps(at("n1", "z", "r1"), at("n2", "z", "r2"), "block") == "0 rack");
  CHECK(steps(at("n1", "z1", "r1"), at("n2", "z2", "r2")) == "0 rack, 240 any");
}

TEST_CASE("small gangs and gangs without GPUs and gangs that can get no closer start anywhere at once") {
  CHECK(unstated("node", "", 8) == "0 any");
  CHECK(unstated("node", "rack", 8, 100'000s) == "0 rack");
  CHECK(unstated("rack", "", 0) == "0 any");
  CHECK(unstated("rack", "", 4) == "0 any");
  CHECK(unstated("", "", 512) == "0 any");
  CHECK(unstated("rack", "rack", 512) == "0 rack");
}

TEST_CASE("absurd numbers stay at the end of their range") {
  const std::chrono::seconds most(std::numeric_limits<std::int64_t>::max());
  CHECK(stated({{"node", most}, {"rack", most}}, "block").rfind("0 node, ", 0) == 0);
  CHECK(stated({{"node", std::nullopt}}, "block", std::numeric_limits<std::int64_t>::max(), most) ==
        "0 node, 3600 block");
  CHECK(stated({{"node", -5s}}, "block") == "0 block");
}

TEST_CASE("the level that is accepted now and the one that is accepted next") {
  const std::vector<RelaxationStep> steps = {{0ms, 4}, {60s, 3}, {660s, 2}};
  CHECK(relaxationAt(steps, -1s).widest == 4);
  CHECK(relaxationAt(steps, 59'999ms).widest == 4);
  CHECK(relaxationAt(steps, 59'999ms).next->after == 60s);
  CHECK(relaxationAt(steps, 59'999ms).next->widest == 3);
  CHECK(relaxationAt(steps, 60s).widest == 3);
  CHECK(relaxationAt(steps, 60s).next->after == 660s);
  CHECK(relaxationAt(steps, 1000s).widest == 2);
  CHECK_FALSE(relaxationAt(steps, 1000s).next);
}

TEST_CASE("the tightest attainable level is the one that only jobs prevent") {
  const auto attainable = [](SnapshotBuilder builder) {
    const model::Snapshot snapshot = builder.build();
    const Ledger ledger(snapshot);
    const Domains domains(snapshot.nodes, snapshot.policy.topology);
    return domains.levels()[tightestAttainable(wholeGang(jobIn(snapshot, "x/j")), ledger, domains)].name;
  };
  const auto twoRacks = [] {
    SnapshotBuilder builder = cluster();
    for (int i = 0; i < 4; ++i) {
      builder.add(node(fmt::format("n{}", i)).zone("z").block("b").rack(i < 2 ? "r1" : "r2").gpus(8));
    }
    return builder;
  };
  const model::Job pair = job("x/j").role("worker", 2, gpus(8));
  CHECK(attainable(twoRacks().add(pair)) == "rack");
  CHECK(attainable(twoRacks().add(job("x/j").role("worker", 2, gpus(4)))) == "node");
  CHECK(attainable(twoRacks().add(job("x/j").role("worker", 3, gpus(8)))) == "block");
  CHECK(attainable(twoRacks().add(job("x/j").role("worker", 5, gpus(8)))).empty());
  CHECK(attainable(twoRacks().add(job("x/j").role("worker", 3, gpus(8)).required("rack"))) == "rack");
  // Jobs end eventually, so they do not count.
  CHECK(attainable(twoRacks().add(pair).add(
            job("x/a").role("worker", 2, gpus(8)).placed("n0", "worker", "0").placed("n2", "worker", "1"))) ==
        "rack");
  // Pods without a job may stay for ever, and a cordoned node may never come back.
  CHECK(attainable(twoRacks().add(pair).add(pod("x/p").on("n0").gpus(1)).add(pod("x/q").on("n2").gpus(1))) ==
        "block");
  CHECK(attainable(cluster()
                       .add(node("n0").zone("z").rack("r1").gpus(8))
                       .add(node("n1").zone("z").rack("r1").gpus(8).cordoned())
                       .add(node("n2").zone("z").rack("r2").gpus(8))
                       .add(pair)) == "zone");
}

TEST_CASE("a placement is never wider than the request allows now and the shortfall is that of this level") {
  SnapshotBuilder builder = cluster();
  for (int i = 0; i < 4; ++i) {
    builder.add(node(fmt::format("n{}", i)).zone("z").block("b").rack(i < 2 ? "r1" : "r2").gpus(8));
  }
  const model::Snapshot snapshot = builder.add(pod("x/p").on("n0").gpus(1))
                                       .add(pod("x/q").on("n2").gpus(1))
                                       .add(job("x/j").role("worker", 2, gpus(8)))
                                       .build();
  const Ledger ledger(snapshot);
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  PlaceRequest request = wholeGang(jobIn(snapshot, "x/j"));
  CHECK(outcomeText(place(request, ledger, domains)) == "block z/b: n1:worker:0 n3:worker:1");
  request.widest = domains.findLevel("rack").value();
  CHECK(
      outcomeText(place(request, ledger, domains)) ==
      "WaitingForTopology: needs 2 nodes with 8 nvidia.com/gpu each in one rack; best rack z/b/r1 has 1, the "
      "whole cluster has 2");
  // Even when empty, no single node fits it, but in the end it may use more than one.
  request.widest = domains.nodeLevel();
  const auto outcome = place(request, ledger, domains);
  REQUIRE(std::holds_alternative<PlacementFailure>(outcome));
  CHECK(std::get<PlacementFailure>(outcome).reason == model::PendingReason::kWaitingForTopology);
  CHECK(std::get<PlacementFailure>(outcome).shortfall->level == "rack");
}
