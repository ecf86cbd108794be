#include "operator/run_times_keeper.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "codec/json_value.h"
#include "codec/run_times.h"
#include "core/order/run_times.h"
#include "support/fake_api.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;

// An API server with one ConfigMap or none.
class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  int version = 0;  // 0: there is none
  std::string runs;
  std::vector<std::string> asked;

  static constexpr std::string_view kPath = "/api/v1/namespaces/trainyard-system/configmaps";

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    const auto body = codec::JsonDocument::parse(request.body.empty() ? "{}" : request.body);
    REQUIRE(body);
    if (request.method == net::Method::kPost) {
      asked.emplace_back("create");
      CHECK(request.path == kPath);
      if (version > 0) return base::fail(base::ErrorCode::kAlreadyExists, "it exists");
    } else {
      CHECK(request.path == fmt::format("{}/trainyard-run-times", kPath));
      if (version == 0) return base::fail(base::ErrorCode::kNotFound, "no such ConfigMap");
      if (request.method == net::Method::kGet) {
        asked.emplace_back("get");
        return kube::ApiResponse{200, object()};
      }
      asked.emplace_back("patch");
      const auto of = body->root().find("metadata").find("resourceVersion").string();
      if (of != std::to_string(version)) return base::fail(base::ErrorCode::kConflict, "it has changed");
    }
    runs = *body->root().find("data").find("runs").string();
    ++version;
    return kube::ApiResponse{200, object()};
  }

  [[nodiscard]] std::string object() const {
    std::string escaped;
    for (const char c : runs) escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
    return fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"data":{{"runs":"{}"}}}})", version,
                       escaped);
  }
};

struct Fixture {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "run-times"};
  kube::ClusterCache cache{log};
  int changes = 0;
  RunTimesKeeper keeper{{.ns = "trainyard-system"}, {api, loop, cache, log, [this] { ++changes; }}};

  void succeeded(const std::string& name, int ran) {
    cache.jobs.upsert(fmt::format(
        R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{{"namespace":"ml",)"
        R"("name":"{0}","uid":"uid-{0}","resourceVersion":"1","generation":1,)"
        R"("creationTimestamp":"2026-01-01T00:00:00Z"}},"spec":{{"roles":[{{"name":"worker","replicas":1,)"
        R"("template":{{"spec":{{"containers":[{{"name":"c","image":"i",)"
        R"("resources":{{"limits":{{"nvidia.com/gpu":2}}}}}}]}}}}}}]}},)"
        R"("status":{{"gpus":2,"service":{{"gpuSeconds":{1},"runSeconds":{1},"updatedAt":"2026-01-01T01:00:00Z"}},)"
        R"("conditions":[{{"type":"Succeeded","status":"True","observedGeneration":1,"reason":"r","message":"m",)"
        R"("lastTransitionTime":"2026-01-01T01:00:00Z"}}]}}}})",
        name, 2 * ran));
  }
  [[nodiscard]] std::size_t known(const std::string& kind) const {
    const auto times = keeper.current();
    if (times == nullptr) return 0;
    const auto found = times->kinds.find(kind);
    return found == times->kinds.end() ? 0 : found->second.size();
  }
};

TEST_CASE("run times: they are recorded and written at most every five minutes") {
  Fixture fixture;
  fixture.keeper.start();
  fixture.loop.runFor(10s);
  fixture.succeeded("sweep-1", 60);
  fixture.loop.runFor(61s);
  CHECK(fixture.known("job/ml/sweep/2") == 1);
  CHECK(fixture.changes == 1);
  CHECK(fixture.api.asked == std::vector<std::string>{"create"});
  fixture.succeeded("sweep-2", 90);
  fixture.loop.runFor(2min);
  CHECK(fixture.known("job/ml/sweep/2") == 2);
  CHECK(fixture.api.asked == std::vector<std::string>{"create"});
  fixture.loop.runFor(5min);
  CHECK(fixture.api.asked == std::vector<std::string>{"create", "patch"});
  fixture.loop.runFor(1h);
  CHECK(fixture.api.asked.size() == 2);
}

TEST_CASE("run times: entries of another writer are retained beside our own") {
  Fixture fixture;
  fixture.api.version = 1;
  fixture.keeper.start();
  fixture.loop.runFor(10s);
  fixture.api.runs = R"({"job/ml/other/1":[[1000,50,7]]})";
  ++fixture.api.version;
  fixture.succeeded("sweep-1", 60);
  fixture.loop.runFor(10min);
  CHECK(fixture.api.asked == std::vector<std::string>{"get", "patch", "get", "patch"});
  CHECK(fixture.known("job/ml/other/1") == 1);
  CHECK(fixture.api.runs.find("job/ml/other/1") != std::string::npos);
  CHECK(fixture.api.runs.find("job/ml/sweep/2") != std::string::npos);
}

TEST_CASE("run times: an unusable record is dropped and replaced and not fatal") {
  Fixture fixture;
  fixture.api.version = 1;
  fixture.api.runs = R"({"job/ml/a/1":[[1000,-50,7]]})";
  fixture.keeper.start();
  fixture.loop.runFor(1min);
  CHECK(fixture.keeper.current() == nullptr);
  CHECK(fixture.api.runs == "{}");
}

TEST_CASE("run times: an API server that fails is asked again") {
  Fixture fixture;
  fixture.api.version = 1;
  fixture.api.runs = R"({"job/ml/a/1":[[1000,50,7]]})";
  fixture.api.fault = [](const kube::ApiRequest&) {
    return base::Error{base::ErrorCode::kUnavailable, "connection broke"};
  };
  fixture.keeper.start();
  fixture.loop.runFor(90s);
  CHECK(fixture.known("job/ml/a/1") == 0);
  fixture.api.fault = nullptr;
  fixture.loop.runFor(1min);
  CHECK(fixture.known("job/ml/a/1") == 1);
}

// Adds one run to each of this many kinds, an hour apart, the first at `hour`.
void addKinds(model::RunTimes& times, const std::string& ns, int kinds, int hour) {
  for (int i = 0; i < kinds; ++i) {
    const std::string name = fmt::format("{:0>94}job{:a>5}", "", i);
    times.kinds[fmt::format("job/{}/{}/8", ns, name)] = {
        {base::WallTime(std::chrono::hours(490'000 + hour + i)), 3'600s, 4'000'000'000U}};
  }
}

TEST_CASE("run times: the record of many kinds with long names fits its object") {
  model::RunTimes learnt;
  addKinds(learnt, "crowd", 10'000, 100'000);
  addKinds(learnt, "quiet", 100, 0);
  learnt.kinds["queue/q"] = {{base::WallTime(std::chrono::hours(1)), 60s, 1},
                             {base::WallTime(std::chrono::hours(2)), 60s, 1}};
  model::RunTimes times;
  CHECK(core::merge(times, learnt));
  const std::string written = codec::encodeRunTimes("trainyard-run-times", times);
  CHECK(written.size() <= std::size_t{1} << 20);
  CHECK(written.size() > std::size_t{700} << 10);
  // The namespace with many kinds loses some, the oldest ones first.
  const auto quiet = std::count_if(times.kinds.begin(), times.kinds.end(),
                                   [](const auto& kind) { return kind.first.starts_with("job/quiet/"); });
  CHECK(quiet == 100);
  CHECK(times.kinds.contains("queue/q"));
  CHECK_FALSE(times.kinds.contains(learnt.kinds.begin()->first));
  const auto newest =
      std::max_element(learnt.kinds.begin(), learnt.kinds.end(),
                       [](const auto& a, const auto& b) { return a.second.back() < b.second.back(); });
  CHECK(times.kinds.contains(newest->first));
  // An entry that does not fit is not news each time it is read.
  CHECK_FALSE(core::merge(times, learnt));
}

}  // namespace
}  // namespace trainyard::operator_
