#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "lab.h"

// The reported speeds of jobs decide how far they grow beyond the desired replicas, also after a failover.
namespace trainyard::test {
namespace {

using Speeds = std::vector<model::SpeedPoint>;

constexpr const char* kElastic =
    R"("elastic":{"role":"worker","replicas":2,"minReplicas":1,"maxReplicas":8},)"
    R"("checkpoint":{"mode":"Helper","gracePeriodSeconds":3})";

// In the notation of an annotation.
std::string line(int replicas, int samplesPerSecond) {
  return fmt::format(R"(trainyard-progress: {{\"step\":{},\"samplesPerSecond\":{},\"replicas\":{}}})",
                     samplesPerSecond + replicas, samplesPerSecond, replicas);
}

// A job of two members of four GPUs, which may grow to all eight half nodes of four nodes.
struct Reporting {
  explicit Reporting(const std::string& log) : lab({}, 4) {
    lab->operators().start();
    lab.submit("bert", {.workers = 2, .gpus = 4, .runFor = "10h", .log = log, .extra = kElastic});
    REQUIRE(lab.waitPhase("bert", "Running", 60s));
  }

  // Sets the log of its members from now on.
  void writeLog(const std::string& log) {
    for (const auto& pod : lab.podsOf("bert")) {
      const auto done = lab->request(
          net::Method::kPatch, "/api/v1/namespaces/default/pods/" + pod->key.name,
          fmt::format(R"({{"metadata":{{"annotations":{{"sim.trainyard.dev/log":"{}"}}}}}})", log),
          "application/merge-patch+json");
      REQUIRE(done);
    }
  }
  [[nodiscard]] Speeds speeds() const { return lab.job("bert")->status.resize.speeds; }
  [[nodiscard]] bool waitSize(std::size_t members) {
    return lab.until([&] { return lab.boundPodsOf("bert") == members && lab.phase("bert") == "Running"; },
                     600s);
  }

  Lab lab;
};

}  // namespace

TEST_CASE("a job that reports no speed grows onto all idle capacity") {
  Reporting job("begins");
  CHECK(job.waitSize(8));
  CHECK(job.speeds().empty());
  job.lab.requireSound();
}

TEST_CASE("reported speeds are recorded by size and a gang that gains nothing does not grow further") {
  Reporting job(line(2, 100));
  REQUIRE(job.lab.until([&] { return job.speeds() == Speeds{{2, 100'000}}; }, 60s));
  // At most twice the largest known size is tried.
  REQUIRE(job.waitSize(4));
  // Four are slower than two.
  job.writeLog(line(4, 80));
  REQUIRE(job.lab.until([&] { return job.speeds() == Speeds{{4, 80'000}, {2, 100'000}}; }, 120s));

  const bool replaced = GENERATE(false, true);
  CAPTURE(replaced);
  if (replaced) {
    job.writeLog("");
    job.lab->operators().kill(job.lab->operators().numbers().front());
    job.lab->operators().start();
  }
  job.lab.run(1'200s);
  CHECK(job.speeds() == Speeds{{4, 80'000}, {2, 100'000}});
  CHECK(job.lab.boundPodsOf("bert") <= 4);
  job.lab.requireSound();
}

TEST_CASE("a job that reports a gain from more members grows") {
  Reporting job(line(2, 100));
  REQUIRE(job.waitSize(4));
  job.writeLog(line(4, 198));
  CHECK(job.waitSize(8));
  job.lab.requireSound();
}

}  // namespace trainyard::test
