#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "model/model_profile.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

model::Job unplanned(const std::string& name, std::string_view queue = "default") {
  model::Job each = job(name).role("worker", 1, gpus(1)).queue(queue);
  model::ModelProfile profile;
  profile.parameters = 1'000;
  profile.flopsPerSample = 1'000'000'000;
  profile.batchPerWorker = 64;
  each.spec.plan.automatic = true;
  each.spec.plan.profile = std::make_shared<const model::ModelProfile>(profile);
  return each;
}

CycleInput inputOf(SnapshotBuilder builder) {
  CycleInput in;
  in.snapshot = builder.add(node("n1").gpus(8)).now(100).build();
  in.otherFeedback.templateError = "";
  return in;
}

std::vector<std::string> plannedBy(const CycleInput& in, CycleCache& cache) {
  std::vector<std::string> planned;
  for (const JobDecision& each : cycle(in, cache).decisions) {
    if (each.status && each.status->plan) planned.push_back(each.job->key.ns + "/" + each.job->key.name);
  }
  return planned;
}

}  // namespace

TEST_CASE("the job after the last planned one is planned next even if that one needs another plan") {
  CycleCache cache;
  using Planned = std::vector<std::string>;
  // A planned job is edited at once, and needs another plan.
  const CycleInput in =
      inputOf(cluster().add(unplanned("a/1")).add(unplanned("a/2")).add(unplanned("b/theirs")));
  CHECK(plannedBy(in, cache) == Planned{"a/1"});
  CHECK(plannedBy(in, cache) == Planned{"a/2"});
  CHECK(plannedBy(in, cache) == Planned{"b/theirs"});
  CHECK(plannedBy(in, cache) == Planned{"a/1"});
}

TEST_CASE("queue and priority class are refused before anything is planned by them") {
  model::Queue theirs;
  theirs.name = model::QueueName("theirs");
  theirs.limit.set("nvidia.com/gpu", 4);
  theirs.namespaceSelector.requirements = {{.key = "team", .values = {"b"}}};
  model::Job classy = unplanned("a/classy");
  classy.spec.priorityClassName = "system-node-critical";
  const CycleInput in = inputOf(cluster()
                                    .add(theirs)
                                    .add(unplanned("a/curious", "theirs"))
                                    .add(classy)
                                    .priorityClass("system-node-critical", 2'000'000'000));
  CycleCache cache;
  const Plan plan = cycle(in, cache);
  REQUIRE(plan.decisions.size() == 2);
  for (const JobDecision& each : plan.decisions) {
    REQUIRE(each.status);
    CHECK(!each.status->plan);
    REQUIRE(each.status->pending);
    CHECK(each.status->pending->reason == (each.job->key.name == "classy"
                                               ? model::PendingReason::kPriorityClassNotAllowed
                                               : model::PendingReason::kNamespaceNotAllowed));
  }
}
