#include <cmath>
#include <map>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "replay/engine/engine.h"
#include "replay/engine/partitions.h"
#include "unit/replay/trace_files.h"

namespace {

using namespace trainyard;          // NOLINT(google-build-using-namespace): test
using namespace trainyard::replay;  // NOLINT(google-build-using-namespace): test
using std::chrono::seconds;

const std::string kFolder = std::string(TRAINYARD_TRACES) + "/dorm";

ReplayOptions day(const std::string& load) {
  ReplayOptions options;
  options.format = ReplayFormat::kDorm;
  options.jobsFile = fmt::format("{}/day-{}.csv", kFolder, load);
  options.cluster = kFolder + "/servers.csv";
  return options;
}

std::string errorOf(const std::map<std::string, std::string>& files, const StaticSizes& sizes = {}) {
  const auto trace =
      readDormJobs("d/day.csv", sizes, [&](const std::string& path) -> base::Result<std::string> {
        const auto file = files.find(path);
        if (file == files.end()) return base::fail(base::ErrorCode::kNotFound, path + ": not there");
        return file->second;
      });
  return trace ? "" : trace.error().message;
}

constexpr const char* kApplications =
    "application,cpu,gpus,memory_gib,least,wished,most,scaling\nlr,2,0,8,1,2,4,1\n";

ReplayElastic::Range range(int minimum, int most) {
  ReplayElastic::Range range{.minimum = minimum, .desired = minimum, .most = most, .member = {}};
  range.member.cpu.value = 1'000;
  return range;
}

}  // namespace

TEST_CASE("Dorm's terms are those of its paper over the time with a job in the cluster") {
  // Two applications on one server of four CPUs; the first alone for 100 s, then both.
  model::Resources four;
  four.cpu.value = 4'000;
  four.pods = 110;
  const std::vector<ReplayNode> server{{"s", 0, four}};
  const Trace trace{
      .queues = {"all"},
      .jobs = {{.name = "a", .submitted = seconds(0)}, {.name = "b", .submitted = seconds(100)}},
      .work = {{}, {}}};
  const auto terms = partitionsOf(trace, server, [](std::size_t) { return range(1, 4); },
                                  {{.at = seconds(0), .job = 0, .members = 2, .pause = seconds(30)},
                                   {.at = seconds(200), .job = 1, .members = 2, .pause = seconds(30)},
                                   {.at = seconds(300), .job = 0, .members = 1, .pause = seconds(20)},
                                   {.at = seconds(400), .job = 0, .ended = true},
                                   {.at = seconds(400), .job = 1, .members = 4, .pause = seconds(10)},
                                   {.at = seconds(500), .job = 1, .ended = true}});
  CHECK(terms.busySeconds == 500);
  // CPUs alone: half, half, all, three quarters and all of them, 100 s each.
  CHECK(terms.utilization == Approx((0.5 + 0.5 + 1 + 0.75 + 1) / 5));
  // Alone, a has half of its share; then both should have two, and b waits for 100 s.
  CHECK(terms.fairnessLoss == Approx((0.5 + 0.5 + 0 + 0.25 + 0) / 5));
  CHECK(terms.adjustments == 2);
  REQUIRE(terms.jobs.size() == 2);
  CHECK(terms.jobs[0].completionSeconds == 400);
  CHECK(terms.jobs[1].completionSeconds == 400);
  // The start itself is no overhead.
  CHECK(terms.jobs[0].overhead == Approx(20.0 / 400));
  CHECK(terms.jobs[1].overhead == Approx(10.0 / 300));
}

TEST_CASE("A job whose minimum does not fit beside those of earlier jobs is entitled to nothing") {
  model::Resources four;
  four.cpu.value = 4'000;
  const Trace trace{.queues = {"all"},
                    .jobs = {{.name = "a", .submitted = seconds(0)}, {.name = "b", .submitted = seconds(0)}},
                    .work = {{}, {}}};
  const auto terms = partitionsOf(trace, {{"s", 0, four}}, [](std::size_t) { return range(3, 4); },
                                  {{.at = seconds(0), .job = 0, .members = 4},
                                   {.at = seconds(100), .job = 0, .ended = true},
                                   {.at = seconds(100), .job = 1, .members = 4},
                                   {.at = seconds(200), .job = 1, .ended = true}});
  CHECK(terms.fairnessLoss == Approx(0));
}

TEST_CASE("An elastic day is ahead of static partitions and adjusting costs little") {
  ReplayOptions elastic = day("light");
  elastic.reports = false;
  ReplayOptions rigid = day("light");
  rigid.policy = ReplayPolicy{model::Ordering::kFifo};
  const auto sizes = parseStaticSizes("lr=8,mf=8,caffenet=4,vgg16=2,googlenet=2,alexnet=2,resnet50=2");
  REQUIRE(sizes);
  rigid.sizes = *sizes;
  const ReplayResult ours = replay::testing::replay(elastic);
  const ReplayResult theirs = replay::testing::replay(rigid);
  REQUIRE(ours.partitions);
  REQUIRE(theirs.partitions);
  CHECK(theirs.partitions->adjustments == 0);
  CHECK(theirs.resizes == 0);
  CHECK(ours.fluidLowerBoundSeconds == 0);
  CHECK(ours.partitions->utilization > 1.3 * theirs.partitions->utilization);
  CHECK(ours.partitions->fairnessLoss < theirs.partitions->fairnessLoss);
  CHECK(ours.meanCompletionSeconds < theirs.meanCompletionSeconds / 1.2);
  for (const ReplayPartitions::OfJob& job : ours.partitions->jobs) {
    INFO(job.name);
    CHECK(job.overhead < 0.05);
  }
}

TEST_CASE("Days and sizes that cannot be used are refused with file and line and column") {
  const std::string day = "name,application,submit_time,work\n";
  const auto with = [&](const std::string& row, const std::string& applications = kApplications) {
    return errorOf({{"d/day.csv", day + row}, {"d/applications.csv", applications}});
  };
  CHECK(with("a,lr,0,100\n").empty());
  CHECK_THAT(with("a,mf,0,100\n"), Catch::Contains("day.csv") && Catch::Contains("application") &&
                                       Catch::Contains("mf is not in d/applications.csv"));
  CHECK_THAT(with("a,lr,0,-1\n"), Catch::Contains("work"));
  CHECK_THAT(with(",lr,0,1\n"), Catch::Contains("name"));
  CHECK_THAT(with("a,lr,5,1\nb,lr,4,1\n"), Catch::Contains("before the one above"));
  const std::string head = "application,cpu,gpus,memory_gib,least,wished,most,scaling\n";
  CHECK_THAT(with("a,lr,0,1\n", head + "lr,2,0,8,3,2,4,1\n"), Catch::Contains("not between least and most"));
  CHECK_THAT(with("a,lr,0,1\n", head + "lr,2,0,8,1,2,4,1.5\n"), Catch::Contains("scaling"));
  CHECK_THAT(with("a,lr,0,1\n", "application,cpu\nlr,2\n"), Catch::Contains("memory_gib"));
  CHECK_THAT(errorOf({{"d/day.csv", day}}), Catch::Contains("d/applications.csv: not there"));
  const auto sized = [&](const StaticSizes& sizes) {
    return errorOf({{"d/day.csv", day + "a,lr,0,1\n"}, {"d/applications.csv", kApplications}}, sizes);
  };
  CHECK(sized({{"lr", 4}}).empty());
  CHECK_THAT(sized({{"lr", 5}}), Catch::Contains("lr=5: it may have 1 to 4"));
  CHECK_THAT(sized({{"mf", 4}}), Catch::Contains("does not name application lr"));
  CHECK_THAT(sized({{"lr", 4}, {"mf", 1}}), Catch::Contains("mf=1: d/applications.csv has no such"));
  for (const char* wrong : {"lr", "lr=", "=3", "lr=0", "lr=x", "lr=2,lr=3", "lr=2,,mf=1"}) {
    INFO(wrong);
    const auto sizes = parseStaticSizes(wrong);
    CHECK_FALSE(sizes);
  }
}

TEST_CASE("Options that mean nothing for a trace are refused") {
  const auto refused = [](ReplayOptions options) {
    const auto good = checkReplay(options);
    return good ? "" : good.error().message;
  };
  ReplayOptions options = day("light");
  CHECK(refused(options).empty());
  options.elasticPermille = 500;
  CHECK_THAT(refused(options), Catch::Contains("--elastic-share"));
  options = day("light");
  options.sizes = {{"lr", 2}};
  CHECK(refused(options).empty());
  options.reports = false;
  CHECK_THAT(refused(options), Catch::Contains("--no-reports"));
  options = {};
  options.format = ReplayFormat::kItp;
  options.sizes = {{"lr", 2}};
  CHECK_THAT(refused(options), Catch::Contains("--sizes"));
}

TEST_CASE("An elastic job of a production trace grows to twice its desired size at the assumed speed") {
  const auto completion = [](double scaling, int permille) {
    ReplayOptions options;
    options.format = ReplayFormat::kItp;
    options.jobsFile = "jobs";
    options.cluster = "1x8";
    options.elasticPermille = permille;
    options.scaling = scaling;
    const auto result =
        runReplay(options, {.readFile = [](const std::string&) -> base::Result<std::string> {
                    return std::string("job_id,submission_time,duration,num_gpu\na,0,1000,4\n");
                  }});
    REQUIRE(result);
    return result->meanCompletionSeconds;
  };
  CHECK(completion(1, 0) == 1000);
  // After a minute, with a pause of 30 s: 940 s are left, at twice the speed.
  CHECK(completion(1, 1'000) == Approx(60 + 30 + 470));
  CHECK(completion(0.5, 1'000) == Approx(60 + 30 + 940 / std::sqrt(2.0)));
}

TEST_CASE("An elastic job whose minimum does not fit the empty cluster is refused by name") {
  ReplayOptions options = day("light");
  options.cluster = "4x8";
  const auto result = runReplay(options, {.readFile = replay::testing::readFile});
  REQUIRE_FALSE(result);
  CHECK_THAT(result.error().message, Catch::Contains("members at least") && Catch::Contains("can hold 0"));
}
