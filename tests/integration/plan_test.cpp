#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "lab.h"

namespace trainyard::test {
namespace {

// A model with values for which four whole nodes are worthwhile.
constexpr const char* kModel =
    R"("parameters":25557032,"largestTensorBytes":9437184,"flopsPerSample":24600000000,"batchPerWorker":65536)";

std::string planned(const std::string& more = "") {
  return R"("plan":{"mode":"Auto",)" + more + R"("model":{)" + kModel + "}}";
}

int plannedWorkers(const model::Job& job) {
  if (!job.status.plan) return 0;
  const auto& roles = job.status.plan->roles;
  const auto at =
      std::find_if(roles.begin(), roles.end(), [](const auto& each) { return each.name == "worker"; });
  return at == roles.end() ? 0 : at->replicas;
}

}  // namespace

TEST_CASE("a job with plan.mode Auto runs in the shape of its plan and its spec does not change") {
  Lab lab;
  lab->operators().start();
  lab.submit("auto", {.workers = 1, .runFor = "", .extra = planned(R"("maxGPUs":32,)")});

  REQUIRE(lab.waitPhase("auto", "Running", 60s));
  const auto job = lab.job("auto");
  REQUIRE(job->status.plan);
  INFO(job->status.plan->message);
  const int workers = plannedWorkers(*job);
  CHECK(workers == 4);  // of eight GPUs: as many as maxGPUs allows
  CHECK(lab.boundPodsOf("auto") == 4);
  CHECK(job->status.gpus == 32);
  CHECK(job->status.plan->generation == job->generation);
  CHECK(job->status.plan->stepMicros > 0);
  CHECK(job->status.plan->milliSamplesPerSecond > 0);
  CHECK(job->status.plan->nodes == 4);
  CHECK(job->generation == 1);  // the spec was never written
  lab.requireSound();
}

TEST_CASE("a plan is made again when the spec has changed while the job had no placement") {
  Lab lab;
  lab->operators().start();
  lab.submit("auto", {.workers = 1, .runFor = "", .extra = planned(R"("maxGPUs":32,)")});
  REQUIRE(lab.waitPhase("auto", "Running", 60s));

  lab.patchJob("auto", R"({"spec":{"run":{"suspend":true}}})");
  REQUIRE(lab.until([&] { return lab.podsOf("auto").empty() && !lab.job("auto")->status.gang.placed; }, 60s));
  lab.patchJob("auto", R"({"spec":{"plan":{"maxGPUs":16},"run":{"suspend":false}}})");
  REQUIRE(lab.until([&] { return lab.boundPodsOf("auto") == 2 && lab.phase("auto") == "Running"; }, 60s));
  CHECK(plannedWorkers(*lab.job("auto")) == 2);
  lab.requireSound();
}

TEST_CASE("a job that loses a member runs again by the same plan") {
  Lab lab;
  lab->operators().start();
  lab.submit("auto", {.workers = 1, .runFor = "", .extra = planned(R"("maxGPUs":24,)")});
  REQUIRE(lab.waitPhase("auto", "Running", 60s));
  const auto before = *lab.job("auto")->status.plan;

  lab.deletePod("auto-worker-1");
  lab.run(2s);
  REQUIRE(lab.until([&] { return lab.boundPodsOf("auto") == 3 && lab.phase("auto") == "Running"; }, 120s));
  CHECK(*lab.job("auto")->status.plan == before);
  lab.requireSound();
}

TEST_CASE("the plan of a gang that grew beyond it reports the speed of the new size and retains its shape") {
  Lab lab;
  lab->operators().start();
  lab.submit("auto", {.workers = 1,
                      .gpus = 4,
                      .runFor = "",
                      .extra = R"("elastic":{"role":"worker","replicas":1,"minReplicas":1,"maxReplicas":6},)"
                               R"("checkpoint":{"mode":"Helper","gracePeriodSeconds":3},)" +
                               planned(R"("maxGPUs":8,)")});
  REQUIRE(lab.waitPhase("auto", "Running", 60s));
  const auto before = *lab.job("auto")->status.plan;
  REQUIRE(plannedWorkers(*lab.job("auto")) == 2);
  // No job waits for the capacity, and by the model's values more members are worthwhile.
  REQUIRE(lab.until([&] { return lab.boundPodsOf("auto") > 2 && lab.phase("auto") == "Running"; }, 300s));
  const auto grown = lab.job("auto");
  INFO(grown->status.plan->message);
  CHECK(plannedWorkers(*grown) == 2);
  CHECK(grown->status.plan->milliSamplesPerSecond > before.milliSamplesPerSecond);
  CHECK(grown->status.plan->message.find("resized to ") == 0);
  CHECK(grown->status.plan->message.find("; 2 were planned") != std::string::npos);
  CHECK(grown->status.plan->nodes == before.nodes);
  lab.requireSound();
}

TEST_CASE("a missing value of a plan is named and an infeasible plan leaves the spec's shape") {
  Lab lab;
  lab->operators().start();
  lab.submit("bare", {.workers = 1, .extra = R"("plan":{"mode":"Auto"})"});
  lab.submit("large", {.workers = 1, .gpus = 16, .runFor = "", .extra = planned()});
  lab.run(10s);

  const auto bare = lab.job("bare");
  REQUIRE(bare->status.pending);
  CHECK(bare->status.pending->reason == model::PendingReason::kInvalidSpec);
  CHECK(bare->status.pending->message.find("spec.plan.model.batchSize") != std::string::npos);
  const auto large = lab.job("large");
  REQUIRE(large->status.plan);
  CHECK(large->status.plan->roles.empty());
  CHECK(large->status.plan->message.find("no plan") != std::string::npos);
  REQUIRE(large->status.pending);  // like any other job that does not fit
  lab.requireSound();
}

}  // namespace trainyard::test
