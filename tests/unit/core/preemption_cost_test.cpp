#include "core/order/preemption_cost.h"

#include <catch2/catch.hpp>

#include "model/conditions.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using std::chrono::seconds;

namespace {

// Runs on eight GPUs since second 1,000.
model::Job running() {
  model::Job job;
  job.status.gpus = 8;
  job.status.gang.placed.emplace();
  model::Condition scheduled;
  scheduled.type = model::conditions::kScheduled;
  scheduled.status = model::ConditionStatus::kTrue;
  scheduled.lastTransition = test::at(1'000);
  job.status.conditions.push_back(scheduled);
  return job;
}

model::Snapshot at(std::int64_t now) {
  model::Snapshot snapshot;
  snapshot.now = test::at(now);
  return snapshot;
}

TEST_CASE("Without checkpoints a preemption loses all work since the start up to the policy's bound") {
  const model::Job job = running();
  CHECK_FALSE(isCheckpointable(job.spec));
  CHECK(lostWork(job, at(1'500)) == 8 * 500);
  CHECK(preemptionCostInGpuSeconds(job, at(1'500)) == 8 * (500 + kRestart.count()));
  CHECK(lostWork(job, at(1'000'000)) == 8 * 86'400);
  // A clock that went back loses no work.
  CHECK(lostWork(job, at(900)) == 0);
}

TEST_CASE("A checkpoint on demand costs the restart and a periodic one also the work since") {
  model::Job job = running();
  job.spec.checkpoint = model::Checkpoint{.restart = seconds(30)};
  CHECK(isCheckpointable(job.spec));
  CHECK(lostWork(job, at(9'999)) == 0);
  CHECK(preemptionCost(job, at(9'999)) == seconds(30));
  job.spec.checkpoint->mode = model::CheckpointMode::kNone;
  CHECK_FALSE(isCheckpointable(job.spec));
  CHECK(lostWork(job, at(9'999)) == 8 * 8'999);
  job.spec.checkpoint->every = seconds(600);
  CHECK(isCheckpointable(job.spec));
  CHECK(lostWork(job, at(2'799)) == 8 * 599);
  CHECK(lostWork(job, at(2'800)) == 0);
}

}  // namespace
