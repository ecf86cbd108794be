#include "codec/progress_report.h"

#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/job.h"
#include "codec/job_status.h"

using namespace trainyard;  // NOLINT(google-build-using-namespace): test

namespace {

base::WallTime at(std::int64_t seconds) {
  return base::WallTime(std::chrono::seconds(1'790'000'000 + seconds));
}

std::optional<model::Progress> reportOf(const std::string& line) {
  model::Progress progress;
  if (!codec::readReport(line, at(100), progress)) return std::nullopt;
  return progress;
}

}  // namespace

TEST_CASE("a report is read at any position of a line") {
  const auto progress = reportOf(
      "2026-11-23 04:00:00 [INFO] \x1b[32mtrainyard-progress: {\"step\":120,\"totalSteps\":1000,"
      "\"samplesPerSecond\":834.25,\"loss\":0.31,\"replicas\":4,\"checkpoint\":\"2026-09-21T00:00:00Z\","
      "\"remainingSeconds\":61.7,\"noiseSamples\":4096}\x1b[0m");
  REQUIRE(progress);
  CHECK(progress->step == 120);
  CHECK(progress->totalSteps == 1000);
  CHECK(progress->milliSamplesPerSecond == 834'250);
  CHECK(progress->replicas == 4);
  CHECK(progress->remainingSeconds == 61);
  CHECK(progress->noiseSamples == 4096);
  CHECK(progress->metrics == std::vector<std::pair<std::string, std::string>>{{"loss", "0.31"}});
  REQUIRE(progress->lastCheckpoint);
  CHECK(base::formatTime(*progress->lastCheckpoint) == "2026-09-21T00:00:00Z");
  CHECK(progress->at == at(100));
}

TEST_CASE("values that a report omits stay except the remaining time") {
  model::Progress progress;
  REQUIRE(codec::readReport(R"(trainyard-progress: {"step":1,"totalSteps":9,"loss":2,"remainingSeconds":8})",
                            at(1), progress));
  REQUIRE(codec::readReport(R"(trainyard-progress: {"step":2,"accuracy":0.5})", at(2), progress));
  CHECK(progress.step == 2);
  CHECK(progress.totalSteps == 9);
  CHECK_FALSE(progress.remainingSeconds);
  CHECK(progress.metrics ==
        std::vector<std::pair<std::string, std::string>>{{"accuracy", "0.5"}, {"loss", "2"}});
}

TEST_CASE("a speed belongs to the size that was reported with it") {
  model::Progress progress;
  const auto read = [&](const std::string& json) {
    return codec::readReport("trainyard-progress: " + json, at(1), progress);
  };
  REQUIRE(read(R"({"step":1,"samplesPerSecond":100})"));
  REQUIRE(read(R"({"replicas":2})"));
  CHECK(progress.milliSamplesPerSecond == 100'000);
  REQUIRE(read(R"({"step":2,"replicas":2})"));
  CHECK(progress.milliSamplesPerSecond == 100'000);
  REQUIRE(read(R"({"step":3,"replicas":4,"pauseMillis":310})"));
  CHECK_FALSE(progress.milliSamplesPerSecond);
  REQUIRE(read(R"({"step":4,"replicas":2,"samplesPerSecond":90})"));
  CHECK(progress.milliSamplesPerSecond == 90'000);
}

TEST_CASE("the slowest rank is compared with the median") {
  auto progress = reportOf(R"(trainyard-progress: {"step":5,"ranks":{"0":0.2,"1":0.2,"2":0.5,"3":0.21}})");
  REQUIRE(progress);
  CHECK(progress->slowestRank == 2);
  CHECK(progress->slowdownPermille == 2500);
  // The lower one of equal ranks counts; a single rank is not slower than any other.
  progress = reportOf(R"(trainyard-progress: {"step":5,"ranks":{"1":0.3,"0":0.3}})");
  REQUIRE(progress);
  CHECK(progress->slowestRank == 0);
  CHECK(progress->slowdownPermille == 1000);
  progress = reportOf(R"(trainyard-progress: {"step":5,"ranks":{"0":0.3}})");
  REQUIRE(progress);
  CHECK(progress->slowestRank == -1);
}

TEST_CASE("values beyond all bounds count as not given") {
  const auto progress = reportOf(
      R"(trainyard-progress: {"step":7,"totalSteps":-3,"samplesPerSecond":1e300,"replicas":99999999,)"
      R"("remainingSeconds":-1,"noiseSamples":"many","checkpoint":"yesterday","loss":"x","a b":1,)"
      R"("ranks":{"-1":1,"x":2,"0":-5,"1":1e99},"grad":1e-7})");
  REQUIRE(progress);
  model::Progress expected;
  expected.step = 7;
  expected.at = at(100);
  expected.metrics = {{"grad", progress->metrics.at(0).second}};
  CHECK(*progress == expected);
  // A checkpoint in the future counts as written now.
  CHECK(reportOf(R"(trainyard-progress: {"checkpoint":"2999-01-01T00:00:00Z"})")->lastCheckpoint == at(100));
}

TEST_CASE("a line that is no report changes nothing") {
  CHECK_FALSE(reportOf("step 1 of 10"));
  CHECK_FALSE(reportOf("trainyard-progress: "));
  CHECK_FALSE(reportOf("trainyard-progress: {\"step\":"));
  CHECK_FALSE(reportOf("trainyard-progress: [1,2]"));
  CHECK_FALSE(reportOf("trainyard-progress: {}"));
  CHECK_FALSE(reportOf(R"(trainyard-progress: {"step":-1})"));
  CHECK_FALSE(reportOf(R"(trainyard-progress: {"step":99999999999999999999999999})"));
  // Python writes NaN, which is not JSON.
  CHECK_FALSE(reportOf(R"(trainyard-progress: {"step":1,"loss":NaN})"));
  CHECK_FALSE(reportOf(R"(trainyard-progress: {"step":1,"note":")" + std::string(1 << 20, 'x') + "\"}"));
  CHECK_FALSE(reportOf("trainyard-progress: " + std::string(60'000, '{')));
}

TEST_CASE("at most 32 other figures are stored") {
  std::string line = R"(trainyard-progress: {"step":1)";
  for (int i = 0; i < 1000; ++i) line += fmt::format(R"(,"m{}":{})", i, i);
  const auto progress = reportOf(line + "}");
  REQUIRE(progress);
  CHECK(progress->metrics.size() == 32);
}

TEST_CASE("the end of a log is read with the times of its lines") {
  const std::string log =
      "2026-09-21T14:13:20.000000000Z trainyard-progress: {\"step\":1}\n"
      "2026-09-21T14:13:21.500000000Z trainyard-progress: {\"step\":2}\n"
      "2026-09-21T14:13:22.000000000Z something else\n";
  model::Progress progress;
  const codec::LogTail tail = codec::readLogTail(log, base::WallTime::min(), at(1'000'000), progress);
  CHECK(tail.reported);
  CHECK(progress.step == 2);
  CHECK(base::formatTime(progress.at) == "2026-09-21T14:13:21Z");
  REQUIRE(tail.lastLine);
  CHECK(base::formatTime(*tail.lastLine) == "2026-09-21T14:13:22Z");

  SECTION("lines that were read before are not read again") {
    model::Progress again;
    CHECK_FALSE(codec::readLogTail(log, *tail.lastLine, at(1'000'000), again).reported);
    CHECK(again == model::Progress{});
  }
  SECTION("a line from the future counts as present") {
    model::Progress late;
    const codec::LogTail read = codec::readLogTail(log, base::WallTime::min(), at(-1'000'000), late);
    CHECK(late.at == at(-1'000'000));
    CHECK(read.lastLine == at(-1'000'000));
  }
  SECTION("another last line has another fingerprint") {
    model::Progress other;
    CHECK(codec::readLogTail(log, at(0), at(1), other).fingerprint == tail.fingerprint);
    CHECK(codec::readLogTail(log + "2026-09-21T14:13:22Z x\n", at(0), at(1), other).fingerprint !=
          tail.fingerprint);
  }
}

TEST_CASE("lines without a time are read as well") {
  model::Progress progress;
  const auto tail =
      codec::readLogTail("trainyard-progress: {\"step\":3}", base::WallTime::min(), at(5), progress);
  CHECK(tail.reported);
  CHECK(progress.at == at(5));
  CHECK_FALSE(tail.lastLine);
  CHECK(codec::readLogTail("", base::WallTime::min(), at(5), progress).fingerprint == 0);
}

TEST_CASE("status.progress decodes to what was encoded and has a percentage for people") {
  model::JobStatus status;
  status.progress = reportOf(
      R"(trainyard-progress: {"step":999,"totalSteps":1000,"samplesPerSecond":834.25,"loss":0.31,"replicas":4,)"
      R"("checkpoint":"2026-09-21T00:00:00Z","remainingSeconds":61,"noiseSamples":4096,"ranks":{"0":1,"1":3}})");
  REQUIRE(status.progress);
  const std::string json = codec::encodeJobStatus(status);
  INFO(json);
  CHECK(json.find(R"("percentage":99)") != std::string::npos);
  CHECK(json.find(R"("slowest":{"rank":1,"slowdownPermille":3000})") != std::string::npos);
  const auto job = codec::decodeJob(
      R"({"metadata":{"name":"a","namespace":"b","uid":"u","resourceVersion":"1"},"status":)" + json + "}");
  REQUIRE(job);
  CHECK(job->status.progress == status.progress);
}
