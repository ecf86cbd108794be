#include <fmt/format.h>
#include <algorithm>

#include <catch2/catch.hpp>

#include "lab.h"

namespace trainyard::test {

TEST_CASE("a constant stream of foreign pods does not leave a gang half started") {
  Lab lab;
  lab->operators().start();
  lab.run(3s);
  for (int i = 0; i < 60; ++i) {
    lab.foreignPod(fmt::format("foreign-{}", i), 1 + i % 4, "4s");
    if (i == 10) lab.submit("besieged", {.runFor = "3s"});
    lab.run(250ms);
  }
  const bool ended = lab.waitPhase("besieged", "Succeeded", 120s);
  INFO(lab.describe());
  REQUIRE(ended);
  CHECK(lab->kubelets().refusals() == 0);
  lab.run(10s);
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE(
    "without the extender a foreign pod may take an assigned node and the whole gang is placed elsewhere") {
  Lab lab({.extender = false});
  lab->operators().start();
  lab.run(3s);
  lab.submit("robbed", {.runFor = "3s"});
  REQUIRE(lab.until([&] { return lab.podsOf("robbed").size() == 4; }, 30s));
  const std::string node = lab.job("robbed")->status.gang.proposal->add.front().node.str();
  // Bound without a scheduler, as a static pod would be.
  REQUIRE(lab.foreignPod("thief", 8, "", node));

  const bool ended = lab.waitPhase("robbed", "Succeeded", 240s);
  INFO(lab.describe());
  REQUIRE(ended);
  lab.run(10s);
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("capacity taken after the barrier aborts the whole gang and the gang is placed again") {
  Lab lab({.extender = false});
  lab->operators().start();
  lab.run(3s);
  lab.submit("late", {.runFor = "3s"});
  // The first member is released: the gang has passed the barrier.
  REQUIRE(lab.until(
      [&] {
        const auto pods = lab.podsOf("late");
        return std::any_of(pods.begin(), pods.end(), [](const auto& pod) { return !pod->gangGated; });
      },
      30s));
  const auto pods = lab.podsOf("late");
  const auto still = std::find_if(pods.begin(), pods.end(), [](const auto& pod) { return !pod->bound(); });
  REQUIRE(still != pods.end());
  const std::int64_t index = (*still)->member->index;
  std::string node;
  for (const auto& each : lab.job("late")->status.gang.proposal->add) {
    if (each.indices.contains(static_cast<int>(index))) node = each.node.str();
  }
  REQUIRE(lab.foreignPod("thief", 8, "", node));

  const bool ended = lab.waitPhase("late", "Succeeded", 240s);
  INFO(lab.describe());
  REQUIRE(ended);
  lab.run(10s);
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("a member that kube-scheduler cannot bind for a moment is waited for") {
  Lab lab({.extender = false});
  lab->operators().start();
  lab.run(3s);
  lab.submit("patient", {.runFor = "3s"});
  REQUIRE(lab.until(
      [&] {
        const auto pods = lab.podsOf("patient");
        return std::any_of(pods.begin(), pods.end(), [](const auto& pod) { return !pod->gangGated; });
      },
      30s));
  const auto pods = lab.podsOf("patient");
  const auto still = std::find_if(pods.begin(), pods.end(), [](const auto& pod) { return !pod->bound(); });
  REQUIRE(still != pods.end());
  std::string node;
  for (const auto& each : lab.job("patient")->status.gang.proposal->add) {
    if (each.indices.contains((*still)->member->index)) node = each.node.str();
  }
  REQUIRE(lab.foreignPod("guest", 8, "1s", node));

  REQUIRE(lab.waitPhase("patient", "Succeeded", 60s));
  CHECK(lab.job("patient")->status.gang.lastEpoch == 1);
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("foreign pods that request GPUs do not get reserved ones") {
  Lab lab({}, 4);
  lab->operators().start();
  lab.run(3s);
  lab.submit("whole", {.runFor = "3s"});
  REQUIRE(lab.until([&] { return lab.job("whole")->status.gang.proposal.has_value(); }, 30s));
  lab.run(20ms);  // until the guard has seen the reservation
  for (int i = 0; i < 4; ++i) REQUIRE(lab.foreignPod(fmt::format("greedy-{}", i), 8, "1s"));

  REQUIRE(lab.waitPhase("whole", "Running", 30s));
  const auto greedy = lab->observer().cache().pods.find({"default", "greedy-0"});
  REQUIRE(greedy);
  CHECK_FALSE(greedy->bound());
  // The message is kube-scheduler's or the guard's: the members are placed, and the watch shows them.
  CHECK_FALSE(greedy->unschedulableMessage.empty());
  REQUIRE(lab.waitPhase("whole", "Succeeded", 30s));
  REQUIRE(lab.until(
      [&] {
        const auto pod = lab->observer().cache().pods.find({"default", "greedy-3"});
        return pod->phase == model::PodPhase::kSucceeded;
      },
      60s));
  lab.requireSound();
  lab.requireTidy();
}

}  // namespace trainyard::test
