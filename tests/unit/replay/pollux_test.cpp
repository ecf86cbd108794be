
#include <array>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "replay/run.h"
#include "replay/traces/pollux_trace.h"
#include "unit/replay/trace_files.h"

namespace {

using namespace trainyard;          // NOLINT(google-build-using-namespace): test
using namespace trainyard::replay;  // NOLINT(google-build-using-namespace): test
using replay::testing::readFile;

const std::string kFolder = std::string(TRAINYARD_TRACES) + "/pollux";

ReplayResult replay(int workload, ReplayPolicy policy, bool checkpoints = false) {
  ReplayOptions options;
  options.format = ReplayFormat::kPollux;
  options.policy = policy;
  options.jobsFile = fmt::format("{}/workloads/workload-{}.csv", kFolder, workload);
  options.cluster = "16x4";
  if (checkpoints) options.checkpoint.permille = ReplayCheckpoint::kAll;
  return replay::testing::replay(options);
}

// Published with the artifact. Its interpolation beyond four nodes differs, which these two do not need.
TEST_CASE("Tiresias on Pollux' workloads gives the published mean to the last digit") {
  CHECK(replay(2, kTiresias).meanCompletionSeconds == Approx(5'144.9625).epsilon(1e-9).margin(0));
  CHECK(replay(3, kTiresias).meanCompletionSeconds == Approx(3'876.25625).epsilon(1e-9).margin(0));
}

TEST_CASE("Our default is ahead of Tiresias on Pollux' workloads") {
  // With checkpoints, as for the artifact's own policies; the values are those of docs/replay.md.
  const double second = replay(2, ReplayPolicy{}, true).meanCompletionSeconds;
  CHECK(second == Approx(4'397.861460).epsilon(1e-6).margin(0));
  CHECK(second < 5'144.9625);
  const double third = replay(3, ReplayPolicy{}, true).meanCompletionSeconds;
  CHECK(third == Approx(2'882.998873).epsilon(1e-6).margin(0));
  CHECK(third < 3'876.25625);
}

TEST_CASE("Elastic and without reports Pollux' workloads are ahead of Tiresias") {
  constexpr std::array kPublished{2'473.65, 5'144.9625, 3'876.25625, 3'280.2625};
  for (int workload = 1; workload <= static_cast<int>(kPublished.size()); ++workload) {
    INFO(workload);
    ReplayOptions options;
    options.format = ReplayFormat::kPollux;
    options.jobsFile = fmt::format("{}/workloads/workload-{}.csv", kFolder, workload);
    options.cluster = "16x4";
    options.elastic = true;
    options.reports = false;
    CHECK(replay::testing::replay(options).meanCompletionSeconds <
          kPublished[static_cast<std::size_t>(workload) - 1]);
  }
}

TEST_CASE("Step times: nodes in either order and sizes between measured ones and beyond four nodes") {
  const auto bert = PolluxApplication::read("bert", kFolder + "/traces/bert", readFile);
  REQUIRE(bert);
  CHECK(bert->stepTime({4, 1}, 4).step == bert->stepTime({1, 4}, 4).step);
  const double four = bert->stepTime({1}, 4).step;
  const double six = bert->stepTime({1}, 6).step;
  CHECK(four == Approx(0.45532354712486267));
  CHECK(bert->stepTime({1}, 5).step == Approx((four + six) / 2));
  // Never beyond the measured range.
  CHECK(bert->stepTime({1}, 1).step == four);
  CHECK(bert->stepTime({1, 1, 1, 1, 1, 1}, 4).step == Approx(1.4923269003629684));
  const double five = bert->stepTime({2, 1, 1, 1, 1}, 4).step;
  CHECK(five > 0);
}

TEST_CASE("Workloads and tables that cannot be used are refused with file and line and column") {
  const auto with = [](const std::string& row) {
    const auto trace =
        readPolluxJobs("w/w.csv", 4, [&](const std::string& path) -> base::Result<std::string> {
          if (path == "w/w.csv") return "name,time,application,num_replicas,batch_size\n" + row + "\n";
          if (path == "w/../traces/bert/placements.csv")
            return std::string("placement,local_bsz,step_time,sync_time\n1,4,nan,0\n");
          return base::fail(base::ErrorCode::kInvalid, path + ": cannot be read");
        });
    return trace ? "read" : trace.error().message;
  };
  CHECK(with("a,-1,bert,1,12") == "w/w.csv line 2, column time: -1 is not between 0 and 10000000000");
  CHECK(with("a,1,bert,0,12") == "w/w.csv line 2, column num_replicas: 0 is not between 1 and 1000000");
  CHECK(with("a,1,gpt,1,12") ==
        "w/w.csv line 2, column application: nothing is known of the application 'gpt'");
  CHECK(with("a,1,bert,1,12") ==
        "w/w.csv line 2, column application: w/../traces/bert/placements.csv line 2, column step_time: 'nan' "
        "is not a "
        "number");
}

}  // namespace
