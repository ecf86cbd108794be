#include "core/timeline/recently_freed.h"

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

struct Left {
  std::string node;
  std::int64_t at = 0;
};

core::RecentlyFreed freed(const std::vector<Left>& left, std::chrono::milliseconds keep = 2s,
                          const model::Job& head = job("ml/head").role("worker", 4, gpus(8)),
                          const model::Pod& beside = pod("tools/none").on("n2")) {
  model::Snapshot snapshot = cluster().now(kNow).add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(beside);
  for (const Left& each : left)
    snapshot.freed.push_back({model::NodeName(each.node), model::Uid("g"), at(each.at)});
  snapshot.policy.backfill.keepFreed = keep;
  return core::recentlyFreed(snapshot, core::Ledger(snapshot), head);
}

std::vector<model::NodeName> names(const std::vector<std::string>& nodes) {
  return {nodes.begin(), nodes.end()};
}

}  // namespace

TEST_CASE("a node on which a member has just ended is reserved for a while") {
  const std::vector<Left> one = {{"n1", kNow - 1}};
  CHECK(freed(one).nodes == names({"n1"}));
  CHECK(freed(one).nextEnd == at(kNow + 1));
  CHECK(freed(one, 1s).nodes.empty());
  CHECK_FALSE(freed(one, 1s).nextEnd);
  CHECK(freed(one, 0s).nodes.empty());
}

TEST_CASE("a node on which a gang's members end repeatedly is not reserved again") {
  const std::vector<Left> often = {{"n1", kNow - 3}, {"n1", kNow - 1}};
  CHECK(freed(often).nodes.empty());
  CHECK(freed(often, 5s).nodes == names({"n1"}));
  CHECK(freed(often, 5s).nextEnd == at(kNow + 2));
}

TEST_CASE("a node that the first pending job cannot use is not reserved for it") {
  const std::vector<Left> one = {{"n1", kNow}};
  CHECK(freed(one).nodes == names({"n1"}));
  CHECK(freed(one, 2s, job("ml/head").role("worker", 4, gpus(9))).nodes.empty());
  CHECK(freed(one, 2s, job("ml/head").role("worker", 4, gpus(8)).select("pool", "a100")).nodes.empty());
  const model::Pod beside = pod("tools/other").gpus(1).on("n1").phase(model::PodPhase::kRunning);
  CHECK(freed(one, 2s, job("ml/head").role("worker", 4, gpus(8)), beside).nodes.empty());
}
