#include <map>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "replay/papers/muri.h"
#include "replay/run.h"
#include "replay/traces/csv.h"
#include "replay/traces/muri_trace.h"
#include "unit/replay/trace_files.h"

namespace {

using namespace trainyard;          // NOLINT(google-build-using-namespace): test
using namespace trainyard::replay;  // NOLINT(google-build-using-namespace): test
using replay::testing::readFile;
using replay::testing::replay;

ReplayOptions muri(int trace, ReplayPolicy policy) {
  ReplayOptions options;
  options.policy = policy;
  options.jobsFile = fmt::format("{}/muri/trace{}.csv", TRAINYARD_TRACES, trace);
  options.cluster = std::string(TRAINYARD_TRACES) + "/muri/n8g8.csv";
  return options;
}

struct Published {
  double mean = 0;
  double makespan = 0;
  double p99 = 0;
};

Published published(int trace, const std::string& policy) {
  const auto text = readFile(std::string(TRAINYARD_TRACES) + "/muri/published_results.csv");
  const auto table = CsvTable::parse("published_results.csv", *text);
  REQUIRE(table);
  const auto number = [&](std::size_t row, const char* column) {
    return *table->number(row, *table->column(column), 0, 1e12);
  };
  for (std::size_t row = 0; row < table->rows(); ++row) {
    if (table->text(row, *table->column("trace")) == fmt::format("trace{}", trace) &&
        table->text(row, *table->column("policy")) == policy)
      return {number(row, "avg_jct_s"), number(row, "makespan_s"), number(row, "p99_jct_s")};
  }
  FAIL("not published: " << policy);
  return {};
}

TEST_CASE("By Muri's rules equal policies give its published numbers") {
  const std::map<std::string, ReplayPolicy> policies{{"SRTF", ReplayPolicy{model::Ordering::kSrtf}},
                                                     {"SRSF", ReplayPolicy{model::Ordering::kSrsf}},
                                                     {"Tiresias_L", kTiresias}};
  for (const int trace : {1, 3}) {
    for (const auto& [name, policy] : policies) {
      CAPTURE(trace, name);
      ReplayOptions options = muri(trace, policy);
      options.semantics = ReplaySemantics::kMuri;
      const ReplayResult result = replay(options);
      const Published expected = published(trace, name);
      CHECK(result.meanCompletionSeconds == Approx(expected.mean).epsilon(1e-6).margin(0));
      CHECK(result.makespanSeconds == Approx(expected.makespan).epsilon(1e-6).margin(0));
      CHECK(result.p99CompletionSeconds == Approx(expected.p99).epsilon(1e-6).margin(0));
    }
  }
}

// If sums of running times miss a queue's limit, the rest is less than the clock's resolution then.
TEST_CASE("Tiresias by Muri's rules ends when all jobs are submitted at once") {
  const std::string file = std::string(TRAINYARD_TRACES) + "/muri/trace1.csv";
  auto trace = readMuriJobs(file, *readFile(file));
  REQUIRE(trace);
  for (MuriJob& job : trace->jobs) job.submit = 0;
  for (TraceJob& job : trace->trace.jobs) job.submitted = {};
  const auto cluster = *parseClusterShape("8x8");
  const auto result = runMuri(*trace, cluster, kTiresias, [](std::size_t, std::size_t) {});
  REQUIRE(result);
  CHECK(result->jobs == trace->jobs.size());
}

}  // namespace
