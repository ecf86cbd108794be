#include "agent/tc_plan.h"

#include <catch2/catch.hpp>

#include "memory_kernel.h"

using namespace trainyard;
using namespace trainyard::agent;

namespace {

FlowKey flow(const std::string& address, std::uint16_t port = 0) { return {*parseIpAddress(address), port}; }

const LinkSettings kLink{25'000'000, 200};

core::BandPlan bandsOf(const std::vector<JobTraffic>& jobs) {
  core::BandPlan plan;
  int band = 0;
  for (const JobTraffic& job : jobs) plan.bands.push_back({job.uid, band++});
  return plan;
}

std::vector<TcChange> settle(MemoryKernel& kernel, const std::vector<JobTraffic>& jobs) {
  const WantedLink wanted = wantedLink(jobs, bandsOf(jobs), kernel.link, kLink);
  const TcChanges changes = planChanges(wanted, kernel.link);
  for (const TcChange& each : changes.changes) {
    INFO(describe(each));
    REQUIRE(kernel.apply("eth0", each));
  }
  return changes.changes;
}

const std::vector<JobTraffic> kTwo{{"a", {flow("10.0.0.1")}}, {"b", {flow("10.0.0.2"), flow("fd00::2")}}};

}  // namespace

TEST_CASE("a tree is built once and then nothing changes") {
  MemoryKernel kernel;
  CHECK(settle(kernel, kTwo).size() == 1 + 4 + 3);
  CHECK(kernel.link.classes.size() == 4);
  CHECK(settle(kernel, kTwo).empty());
}

TEST_CASE("an order is changed in place without removing a class") {
  MemoryKernel kernel;
  settle(kernel, kTwo);
  auto jobs = kTwo;
  std::swap(jobs[0], jobs[1]);
  const auto changes = settle(kernel, jobs);
  REQUIRE(changes.size() == 2);
  for (const TcChange& each : changes) CHECK(std::get<SetClass>(each).exists);
}

TEST_CASE("a job keeps its class when the agent restarts and when the order of jobs changes") {
  MemoryKernel kernel;
  settle(kernel, kTwo);
  auto jobs = kTwo;
  jobs.insert(jobs.begin(), {"0", {flow("10.0.0.9")}});
  const auto minors = classesFor(jobs, kernel.link);
  CHECK(minors == std::vector<std::uint16_t>{kFirstJobClass + 2, kFirstJobClass, kFirstJobClass + 1});
}

TEST_CASE("a class with waiting packets stays until they are sent") {
  MemoryKernel kernel;
  settle(kernel, kTwo);
  for (FoundClass& each : kernel.link.classes) {
    if (each.shape.minor == kFirstJobClass + 1) each.waitingPackets = 3;
  }
  const std::vector<JobTraffic> one{kTwo.front()};
  const WantedLink wanted = wantedLink(one, bandsOf(one), kernel.link, kLink);
  auto changes = planChanges(wanted, kernel.link);
  CHECK(changes.waiting);
  for (const TcChange& each : changes.changes) CHECK(!std::holds_alternative<RemoveClass>(each));
  for (const TcChange& each : changes.changes) REQUIRE(kernel.apply("eth0", each));
  for (FoundClass& each : kernel.link.classes) each.waitingPackets = 0;
  changes = planChanges(wanted, kernel.link);
  CHECK(!changes.waiting);
  CHECK(changes.changes == std::vector<TcChange>{RemoveClass{kFirstJobClass + 1}});
}

TEST_CASE("nothing is taken down while packets wait") {
  MemoryKernel kernel;
  settle(kernel, kTwo);
  kernel.link.classes[1].waitingPackets = 1;
  auto changes = planChanges({}, kernel.link);
  CHECK(changes.waiting);
  for (const TcChange& each : changes.changes) CHECK(std::holds_alternative<RemoveFilter>(each));
  kernel.link.classes[1].waitingPackets = 0;
  changes = planChanges({}, kernel.link);
  CHECK(std::holds_alternative<RemoveQdisc>(changes.changes.back()));
}

TEST_CASE("a foreign qdisc is left alone") {
  FoundLink found;
  found.root = RootOwner::kForeign;
  found.rootKind = "tbf";
  const auto changes = planChanges(wantedLink(kTwo, bandsOf(kTwo), found, kLink), found);
  CHECK(changes.foreign);
  CHECK(changes.changes.empty());
}

TEST_CASE("foreign changes are corrected") {
  MemoryKernel kernel;
  settle(kernel, kTwo);
  SECTION("a filter is missing") { kernel.link.filters.pop_back(); }
  SECTION("a filter leads elsewhere") { kernel.link.filters[0].filter->minor = kOthersClass; }
  SECTION("a filter occurs twice") {
    kernel.link.filters.push_back(kernel.link.filters[0]), kernel.link.filters.back().handle = 7;
  }
  SECTION("a foreign filter is added") {
    kernel.link.filters.push_back({9, kFilterPriority4, false, std::nullopt});
  }
  SECTION("a class has another rate") { kernel.link.classes[2].shape.rate = 1; }
  SECTION("a class is in another band") { kernel.link.classes[3].shape.band = 6; }
  SECTION("a class is added") { kernel.link.classes.push_back({{77, kLinkClass, 0, 1, 1}}); }
  SECTION("a class has another parent") { kernel.link.classes[2].shape.parentMinor = 0; }
  SECTION("everything is missing") { kernel.link = {}; }
  for (int round = 0; round < 3; ++round) settle(kernel, kTwo);
  CHECK(settle(kernel, kTwo).empty());
  CHECK(kernel.link.classes.size() == 4);
  CHECK(kernel.link.filters.size() == 3);
}

TEST_CASE("guaranteed parts leave what others are certain of") {
  core::BandPlan bands = bandsOf(kTwo);
  bands.guaranteedPermille = 250;
  const WantedLink wanted = wantedLink(kTwo, bands, {}, kLink);
  REQUIRE(wanted.classes.size() == 4);
  CHECK(wanted.classes[1].rate == 5'000'000);
  CHECK(wanted.classes[2].rate == 2'500'000);  // a quarter of half of the rest
  for (const TcClass& each : wanted.classes) CHECK(each.ceil == 25'000'000);
}

TEST_CASE("addresses") {
  CHECK(parseIpAddress("10.1.2.3")->bytes[3] == 3);
  CHECK(parseIpAddress("fd00::1")->v6);
  CHECK(!parseIpAddress("ten"));
}
