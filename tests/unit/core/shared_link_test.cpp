#include <catch2/catch.hpp>

#include "core/network.h"

using namespace trainyard;
using namespace trainyard::core;
using std::chrono::milliseconds;

namespace {

constexpr std::int64_t kLink = 25'000'000;  // 200 Mbit/s

BurstProfile burst(std::int64_t bytes, milliseconds gap) { return {bytes, gap}; }

RankedJob ranked(const std::string& uid, int second, std::optional<BurstProfile> profile = std::nullopt) {
  RankedJob job;
  job.uid = uid;
  job.since = base::WallTime(std::chrono::seconds(second));
  job.burst = profile;
  return job;
}

std::vector<std::string> uids(const BandPlan& plan) {
  std::vector<std::string> found;
  for (const JobBand& each : plan.bands) found.push_back(each.uid);
  return found;
}

}  // namespace

TEST_CASE("alone on a link a job has its full speed") {
  for (const auto order : {LinkOrder::kShared, LinkOrder::kStrict, LinkOrder::kRotated})
    CHECK(linkSpeeds({burst(12'500'000, milliseconds(500))}, kLink, order) == std::vector<int>{1'000});
}

TEST_CASE("both jobs gain by a strict order only with a gap longer than a burst") {
  const std::vector<BurstProfile> roomy(2, burst(12'500'000, milliseconds(700)));
  const auto shared = linkSpeeds(roomy, kLink, LinkOrder::kShared);
  const auto strict = linkSpeeds(roomy, kLink, LinkOrder::kStrict);
  CHECK(strict[0] >= shared[0]);
  CHECK(strict[1] * 100 >= shared[1] * 95);
  CHECK(chooseDiscipline(roomy, kLink) == Discipline::kStrict);

  const std::vector<BurstProfile> tight(2, burst(12'500'000, milliseconds(500)));
  const auto missed = linkSpeeds(tight, kLink, LinkOrder::kStrict);
  CHECK(missed[1] < linkSpeeds(tight, kLink, LinkOrder::kShared)[1]);
  CHECK(chooseDiscipline(tight, kLink) != Discipline::kStrict);
}

TEST_CASE("on a full link an order gains nothing and every job has a guaranteed part") {
  const std::vector<BurstProfile> full(7, burst(12'500'000, milliseconds(100)));
  CHECK(chooseDiscipline(full, kLink) == Discipline::kGuaranteed);
}

TEST_CASE("the policy One orders by age and in blocks of jobs where there are more than bands") {
  BandQuestion question{.policy = BandPolicy::kOne, .bytesPerSecond = kLink};
  for (int i = 0; i < 9; ++i)
    question.jobs.push_back(ranked(std::string(1, static_cast<char>('a' + i)), 100 - i));
  const BandPlan plan = planBands(question);
  CHECK(plan.bands.front() == JobBand{"i", 0});
  CHECK(plan.bands[1].band == 0);
  CHECK(plan.bands.back() == JobBand{"a", 4});
  CHECK(plan.guaranteedPermille == 0);
}

TEST_CASE("by round robin every job is first once and at the same time on every node") {
  BandQuestion question{.policy = BandPolicy::kRoundRobin, .bytesPerSecond = kLink};
  question.jobs = {ranked("a", 1), ranked("b", 2), ranked("c", 3)};
  std::vector<std::string> firsts;
  for (int turn = 0; turn < 3; ++turn) {
    question.now = base::WallTime(std::chrono::seconds(60 * 20 + 20 * turn));
    firsts.push_back(planBands(question).bands.front().uid);
  }
  CHECK(firsts == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("the shortest burst goes first and small differences change nothing") {
  BandQuestion question{.bytesPerSecond = kLink};
  question.jobs = {ranked("a", 1, burst(1'000'000, milliseconds(900))),
                   ranked("b", 2, burst(900'000, milliseconds(900))), ranked("c", 3)};
  question.lastOrder = {"a", "b", "c"};
  CHECK(planBands(question).order == std::vector<std::string>{"a", "b", "c"});
  question.jobs[1].burst->bytes = 700'000;
  CHECK(planBands(question).order == std::vector<std::string>{"b", "a", "c"});
  question.lastOrder = {};
  question.jobs[1].burst->bytes = 999'999;
  CHECK(planBands(question).order == std::vector<std::string>{"b", "a", "c"});
}

TEST_CASE("ties: the nearest expected end and then age") {
  BandQuestion question{.bytesPerSecond = kLink};
  question.jobs = {ranked("a", 1), ranked("b", 2), ranked("c", 3)};
  question.jobs[2].expectedEnd = base::WallTime(std::chrono::seconds(500));
  CHECK(planBands(question).order == std::vector<std::string>{"c", "a", "b"});
}

TEST_CASE("a job that names its band has it") {
  BandQuestion question{.policy = BandPolicy::kOne, .bytesPerSecond = kLink};
  question.jobs = {ranked("a", 1), ranked("b", 2)};
  question.jobs[0].fixedBand = 6;
  CHECK(uids(planBands(question)) == std::vector<std::string>{"b", "a"});
  CHECK(planBands(question).bands.back().band == 6);
}
