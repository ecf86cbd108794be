#include <map>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "replay/run.h"
#include "replay/traces/csv.h"
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
  const std::map<std::string, ReplayPolicy> policies{
      {"SRTF", ReplayPolicy::kSrtf}, {"SRSF", ReplayPolicy::kSrsf}, {"Tiresias_L", ReplayPolicy::kTiresias}};
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

// Two minutes of a release build: replay_tests "[long]".
TEST_CASE("Without durations the default is ahead of Tiresias-L, with them by SRSF, and of neither bound",
          "[.][long]") {
  double ratio = 1;
  for (const int trace : {1, 3}) {
    CAPTURE(trace);
    ReplayOptions options = muri(trace, ReplayPolicy::kDefault);
    // As in Muri's simulator a stop costs the start-up alone.
    options.checkpoint.permille = ReplayCheckpoint::kAll;
    const ReplayResult guessing = replay(options);
    CHECK(guessing.meanCompletionSeconds < published(trace, "Tiresias_L").mean);
    CHECK(guessing.meanCompletionSeconds > guessing.fluidLowerBoundSeconds);
    ratio *= guessing.meanCompletionSeconds / published(trace, "Tiresias_L").mean;
    options.withDurations = true;
    const ReplayResult knowing = replay(options);
    CHECK(knowing.meanCompletionSeconds < 1.02 * published(trace, "SRSF").mean);
    CHECK(knowing.meanCompletionSeconds > knowing.fluidLowerBoundSeconds);
  }
  CHECK(std::sqrt(ratio) < 0.7);
}

}  // namespace
