#include <catch2/catch.hpp>

#include "lab.h"
#include "model/conditions.h"

namespace trainyard::test {
namespace {

using model::FailureClass;

constexpr const char* kNoModule = "ModuleNotFoundError: No module named 'apex'";
constexpr const char* kNetwork =
    "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1269, unhandled system error, NCCL version 2.14.3";

}  // namespace

TEST_CASE("the last log lines of the members decide whether the gang restarts") {
  Lab lab;
  lab->operators().start();
  SECTION("a missing module fails the job at once") {
    lab.submit("bad", {.runFor = "2s", .exitCode = 1, .log = kNoModule});
    REQUIRE(lab.waitPhase("bad", "Failed", 60s));
    const auto& last = lab.job("bad")->status.lastFailure;
    REQUIRE(last);
    CHECK(last->failure == FailureClass::kImportError);
    CHECK(last->message.find("apex") != std::string::npos);
    CHECK(lab.job("bad")->status.restarts == model::Restarts());
    CHECK(lab.job("bad")->conditionTrue(model::conditions::kFinished));
  }
  SECTION("a network error is retried a bounded number of times") {
    lab.submit("bad",
               {.runFor = "2s", .exitCode = 1, .log = kNetwork, .extra = R"("failure":{"maxRestarts":0})"});
    REQUIRE(lab.waitPhase("bad", "Failed", 300s));
    CHECK(lab.job("bad")->status.restarts.of(FailureClass::kNcclError) == 3);
    CHECK(lab.job("bad")->status.restarts.counted == 0);
  }
  SECTION("an unknown failure is retried once") {
    lab.submit("bad", {.runFor = "2s", .exitCode = 1});
    REQUIRE(lab.waitPhase("bad", "Failed", 60s));
    CHECK(lab.job("bad")->status.restarts.of(FailureClass::kUnknown) == 1);
  }
  lab.run(5s);
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("a new leader determines the cause of a failure again") {
  Lab lab;
  const int first = lab->operators().start();
  lab.submit("bad", {.runFor = "2s", .exitCode = 1, .log = kNoModule});
  REQUIRE(lab.until(
      [&] {
        const auto pods = lab.podsOf("bad");
        return !pods.empty() && pods.front()->phase == model::PodPhase::kFailed;
      },
      60s));
  lab->operators().kill(first);
  lab->operators().start();
  REQUIRE(lab.waitPhase("bad", "Failed", 120s));
  CHECK(lab.job("bad")->status.lastFailure->failure == FailureClass::kImportError);
  lab.requireSound();
}

TEST_CASE("a job ends at its deadline and is deleted some time after its end") {
  Lab lab;
  lab->operators().start();
  lab.submit("limited",
             {.runFor = "", .extra = R"("run":{"activeDeadlineSeconds":20,"ttlSecondsAfterFinished":30})"});
  REQUIRE(lab.waitPhase("limited", "Failed", 60s));
  CHECK(lab.job("limited")->status.lastFailure->failure == FailureClass::kDeadlineExceeded);
  REQUIRE(lab.until([&] { return lab.podsOf("limited").empty(); }, 60s));
  REQUIRE(lab.waitGone("limited", 60s));
  lab.requireSound();
  lab.requireTidy();
}

}  // namespace trainyard::test
