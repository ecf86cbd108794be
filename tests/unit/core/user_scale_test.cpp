#include "core/elastic/user_scale.h"

#include <optional>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

model::Queue limitedQueue(std::string_view name, std::int64_t limit) {
  model::Queue made;
  made.name = model::QueueName(name);
  made.limit.set("nvidia.com/gpu", limit);
  return made;
}

// One member is placed, of as many as its user asks for.
JobBuilder growing(std::string_view name, int asked, std::int64_t gpuCount) {
  return job(name).role("worker", asked, gpus(gpuCount)).elastic(asked, 1, asked);
}

struct Scene {
  explicit Scene(const SnapshotBuilder& builder) : snapshot(builder.build()) {}

  ScaleAnswer scaled(const model::ObjectKey* holder = nullptr) {
    Ledger ledger(snapshot);
    const Domains domains(snapshot.nodes, snapshot.policy.topology);
    QueueTree tree(snapshot);
    NodeRefusals refusals;
    std::optional<model::ObjectKey> unreached;
    return scaleAsRequested({.snapshot = snapshot,
                             .ledger = ledger,
                             .domains = domains,
                             .queues = tree,
                             .gangs = {snapshot.jobs.begin(), snapshot.jobs.end()},
                             .reservedFor = [&](const auto&, int, const auto&) { return holder; },
                             .unreached = unreached,
                             .refusals = refusals});
  }

  model::Snapshot snapshot;
};

}  // namespace

TEST_CASE("user scale: a gang without free nodes does not report the limit of another gang's queue") {
  Scene scene(cluster()
                  .add(node("n1").gpus(8))
                  .add(node("n2").gpus(8))
                  .add(limitedQueue("research", 100))
                  .add(limitedQueue("team", 4))
                  .add(growing("ml/bert", 2, 4).queue("team").placed("n1", "worker", "0"))
                  .add(growing("ml/gpt", 2, 8).queue("research").placed("n2", "worker", "0"))
                  .now(1'000));
  const ScaleAnswer answer = scene.scaled();
  CHECK(answer.changes.empty());
  REQUIRE(answer.held.size() == 2);
  CHECK(answer.held.at(key("ml/bert")) ==
        "2 are requested, it has 1: no more can start now; queue team is at its limit");
  CHECK(answer.held.at(key("ml/gpt")) == "2 are requested, it has 1: no more can start now");
}

TEST_CASE("user scale: the limit is reported although a part of the request fits below it") {
  // Three, one and two more are tried, in this order.
  Scene scene(cluster()
                  .add(node("n1").gpus(8))
                  .add(limitedQueue("team", 3))
                  .add(growing("ml/bert", 4, 1).queue("team").placed("n1", "worker", "0"))
                  .now(1'000));
  const ScaleAnswer answer = scene.scaled();
  REQUIRE(answer.changes.size() == 1);
  CHECK(answer.changes.front().kind == ChangeKind::kGrow);
  REQUIRE(answer.held.size() == 1);
  CHECK(answer.held.at(key("ml/bert")) ==
        "4 are requested, it has 1: 2 more can start now; queue team is at its limit");
}

TEST_CASE("user scale: a gang reports the job that the free nodes are reserved for") {
  const model::ObjectKey holder = key("ml/holder");
  Scene scene(
      cluster().add(node("n1").gpus(8)).add(growing("ml/bert", 4, 1).placed("n1", "worker", "0")).now(1'000));
  const ScaleAnswer answer = scene.scaled(&holder);
  CHECK(answer.changes.empty());
  REQUIRE(answer.held.size() == 1);
  CHECK(answer.held.at(key("ml/bert")) ==
        "4 are requested, it has 1: the free capacity is reserved for ml/holder, which is pending");
}
