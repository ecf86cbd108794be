#include <catch2/catch.hpp>

#include "lab.h"
#include "model/conditions.h"

namespace trainyard::test {
namespace {

using model::FailureClass;

// In the notation of an annotation.
constexpr const char* kReport = R"(trainyard-progress: {\"step\":50,\"totalSteps\":200,\"loss\":0.5})";

}  // namespace

TEST_CASE("the progress that a member logs appears in the job's status") {
  Lab lab;
  lab->operators().start();
  lab.submit("bert", {.runFor = "10h", .log = kReport});
  REQUIRE(lab.until([&] { return lab.job("bert") && lab.job("bert")->status.progress; }, 120s));
  const model::Progress progress = *lab.job("bert")->status.progress;
  CHECK(progress.step == 50);
  CHECK(progress.totalSteps == 200);
  lab.run(120s);
  CHECK(lab.job("bert")->status.progress->step == progress.step);
  CHECK(lab.phase("bert") == "Running");
  lab.requireSound();
}

TEST_CASE("a gang with gang.disruptionBudget has a PodDisruptionBudget until the job is deleted") {
  Lab lab;
  lab->operators().start();
  const auto budgetOf = [&](const std::string& name) {
    return "/apis/policy/v1/namespaces/default/poddisruptionbudgets/" + name + "-gang-" +
           lab.job(name)->uid.str();
  };
  const int workers = GENERATE(1, 3);
  lab.submit("guarded",
             {.workers = workers, .runFor = "10h", .extra = R"("gang":{"disruptionBudget":true})"});
  lab.submit("other", {.workers = workers, .runFor = "10h"});
  REQUIRE(lab.waitPhase("guarded", "Running", 60s));
  REQUIRE(lab.waitPhase("other", "Running", 60s));
  const std::string budget = budgetOf("guarded");
  CHECK(lab.exists(budget));
  CHECK_FALSE(lab.exists(budgetOf("other")));
  lab.deleteJob("guarded");
  REQUIRE(lab.waitGone("guarded", 60s));
  CHECK(lab.until([&] { return !lab.exists(budget); }, 60s));
  lab.requireSound();
}

TEST_CASE("a gang with gang.memberServices has a Service for each member until the job is deleted") {
  Lab lab;
  lab->operators().start();
  lab.submit("named", {.workers = 2, .runFor = "10h", .extra = R"("gang":{"memberServices":true})"});
  lab.submit("other", {.workers = 2, .runFor = "10h"});
  REQUIRE(lab.waitPhase("named", "Running", 60s));
  REQUIRE(lab.waitPhase("other", "Running", 60s));
  const std::string services = "/api/v1/namespaces/default/services/";
  for (const char* member : {"named-worker-0", "named-worker-1"}) CHECK(lab.exists(services + member));
  CHECK_FALSE(lab.exists(services + "other-worker-0"));
  lab.deleteJob("named");
  REQUIRE(lab.waitGone("named", 60s));
  CHECK(lab.until([&] { return !lab.exists(services + "named-worker-0"); }, 60s));
  lab.requireSound();
}

TEST_CASE("a job without new log lines is marked as stalled or restarted") {
  Lab lab;
  const int first = lab->operators().start();
  SECTION("the Stalled condition survives a change of leader") {
    lab.submit("mute", {.runFor = "10h", .log = "begins", .extra = R"("health":{"stallSeconds":60})"});
    const auto stalled = [&] {
      return lab.job("mute") && lab.job("mute")->conditionTrue(model::conditions::kStalled);
    };
    REQUIRE(lab.until(stalled, 120s));
    lab->operators().kill(first);
    lab->operators().start();
    lab.run(60s);
    CHECK(stalled());
    CHECK(lab.phase("mute") == "Running");
    CHECK(lab.job("mute")->status.restarts == model::Restarts());
  }
  SECTION("stallAction Restart restarts the job and fails it in the end") {
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
