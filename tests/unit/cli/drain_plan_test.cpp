#include "cli/drain_plan.h"

#include <catch2/catch.hpp>

#include <string>

#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

// Two gangs with a member on n1, one of which writes checkpoints; a third gang is elsewhere.
model::Snapshot twoOnN1() {
  model::Job saves = job("ml/saves").role("worker", 1, gpus(8)).placed("n1", "worker", "0");
  saves.spec.checkpoint = model::Checkpoint{};
  const model::Job begins = job("ml/begins").role("worker", 1, gpus(4)).placed("n1", "worker", "0");
  const model::Job elsewhere = job("ml/elsewhere").role("worker", 1, gpus(4)).placed("n2", "worker", "0");
  const auto member = [](const model::Job& of, std::string_view on) {
    return pod("x").memberOf(of, "worker", 0).on(on).phase(model::PodPhase::kRunning);
  };
  return cluster()
      .add(node("n1").gpus(16))
      .add(node("n2").gpus(16))
      .add(saves)
      .add(begins)
      .add(elsewhere)
      .add(member(saves, "n1"))
      .add(member(begins, "n1"))
      .add(member(elsewhere, "n2"))
      .build();
}

}  // namespace

TEST_CASE("a checkpointable gang leaves a drained node and another one stays unless forced") {
  const model::Snapshot snapshot = twoOnN1();
  const auto gangs = cli::planDrain(snapshot, model::NodeName("n1"), false);
  REQUIRE(gangs.size() == 2);
  CHECK(gangs[0].job == key("ml/begins"));
  CHECK(gangs[0].stays);
  CHECK(gangs[1].job == key("ml/saves"));
  CHECK_FALSE(gangs[1].stays);
  CHECK(gangs[1].members == std::vector{key("ml/saves-worker-0")});
  const std::string text = cli::drainTable(model::NodeName("n1"), gangs);
  CHECK(text.find("1 of 2 gangs block the drain") != std::string::npos);

  CHECK(
      cli::drainJson(model::NodeName("n1"), {true, gangs, {gangs[0]}}) ==
      R"({"node":"n1","unschedulable":true,"items":[{"namespace":"ml","name":"begins","members":)"
      R"([{"namespace":"ml","name":"begins-worker-0"}],"keepsWork":false,"stays":true,"lostGpuSeconds":)" +
          std::to_string(gangs[0].lostGpuSeconds) +
          R"(,"left":false},{"namespace":"ml","name":"saves","members":)"
          R"([{"namespace":"ml","name":"saves-worker-0"}],"keepsWork":true,"stays":false,"lostGpuSeconds":)" +
          std::to_string(gangs[1].lostGpuSeconds) + R"(,"left":true}]})" + "\n");

  for (const auto& each : cli::planDrain(snapshot, model::NodeName("n1"), true)) CHECK_FALSE(each.stays);
}

TEST_CASE("the drain of a node without members reports that there are none") {
  CHECK(cli::drainTable(model::NodeName("n3"), cli::planDrain(twoOnN1(), model::NodeName("n3"), false)) ==
        "No member of a gang runs on node n3.\n");
}
