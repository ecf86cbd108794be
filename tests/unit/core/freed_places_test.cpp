#include "core/timeline/freed_places.h"

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

model::Pod ended(std::string_view node, std::int64_t when, int index = 0) {
  model::Pod made =
      pod("x").memberOf(gang(), "worker", index).gpus(8).on(node).phase(model::PodPhase::kSucceeded);
  made.exit = model::ContainerExit{0, "Completed", "", at(when)};
  return made;
}

core::FreedPlaces freed(SnapshotBuilder builder, std::chrono::milliseconds keep = 2s,
                        const model::Job& head = job("ml/head").role("worker", 4, gpus(8))) {
  model::Snapshot snapshot = builder.add(node("n1").gpus(8)).add(node("n2").gpus(8));
  snapshot.policy.backfill.keepFreed = keep;
  return core::freedPlaces(snapshot, core::Ledger(snapshot), head);
}

std::vector<model::NodeName> names(const std::vector<std::string>& nodes) {
  return {nodes.begin(), nodes.end()};
}

}  // namespace

TEST_CASE("a node that a member has just ended on is kept, for a while") {
  const auto one = cluster().now(kNow).add(ended("n1", kNow - 1));
  CHECK(freed(one).nodes == names({"n1"}));
  CHECK(freed(one).nextEnd == at(kNow + 1));
  CHECK(freed(one, 1s).nodes.empty());
  CHECK_FALSE(freed(one, 1s).nextEnd);
  CHECK(freed(one, 0s).nodes.empty());
}

TEST_CASE("who ends on a node again and again closes it to nobody") {
  const auto often = cluster().now(kNow).add(ended("n1", kNow - 3)).add(ended("n1", kNow - 1, 1));
  CHECK(freed(often).nodes.empty());
  CHECK(freed(often, 5s).nodes == names({"n1"}));
  CHECK(freed(often, 5s).nextEnd == at(kNow + 2));
}

TEST_CASE("what the head cannot use is not kept for it") {
  const auto one = cluster().now(kNow).add(ended("n1", kNow));
  CHECK(freed(one).nodes == names({"n1"}));
  CHECK(freed(one, 2s, job("ml/head").role("worker", 4, gpus(9))).nodes.empty());
  CHECK(freed(one, 2s, job("ml/head").role("worker", 4, gpus(8)).select("pool", "a100")).nodes.empty());
  const model::Pod beside = pod("tools/other").gpus(1).on("n1").phase(model::PodPhase::kRunning);
  CHECK(freed(cluster().now(kNow).add(ended("n1", kNow)).add(beside)).nodes.empty());
}

TEST_CASE("a clock that is far ahead, a stranger's end, and a pod that never ran keep nothing") {
  model::Pod stranger = ended("n2", kNow);
  stranger.member.reset();
  CHECK(freed(cluster().now(kNow).add(ended("n1", kNow + 3))).nodes.empty());
  CHECK(freed(cluster().now(kNow).add(stranger)).nodes.empty());
  CHECK(freed(cluster().now(kNow).add(ended("", kNow))).nodes.empty());
  model::Pod runs = ended("n1", kNow);
  runs.phase = model::PodPhase::kRunning;
  CHECK(freed(cluster().now(kNow).add(runs)).nodes.empty());
}

TEST_CASE("a job that has ended tells for its pods, which may be gone") {
  model::Job over =
      job("ml/bert").role("worker", 2, gpus(8)).placed("n1", "worker", "0-1").condition("Succeeded");
  over.status.completionTime = at(kNow - 1);
  CHECK(freed(cluster().now(kNow).add(over)).nodes == names({"n1"}));
  CHECK(freed(cluster().now(kNow).add(over).add(ended("n1", kNow))).nodes == names({"n1"}));
  CHECK(freed(cluster().now(kNow).add(over).add(ended("n1", kNow))).nextEnd == at(kNow + 1));
  over.status.completionTime = at(kNow - 2);
  CHECK(freed(cluster().now(kNow).add(over)).nodes.empty());
}
