#include "core/order/order_policy.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "core/order/gittins_index.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using model::Ordering;
using std::chrono::hours;
using std::chrono::seconds;

namespace {

const model::ObjectKey kA{"ml", "a"};
const model::ObjectKey kB{"ml", "b"};
const model::ObjectKey kC{"ml", "c"};

OrderView view(const model::ObjectKey& key, int submitted, std::int64_t gpus = 1) {
  return {.key = &key, .submitted = base::WallTime(seconds(submitted)), .gpus = gpus};
}

std::string order(const std::vector<OrderView>& jobs, Ordering ordering) {
  std::vector<QueuePosition> positions;
  for (const OrderView& job : jobs) positions.push_back(queuePositionOf(job, {.ordering = ordering}));
  std::sort(positions.begin(), positions.end(),
            [](const QueuePosition& a, const QueuePosition& b) { return a.before(b); });
  std::string names;
  for (const QueuePosition& each : positions) names += each.key->name;
  return names;
}

TEST_CASE("First come first served decides equal moments by name") {
  CHECK(order({view(kC, 1), view(kB, 2), view(kA, 2)}, Ordering::kFifo) == "cab");
}

TEST_CASE("Priority comes before every ordering") {
  auto high = view(kC, 9, 64);
  high.priority = 1;
  high.ran = hours(100);
  high.remaining = hours(100);
  for (const auto& each : model::kOrderings) {
    CAPTURE(each.name);
    CHECK(order({view(kA, 1), view(kB, 2), high}, each.ordering) == "cab");
  }
}

TEST_CASE("Least attained service counts GPU seconds in steps and serves each step in order of arrival") {
  auto long8 = view(kA, 1, 8);
  long8.ran = seconds(451);  // 3,608 GPU seconds: the second queue
  auto long1 = view(kB, 2, 1);
  long1.ran = seconds(3'599);
  CHECK(order({long8, long1, view(kC, 3)}, Ordering::kLas) == "bca");
}

TEST_CASE("Shortest remaining time counts alone or times GPUs and jobs without an estimate come last") {
  auto wide = view(kA, 1, 8);
  wide.remaining = seconds(10);
  auto narrow = view(kB, 2, 1);
  narrow.remaining = seconds(20);
  CHECK(order({view(kC, 0), wide, narrow}, Ordering::kSrtf) == "abc");
  CHECK(order({view(kC, 0), wide, narrow}, Ordering::kSrsf) == "bac");
}

bool isWorth(const OrderView& waiting, const OrderView& running, Ordering ordering) {
  return worthPreempting(queuePositionOf(waiting, {.ordering = ordering}),
                         queuePositionOf(running, {.ordering = ordering}));
}

TEST_CASE("A running job is preempted only for one that is shorter by more than the preemption costs") {
  auto running = view(kA, 1, 4);
  running.running = true;
  running.remaining = seconds(200);
  running.preemptionCost = seconds(90);
  auto other = view(kB, 2, 4);
  for (const auto& each : model::kOrderings) {
    const Ordering ordering = each.ordering;
    if (!each.byEstimate && !each.learns) continue;
    CAPTURE(each.name);
    other.remaining = seconds(111);
    CHECK_FALSE(isWorth(other, running, ordering));
    other.remaining = seconds(109);
    CHECK(isWorth(other, running, ordering));
    CHECK_FALSE(isWorth(other, running, Ordering::kFifo));
  }
  // Learned: expected to last 10 s on each GPU, or three times that, against 100 s and its cost.
  running.remaining.reset();
  other.remaining.reset();
  running.gittinsIndex = 0.01;
  other.gittinsIndex = 0.1;
  running.preemptionCost = seconds(71);
  CHECK_FALSE(isWorth(other, running, Ordering::kDefault));
  running.preemptionCost = seconds(69);
  CHECK(isWorth(other, running, Ordering::kDefault));
}

TEST_CASE("By least attained service a preemption must cost less than the queues are apart") {
  auto running = view(kA, 1, 4);
  running.running = true;
  running.ran = seconds(1'000);  // 4,000 GPU seconds: the second queue, from 3,600 on
  running.preemptionCost = seconds(901);
  CHECK_FALSE(isWorth(view(kB, 2, 4), running, Ordering::kLas));
  running.preemptionCost = seconds(899);
  CHECK(isWorth(view(kB, 2, 4), running, Ordering::kLas));
}

TEST_CASE("No job is preempted for an equal one or for one without an estimate") {
  auto running = view(kA, 1);
  running.running = true;
  for (const auto& each : model::kOrderings) {
    CAPTURE(each.name);
    CHECK_FALSE(isWorth(view(kB, 2), running, each.ordering));
  }
}

TEST_CASE("Without any estimate the default prefers the younger and the smaller job") {
  auto old = view(kA, 1);
  old.ran = hours(10);
  CHECK(order({old, view(kB, 2)}, Ordering::kDefault) == "ba");
  CHECK(order({view(kA, 1, 8), view(kB, 2, 1)}, Ordering::kDefault) == "ba");
}

TEST_CASE("No time and no GPUs give a finite position") {
  auto job = view(kA, 1, 0);
  job.remaining = seconds(0);
  for (const auto& each : model::kOrderings)
    CHECK(queuePositionOf(job, {.ordering = each.ordering}).expected <
          std::numeric_limits<double>::infinity());
}

TEST_CASE("A kind whose jobs end soon is expected to end soon and to run on once it did not") {
  const auto kind = [](double ran, bool ended) {
    std::vector<KnownRun> others;
    for (int i = 0; i < 10; ++i) others.push_back({i * 60.0, ran, ended});
    return others;
  };
  CHECK(gittinsIndex(kind(100, true), 0) > 10 * gittinsIndex(kind(100'000, true), 0));
  CHECK(gittinsIndex(kind(100, true), 0) == Approx(1.0 / 100).epsilon(0.3));
  CHECK(gittinsIndex({}, 0) > 0);
  // It has outlived all jobs of its kind.
  CHECK(gittinsIndex(kind(100, true), 5'000) < 1.0 / 1'000);
  // A job that has run long without ending is expected to run long.
  CHECK(gittinsIndex(kind(200'000, false), 0) < gittinsIndex({}, 0));
}

}  // namespace
