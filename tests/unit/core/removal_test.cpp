#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "core/gang/gang_proposals.h"
#include "core/queues/queue_tree.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

TEST_CASE("a back-off written by a clock that is ahead is over and any other is obeyed") {
  model::GangRecord gang;
  const auto waits = [&](int count, std::int64_t until) {
    gang.backoff = model::Backoff{at(until), count, {}, "why"};
    return backsOffUntil(gang, at(100)).has_value();
  };
  CHECK(waits(3, 160));
  CHECK_FALSE(waits(3, 3'700));
  CHECK(waits(0, 700));
  CHECK_FALSE(waits(0, 3'700));
  CHECK_FALSE(waits(3, 100));
}

TEST_CASE("a deleted job that a foreign finalizer keeps holds nothing once its pods have ended") {
  model::Job kept = job("ml/kept").role("worker", 2, gpus(8)).placed("n1", "worker", "0-1").deleting();
  kept.hasReleaseFinalizer = true;
  kept.otherFinalizers = {"example.com/hold"};
  kept.status.gang.charge = model::Charge{model::QueueName("default"), false, 0};
  const auto decide = [&](bool podsGone) {
    SnapshotBuilder builder = cluster().add(node("n1").gpus(16)).add(kept);
    if (!podsGone) builder.add(pod("x").memberOf(kept, "worker", 0).gpus(8).on("n1"));
    CycleInput in;
    in.snapshot = builder.build();
    return cycle(in).decisions;
  };
  const auto releases = [](const JobDecision& decision) {
    return std::any_of(decision.actions.begin(), decision.actions.end(),
                       [](const Action& each) { return std::holds_alternative<RemoveFinalizer>(each); });
  };
  REQUIRE(decide(false).size() == 1);
  CHECK_FALSE(decide(false).front().status);
  CHECK_FALSE(releases(decide(false).front()));

  REQUIRE(decide(true).size() == 1);
  CHECK(releases(decide(true).front()));

  kept.hasReleaseFinalizer = false;
  const auto cleared = decide(true);
  REQUIRE(cleared.size() == 1);
  REQUIRE(cleared.front().status);
  CHECK_FALSE(cleared.front().status->gang.placed);
  CHECK_FALSE(cleared.front().status->gang.charge);
  REQUIRE(cleared.front().status->pending);
  CHECK(cleared.front().status->pending->message ==
        "it is being deleted and holds no nodes; its deletion waits for finalizer example.com/hold");
  kept.status = *cleared.front().status;
  CHECK(decide(true).empty());
}
