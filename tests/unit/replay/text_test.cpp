#include <catch2/catch.hpp>

#include "replay/engine/plot.h"
#include "replay/engine/text.h"
#include "replay/run.h"

namespace {

using namespace trainyard::replay;  // NOLINT(google-build-using-namespace): test

ReplayResult small() {
  ReplayResult result;
  result.jobs = 2;
  result.meanCompletionSeconds = 1'234'567.25;
  result.fluidLowerBoundSeconds = 1000;
  result.makespanSeconds = 100;
  result.capacity = 4;
  result.gpuUtilization = 0.5;
  result.fairShareDelaySeconds = {3, 1.5, 2};
  result.samples = {{0, 0, 1}, {50, 4, 0}, {100, 0, 0}};
  result.sortedCompletionSeconds = {50, 100};
  result.notes = {"Said beside the numbers."};
  return result;
}

std::string refusal(const ReplayOptions& options) {
  const auto good = checkReplay(options);
  return good ? "" : good.error().message;
}

TEST_CASE("The JSON has the documented keys") {
  CHECK(
      replayJson(small()) ==
      R"({"jobs":2,"meanCompletionSeconds":1234567.25,"fluidLowerBoundSeconds":1000,"medianCompletionSeconds":0,)"
      R"("p99CompletionSeconds":0,"makespanSeconds":100,"gpuUtilization":0.5,"gpuAllocation":0,"fairnessLoss":0,)"
      R"("fairShareDelaySeconds":{"total":3,"mean":1.5,"p99":2},)"
      R"("fragmentationDelaySeconds":{"total":0,"mean":0,"p99":0},"finishTimeRatio":{"mean":0,"p95":0},)"
      R"("belowGuaranteeSeconds":0,"lostGpuSeconds":0,"preemptions":0,"resizes":0})"
      "\n");
}

TEST_CASE("The table shows the bound beside the mean and the notes") {
  const std::string table = replayTable(small());
  CHECK(table.find(
            "mean completion time                     1,234,567.2 s   no schedule is below 1,000.0 s\n") !=
        std::string::npos);
  CHECK(table.find("Said beside the numbers.\n") != std::string::npos);
}

TEST_CASE("The plot draws three panels and file names cannot break it") {
  const std::string plot = replayPlot(small(), "a<b & c");
  CHECK(plot.find("a&lt;b &amp; c") != std::string::npos);
  CHECK(plot.find("GPUs in use of 4") != std::string::npos);
  CHECK(plot.find("Waiting jobs") != std::string::npos);
  CHECK(plot.find("Share of jobs that completed within") != std::string::npos);
  CHECK(plot.find("nan") == std::string::npos);
  CHECK(replayPlot({}, "nothing").find("nan") == std::string::npos);
}

TEST_CASE("Options that contradict each other are refused with a message") {
  ReplayOptions options;
  CHECK(refusal(options).empty());
  options.semantics = ReplaySemantics::kMuri;
  CHECK(refusal(options) == "--semantics muri knows --policy srtf, srsf and tiresias only");
  options.policy = ReplayPolicy{};
  CHECK(refusal(options) == "--semantics muri knows --policy srtf, srsf and tiresias only");
  options.policy = ReplayPolicy{trainyard::model::Ordering::kSrsf};
  CHECK(refusal(options).empty());
  options.checkpoint.permille = ReplayCheckpoint::kAll;
  CHECK(refusal(options) ==
        "--checkpoint holds for the operator's own decisions only: rules of papers lose no work");
  options.checkpoint = {};
  options.format = ReplayFormat::kPhilly;
  CHECK(refusal(options) == "--semantics muri holds for --format muri only: other traces have no iterations");
  options.semantics = ReplaySemantics::kOwn;
  options.placement = ReplayPlacement::kFgd;
  CHECK(refusal(options) ==
        "--placement holds for --format openb only: elsewhere gangs are placed, not single pods");
  options.placement = ReplayPlacement::kDefault;
  options.policy = kTiresias;
  options.withDurations = true;
  CHECK(refusal(options) ==
        "--with-durations means nothing for --policy las and tiresias: they order by attained service");
}

}  // namespace
