#include "operator/jobs_ender.h"

#include <map>
#include <optional>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "support/fake_api.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;

// An API server with TrainingJobs that are gone some seconds after their deletion.
class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  std::map<std::string, base::Instant> jobs;  // by name: when it is gone after a delete
  base::Instant::duration takes = 3s;
  int deletes = 0;
  int failures = 0;  // of the next requests
  bool served = true;

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    if (!served) return base::fail(base::ErrorCode::kNotFound, "no such kind");
    if (failures > 0) {
      --failures;
      return base::fail(base::ErrorCode::kUnavailable, "connection broke");
    }
    if (request.method == net::Method::kDelete) {
      ++deletes;
      jobs[request.path.substr(request.path.rfind('/') + 1)] = now() + takes;
      return kube::ApiResponse{200, "{}"};
    }
    std::string items;
    for (auto at = jobs.begin(); at != jobs.end();) {
      at = at->second != base::Instant{} && now() >= at->second ? jobs.erase(at) : std::next(at);
    }
    for (const auto& [name, until] : jobs) {
      items += fmt::format(R"({}{{"metadata":{{"name":"{}","namespace":"ml","uid":"u-{}"}}}})",
                           items.empty() ? "" : ",", name, name);
    }
    return kube::ApiResponse{200,
                             fmt::format(R"({{"metadata":{{"resourceVersion":"1"}},"items":[{}]}})", items)};
  }
};

struct Fixture {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  std::optional<base::Result<void>> result;
  JobsEnder ender{api, loop, base::Logger(nowhere, base::LogLevel::kError, "end"), 60s,
                  [this](base::Result<void> end) { result = std::move(end); }};
};

TEST_CASE("every job is deleted once and the end waits until all are removed") {
  Fixture fixture;
  fixture.api.jobs = {{"a", {}}, {"b", {}}, {"c", {}}};
  fixture.ender.start();
  fixture.loop.runFor(2s);
  CHECK_FALSE(fixture.result);
  fixture.loop.runFor(60s);
  REQUIRE(fixture.result);
  CHECK(*fixture.result);
  CHECK(fixture.api.deletes == 3);
}

TEST_CASE("a deletion that fails is tried again") {
  Fixture fixture;
  fixture.api.jobs = {{"a", {}}};
  fixture.api.failures = 3;
  fixture.ender.start();
  fixture.loop.runFor(60s);
  REQUIRE(fixture.result);
  CHECK(*fixture.result);
}

TEST_CASE("without jobs or without their kind there is nothing to wait for") {
  Fixture fixture;
  fixture.api.served = GENERATE(true, false);
  fixture.ender.start();
  fixture.loop.runFor(1s);
  REQUIRE(fixture.result);
  CHECK(*fixture.result);
}

TEST_CASE("jobs that are not removed are named when the patience is over") {
  Fixture fixture;
  for (const char name : std::string("abcdefg")) fixture.api.jobs[std::string(1, name)] = {};
  fixture.api.takes = 24h;
  fixture.ender.start();
  fixture.loop.runFor(70s);
  REQUIRE(fixture.result);
  REQUIRE_FALSE(*fixture.result);
  CHECK(fixture.result->error().message == "7 TrainingJobs are left: ml/a, ml/b, ml/c, ml/d, ml/e, …");
}

}  // namespace
}  // namespace trainyard::operator_
