#include "core/freed_places.h"

#include <chrono>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "support/builders.h"

using namespace trainyard;
using namespace trainyard::test;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kNow = 1'000;

model::Job gang() { return job("ml/bert").role("worker", 2, gpus(8)).placed("n1", "worker", "0-1"); }

model::Pod ended(std::string_view node, std::int64_t when) {
  model::Pod made =
      pod("x").memberOf(gang(), "worker", 0).gpus(8).on(node).phase(model::PodPhase::kSucceeded);
  made.exit = model::ContainerExit{0, "Completed", "", at(when)};
  return made;
}

core::FreedPlaces freed(const SnapshotBuilder& builder, std::chrono::milliseconds keep = 2s) {
  model::Snapshot snapshot = builder;
  snapshot.policy.backfill.keepFreed = keep;
  return core::freedPlaces(snapshot);
}

std::vector<model::NodeName> names(const std::vector<std::string>& nodes) {
  return {nodes.begin(), nodes.end()};
}

}  // namespace

TEST_CASE("a node that a member has just ended on is kept, for a while") {
  const auto one = cluster().now(kNow).add(gang()).add(ended("n1", kNow - 1));
  CHECK(freed(one).nodes == names({"n1"}));
  CHECK(freed(one).nextEnd == at(kNow + 1));
  CHECK(freed(one, 1s).nodes.empty());
  CHECK_FALSE(freed(one, 1s).nextEnd);
  CHECK(freed(one, 0s).nodes.empty());
}

TEST_CASE("a node whose clock is ahead, a stranger's end, and a pod that never ran keep nothing") {
  model::Pod stranger = ended("n2", kNow);
  stranger.member.reset();
  CHECK(freed(cluster().now(kNow).add(ended("n1", kNow + 1))).nodes.empty());
  CHECK(freed(cluster().now(kNow).add(stranger)).nodes.empty());
  CHECK(freed(cluster().now(kNow).add(ended("", kNow))).nodes.empty());
  model::Pod runs = ended("n1", kNow);
  runs.phase = model::PodPhase::kRunning;
  CHECK(freed(cluster().now(kNow).add(runs)).nodes.empty());
}

TEST_CASE("a job that has ended tells for its pods, which may be gone") {
  model::Job over = gang();
  over.status.completionTime = at(kNow - 1);
  CHECK(freed(cluster().now(kNow).add(over)).nodes == names({"n1"}));
  CHECK(freed(cluster().now(kNow).add(over).add(ended("n1", kNow))).nodes == names({"n1"}));
  CHECK(freed(cluster().now(kNow).add(over).add(ended("n1", kNow))).nextEnd == at(kNow + 1));
  over.status.completionTime = at(kNow - 2);
  CHECK(freed(cluster().now(kNow).add(over)).nodes.empty());
}
