#include <catch2/catch.hpp>

#include "lab.h"
#include "model/conditions.h"

namespace trainyard::test {
namespace {

using model::FailureClass;

// As it stands in an annotation.
constexpr const char* kReport = R"(trainyard-progress: {\"step\":50,\"totalSteps\":200,\"loss\":0.5})";

}  // namespace

TEST_CASE("what a member reports in its log is in the job's status") {
  Lab lab;
  lab->startOperator();
  lab.submit("bert", {.runFor = "10h", .log = kReport});
  REQUIRE(lab.until([&] { return lab.job("bert") && lab.job("bert")->status.progress; }, 120s));
  const model::Progress progress = *lab.job("bert")->status.progress;
  CHECK(progress.step == 50);
  CHECK(progress.totalSteps == 200);
  lab.run(120s);
  CHECK(lab.job("bert")->status.progress == progress);
  CHECK(lab.phase("bert") == "Running");
  lab.requireSound();
}

TEST_CASE("a job that says nothing any more is told of, or starts anew and at last ends") {
  Lab lab;
  const int first = lab->startOperator();
  SECTION("told of, also by a successor") {
    lab.submit("mute", {.runFor = "10h", .log = "begins", .extra = R"("health":{"stallSeconds":60})"});
    const auto stalled = [&] {
      return lab.job("mute") && lab.job("mute")->conditionTrue(model::conditions::kStalled);
    };
    REQUIRE(lab.until(stalled, 120s));
    lab->killOperator(first);
    lab->startOperator();
    lab.run(60s);
    CHECK(stalled());
    CHECK(lab.phase("mute") == "Running");
    CHECK(lab.job("mute")->status.restarts == model::Restarts());
  }
  SECTION("started anew") {
    lab.submit("mute", {.runFor = "10h",
                        .log = "begins",
                        .extra = R"("health":{"stallSeconds":60,"stallAction":"Restart"})"});
    REQUIRE(lab.until(
        [&] { return lab.job("mute") && lab.job("mute")->status.restarts.of(FailureClass::kStalled) == 1; },
        150s));
    CHECK(lab.job("mute")->status.restarts.counted == 1);
    REQUIRE(lab.waitPhase("mute", "Running", 60s));
    CHECK_FALSE(lab.job("mute")->conditionTrue(model::conditions::kStalled));
    REQUIRE(lab.waitPhase("mute", "Failed", 600s));
    CHECK(lab.job("mute")->status.restarts.of(FailureClass::kStalled) == 3);
    REQUIRE(lab.until([&] { return lab.podsOf("mute").empty(); }, 60s));
  }
  lab.requireSound();
}

}  // namespace trainyard::test
