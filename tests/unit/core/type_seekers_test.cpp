#include <map>
#include <memory>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "model/model_profile.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

constexpr const char* kType = "nvidia.com/gpu.product";

model::Job seeking(const std::string& name, std::int64_t a100, std::int64_t t4, std::int64_t created) {
  model::Job each = job(name).role("worker", 1, gpus(8)).created(created);
  model::ModelProfile profile;
  if (a100 > 0) profile.speeds = {{"a100", a100 * 1000}, {"t4", t4 * 1000}};
  each.spec.plan.profile = std::make_shared<const model::ModelProfile>(profile);
  return each;
}

// The node on which each job starts.
std::map<std::string, std::string> startsOf(SnapshotBuilder builder) {
  CycleInput in;
  in.snapshot = builder.add(node("n-a").gpus(8).label(kType, "a100"))
                    .add(node("n-t").gpus(8).label(kType, "t4"))
                    .now(1000)
                    .build();
  in.otherFeedback.templateError = "";
  CycleCache cache;
  std::map<std::string, std::string> starts;
  for (const JobDecision& each : cycle(in, cache).decisions) {
    if (each.status && each.status->gang.proposal)
      starts[each.job->key.name] = each.status->gang.proposal->add.front().node.str();
  }
  return starts;
}

using Starts = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("a cycle gives each of two gangs the type with the largest gain for both together") {
  const model::Job even = seeking("ml/even", 100, 90, 1);
  const model::Job steep = seeking("ml/steep", 100, 20, 2);
  CHECK(startsOf(cluster().add(even).add(steep)) == Starts{{"even", "n-t"}, {"steep", "n-a"}});
  // A single job gets its own fastest type.
  CHECK(startsOf(cluster().add(even))["even"] == "n-a");
  CHECK(startsOf(cluster().add(seeking("ml/other", 20, 100, 1)))["other"] == "n-t");
}

TEST_CASE("a planned type counts as a gang's fastest and a gang that names a type has no choice") {
  model::Job planned = seeking("ml/planned", 100, 90, 1);
  planned.spec.plan.automatic = true;
  planned.status.plan.emplace();
  planned.status.plan->generation = planned.generation;
  planned.status.plan->roles = {{"worker", 1}};
  planned.status.plan->gpuType = "t4";
  CHECK(startsOf(cluster().add(planned))["planned"] == "n-t");

  JobBuilder builder = job("ml/bound").role("worker", 1, gpus(8)).select(kType, "t4").created(1);
  model::Job bound = builder;
  bound.spec.plan.profile = seeking("ml/x", 100, 10, 1).spec.plan.profile;
  const model::Job steep = seeking("ml/steep", 20, 100, 2);
  CHECK(startsOf(cluster().add(bound).add(steep)) == Starts{{"bound", "n-t"}, {"steep", "n-a"}});
}

TEST_CASE("steps as fast as the schema allows are distinguished from slow ones") {
  model::Job each = seeking("ml/absurd", 0, 0, 1);
  model::ModelProfile profile;
  const auto step = [&](const char* type, std::int64_t batch, std::int64_t nanos) {
    model::MeasuredStep measured;
    measured.workers = {1};
    measured.batchPerWorker = batch;
    measured.stepNanos = nanos;
    measured.gpuType = type;
    profile.measurements.push_back(measured);
  };
  step("a100", 1, 1'000'000'000);
  step("t4", 1'000'000'000, 1'000);
  each.spec.plan.profile = std::make_shared<const model::ModelProfile>(profile);
  CHECK(startsOf(cluster().add(each))["absurd"] == "n-t");
}
