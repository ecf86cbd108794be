#include "operator/progress_reader.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "codec/job.h"
#include "codec/job_status.h"
#include "model/conditions.h"
#include "support/fake_api.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;

// Kubelets that return the log of each pod.
class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  std::map<std::string, std::string> logs;                        // by pod
  std::vector<std::pair<base::Instant, std::string>> reads = {};  // the time and the pod
  std::vector<kube::ApiRequest> requests = {};

  [[nodiscard]] std::size_t readsOf(std::string_view pod) const {
    return static_cast<std::size_t>(
        std::count_if(reads.begin(), reads.end(), [&](const auto& each) { return each.second == pod; }));
  }

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    constexpr std::string_view kBefore = "/api/v1/namespaces/ml/pods/";
    REQUIRE(request.path.starts_with(kBefore));
    REQUIRE(request.path.ends_with("/log"));
    const std::string pod = request.path.substr(
        kBefore.size(), request.path.size() - kBefore.size() - std::string("/log").size());
    reads.emplace_back(now(), pod);
    requests.push_back(request);
    return kube::ApiResponse{200, logs[pod]};
  }
};

struct Fixture {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "progress"};
  kube::ClusterCache cache{log};
  telemetry::MetricsRegistry registry;
  OperatorMetrics metrics{registry};
  bool leading = true;
  int calls = 0;
  int version = 1;
  ProgressReader reader{{api, loop, cache, metrics, [this] { return leading; }, [this] { ++calls; }}};

  Fixture() { reader.start(); }

  // Adds a job with members that run since now, with further fields in its spec and status.
  void run(const std::string& name, int workers, const std::string& healthSpec = "",
           const model::JobStatus& initial = {}) {
    model::JobStatus status = initial;
    status.phase = "Running";
    status.gang.lastEpoch = 1;
    std::vector<model::Assignment> assignments;
    for (int i = 0; i < workers; ++i)
      assignments.push_back({model::NodeName(fmt::format("n{}", i)), "worker", model::IndexSet({i})});
    status.gang.placed = model::Placed{1, assignments};
    if (started == base::WallTime{}) started = loop.wallNow();
    status.conditions.push_back({std::string(model::conditions::kRunning), model::ConditionStatus::kTrue,
                                 "AllMembersRunning", "", started, 1});
    put(name, workers, healthSpec, status);
    for (int i = 0; i < workers; ++i) pod(fmt::format("{}-worker-{}", name, i), "u-" + name);
  }
  void pod(const std::string& name, const std::string& owner) {
    cache.pods.upsert(fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"ml","uid":"p-{}","resourceVersion":"{}","ownerReferences":)"
        R"([{{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","name":"x","uid":"{}","controller":true}}]}},)"
        R"("spec":{{"containers":[]}}}})",
        name, name, version++, owner));
    REQUIRE(cache.pods.find({"ml", name}));
  }
  void put(const std::string& name, int workers, const std::string& healthSpec,
           const model::JobStatus& status) {
    cache.jobs.upsert(fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"ml","uid":"u-{}","resourceVersion":"{}"}},"spec":{{)"
        R"("framework":"Custom","roles":[{{"name":"worker","replicas":{},"template":{{"spec":{{"containers":[)"
        R"({{"name":"train","image":"x"}}]}}}}}}]{}}},"status":{}}})",
        name, name, version++, workers, healthSpec.empty() ? "" : ",\"health\":" + healthSpec,
        codec::encodeJobStatus(status)));
    REQUIRE(cache.jobs.find({"ml", name}));
  }
  // Writes the news, as the operator does.
  int write() {
    int written = 0;
    for (const auto& [key, sign] : reader.findings()) {
      const auto job = cache.jobs.find(key);
      model::JobStatus status = job->status;
      if (sign.progress) status.progress = sign.progress;
      std::erase_if(status.conditions,
                    [](const auto& each) { return each.type == model::conditions::kStalled; });
      if (sign.silentSince)
        status.conditions.push_back({std::string(model::conditions::kStalled), model::ConditionStatus::kTrue,
                                     "Silent", "", loop.wallNow(), 1});
      put(key.name, static_cast<int>(status.gang.placed->assignments.size()), health, status);
      ++written;
    }
    return written;
  }
  std::string line(const std::string& text) {
    return base::formatMicroTime(loop.wallNow()) + " " + text + "\n";
  }
  void writeLog(const std::string& pod, const std::string& text) { api.logs[pod] += line(text); }
  [[nodiscard]] bool stalled(const std::string& name) const {
    return cache.jobs.find({"ml", name})->conditionTrue(model::conditions::kStalled);
  }

  std::string health;
  base::WallTime started{};
};

TEST_CASE("A report is found in the log and the status changes at most every thirty seconds") {
  Fixture fixture;
  fixture.run("bert", 2);
  int writes = 0;
  for (int step = 0; step < 300; ++step) {
    fixture.writeLog("bert-worker-0",
                     fmt::format(R"(trainyard-progress: {{"step":{},"totalSteps":1000}})", step));
    fixture.loop.runFor(1s);
    writes += fixture.write();
  }
  const auto job = fixture.cache.jobs.find({"ml", "bert"});
  REQUIRE(job->status.progress);
  CHECK(job->status.progress->step > 240);
  REQUIRE(job->status.progress->remainingSeconds);
  const auto left = *job->status.progress->remainingSeconds;
  CHECK(std::abs(left - (1000 - job->status.progress->step)) <= 10);
  CHECK(writes >= 8);
  CHECK(writes <= 10);
  // After it reports, no other member is read.
  CHECK(fixture.api.readsOf("bert-worker-1") <= 2);
  CHECK(fixture.api.requests.back().query.back() ==
        std::pair<std::string, std::string>{"container", "train"});
}

TEST_CASE("A status without changes is not written") {
  Fixture fixture;
  fixture.run("bert", 1);
  fixture.writeLog("bert-worker-0", R"(trainyard-progress: {"step":1})");
  fixture.loop.runFor(2min);
  CHECK(fixture.write() == 1);
  const int calls = fixture.calls;
  fixture.loop.runFor(10min);
  CHECK(fixture.write() == 0);
  CHECK(fixture.calls == calls);
}

TEST_CASE("A job that never reports is read ever less often and a cluster at most ten times a second") {
  Fixture fixture;
  for (int i = 0; i < 500; ++i) fixture.run(fmt::format("job{}", i), 1);
  fixture.loop.runFor(1h);
  CHECK(fixture.api.readsOf("job7-worker-0") >= 6);
  CHECK(fixture.api.readsOf("job7-worker-0") <= 12);
  const auto& reads = fixture.api.reads;
  for (std::size_t i = 10; i < reads.size(); ++i) REQUIRE(reads[i].first - reads[i - 10].first >= 1s);
}

TEST_CASE("Kubelets that do not answer do not hold up the reading of other jobs") {
  Fixture fixture;
  for (int i = 0; i < 10; ++i) fixture.run(fmt::format("job{}", i), 1, R"({"stallSeconds":60})");
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("job1-") == std::string::npos) return std::nullopt;
    return base::Error{base::ErrorCode::kUnavailable, "the node does not answer"};
  };
  fixture.loop.runFor(10min);
  fixture.write();
  // An unreadable log does not count as silent; the others do.
  CHECK_FALSE(fixture.stalled("job1"));
  CHECK(fixture.stalled("job2"));
}

TEST_CASE("A job stalls when no member that is read has logged for its time and recovers when one logs") {
  Fixture fixture;
  fixture.health = R"({"stallSeconds":120})";
  fixture.run("bert", 3, fixture.health);
  SECTION("any line of any member is a sign of life") {
    for (int i = 0; i < 20; ++i) {
      fixture.writeLog("bert-worker-2", fmt::format("epoch {}", i));
      fixture.loop.runFor(30s);
      fixture.write();
      REQUIRE_FALSE(fixture.stalled("bert"));
    }
  }
  SECTION("silence is found within seconds") {
    fixture.writeLog("bert-worker-1", "begins");
    fixture.loop.runFor(115s);
    fixture.write();
    CHECK_FALSE(fixture.stalled("bert"));
    fixture.loop.runFor(30s);
    CHECK(fixture.write() == 1);
    CHECK(fixture.stalled("bert"));
    fixture.loop.runFor(5min);
    CHECK(fixture.write() == 0);
    fixture.writeLog("bert-worker-1", "goes on");
    fixture.loop.runFor(1min);
    CHECK(fixture.write() == 1);
    CHECK_FALSE(fixture.stalled("bert"));
  }
}

TEST_CASE("A new leader derives a job's silence from the times of its lines") {
  Fixture fixture;
  fixture.health = R"({"stallSeconds":600})";
  fixture.started = fixture.loop.wallNow();
  fixture.writeLog("bert-worker-0", "the last word");
  fixture.loop.runFor(9min);
  fixture.run("bert", 1, fixture.health);
  fixture.loop.runFor(50s);
  fixture.write();
  CHECK_FALSE(fixture.stalled("bert"));
  fixture.loop.runFor(1min);
  fixture.write();
  CHECK(fixture.stalled("bert"));
}

TEST_CASE("A log whose long lines cut off its end is read with fewer lines") {
  Fixture fixture;
  fixture.run("bert", 1, R"({"stallSeconds":60})");
  fixture.api.logs["bert-worker-0"] = std::string(400'000, 'x');
  fixture.loop.runFor(1min);
  const auto lines = [](const kube::ApiRequest& request) { return request.query.at(0).second; };
  CHECK(lines(fixture.api.requests.front()) == "200");
  CHECK(lines(fixture.api.requests.back()) == "1");
}

TEST_CASE("A pod that only has a member's name is not read") {
  Fixture fixture;
  fixture.run("bert", 1, R"({"stallSeconds":60})");
  fixture.pod("bert-worker-0", "another-job");
  fixture.loop.runFor(10min);
  CHECK(fixture.api.reads.empty());
  CHECK(fixture.reader.findings().empty());
}

TEST_CASE("Jobs that do not run and replicas that do not lead read nothing") {
  Fixture fixture;
  SECTION("ended") {
    fixture.run("bert", 1, R"({"stallSeconds":60})");
    fixture.loop.runFor(1s);
    REQUIRE(fixture.api.reads.size() == 1);
    model::JobStatus status = fixture.cache.jobs.find({"ml", "bert"})->status;
    status.conditions.push_back(
        {"Succeeded", model::ConditionStatus::kTrue, "RolesSucceeded", "", fixture.loop.wallNow(), 1});
    fixture.put("bert", 1, "", status);
    fixture.loop.runFor(1h);
    CHECK(fixture.api.reads.size() == 1);
    CHECK(fixture.reader.findings().empty());
  }
  SECTION("not leading") {
    fixture.leading = false;
    fixture.run("bert", 1, R"({"stallSeconds":60})");
    fixture.loop.runFor(1h);
    CHECK(fixture.api.reads.empty());
    fixture.leading = true;
    fixture.loop.runFor(2s);
    CHECK(fixture.api.reads.size() == 1);
  }
}

}  // namespace
}  // namespace trainyard::operator_
