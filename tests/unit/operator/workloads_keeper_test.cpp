#include "operator/workloads_keeper.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "support/fake_api.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

const model::ObjectKey kGang{"ml", "train.job"};

struct Events final : JobEvents {
  std::vector<std::string> said;
  void record(const model::Job&, const core::JobEvent&) override {}
  void recordOn(const codec::ObjectRef& object, const core::JobEvent& event) override {
    said.push_back(fmt::format("{} {}: {}", object.name, event.reason, event.note));
  }
};

// Has one Job, and keeps what is written.
class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  json job;
  std::vector<std::string> patches;  // bodies
  std::vector<json> gangs;
  std::string refusal;  // of patches; empty: none
  int version = 1;

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    if (request.method == net::Method::kGet) {
      if (request.path.find("/jobs/") != std::string::npos) return kube::ApiResponse{200, job.dump()};
      const json list = {{"metadata", {{"resourceVersion", fmt::format("{}", version)}}}, {"items", {job}}};
      return kube::ApiResponse{200, list.dump()};
    }
    if (request.method == net::Method::kPatch) {
      patches.push_back(request.body);
      if (!refusal.empty()) return base::fail(base::ErrorCode::kInvalid, refusal);
      const json patch = json::parse(request.body);
      if (patch.is_array()) {
        job = job.patch(patch);
      } else {
        job.merge_patch(patch);
      }
      job["metadata"]["resourceVersion"] = fmt::format("{}", ++version);
      return kube::ApiResponse{200, job.dump()};
    }
    json gang = json::parse(request.body);
    gang["metadata"]["uid"] = fmt::format("g{}", gangs.size() + 1);
    gang["metadata"]["resourceVersion"] = fmt::format("{}", ++version);
    gangs.push_back(gang);
    return kube::ApiResponse{201, gang.dump()};
  }
};

struct Scene {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "workloads"};
  kube::ClusterCache cache{log};
  WorkloadWatches watches{{"Job"}, cache, log};
  Events events;
  base::Rng rng{1};
  WorkloadsKeeper keeper{{.api = api,
                          .executor = loop,
                          .cache = cache,
                          .watches = watches,
                          .events = events,
                          .log = log,
                          .leading = [] { return true; }}};

  Scene() {
    api.job = json::parse(R"({"metadata":{"namespace":"ml","name":"train","uid":"j1","resourceVersion":"1",
      "labels":{"trainyard.dev/queue":"research"}},"spec":{"suspend":true,"completionMode":"Indexed","parallelism":2,
      "completions":2,"template":{"spec":{"containers":[{"name":"main","image":"x"}]}}}})");
    keeper.start();
  }

  // The Job is listed as it is now.
  void watch() {
    watches.start(api, loop, rng);
    loop.runFor(100ms);
  }

  // A Gang with the name that the Job's should have.
  void gangOf(std::string_view owner) {
    cache.jobs.upsert(fmt::format(
        R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"Gang","metadata":{{"namespace":"ml","name":"train.job",)"
        R"("uid":"x1","resourceVersion":"{}"}},"spec":{{{}"roles":[{{"name":"worker","replicas":1,)"
        R"("template":{{"spec":{{"containers":[{{"name":"c"}}]}}}}}}]}}}})",
        ++api.version, owner));
    REQUIRE(cache.jobs.gangs.find(kGang));
    loop.runFor(100ms);
  }
};

TEST_CASE("a suspended Job is marked, gets its Gang, and is not started") {
  Scene scene;
  scene.watch();
  REQUIRE(scene.api.patches.size() == 1);
  CHECK(scene.api.job["spec"]["suspend"] == true);
  CHECK(scene.api.job["spec"]["template"]["metadata"]["labels"]["trainyard.dev/gang"] == "train.job");
  REQUIRE(scene.api.gangs.size() == 1);
  CHECK(scene.api.gangs.front()["spec"]["owner"]["uid"] == "j1");
  CHECK(scene.api.gangs.front()["spec"]["roles"][0]["replicas"] == 2);
}

TEST_CASE("a Job that runs outside its queue is stopped before it is marked") {
  Scene scene;
  scene.api.job["spec"]["suspend"] = false;
  scene.watch();
  REQUIRE(scene.api.patches.size() == 2);
  CHECK(json::parse(scene.api.patches.front())["spec"]["suspend"] == true);
  CHECK(scene.api.job["spec"]["suspend"] == true);
  CHECK(scene.api.gangs.size() == 1);
}

TEST_CASE(
    "a patch for a version that has been replaced is no fault of the Job; the next is for the new one") {
  Scene scene;
  scene.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.method != net::Method::kPatch) return std::nullopt;
    scene.api.fault = {};
    scene.api.job["metadata"]["resourceVersion"] = fmt::format("{}", ++scene.api.version);
    return base::Error{base::ErrorCode::kInvalid,
                       "the server rejected our request due to an error in our request"};
  };
  scene.watch();
  CHECK(scene.events.said.empty());
  REQUIRE(scene.api.patches.size() == 1);
  CHECK(json::parse(scene.api.patches.front())[1]["value"] == "2");
  CHECK(scene.api.gangs.size() == 1);
}

TEST_CASE("what the API server refuses of the Job as it is, is said on it") {
  Scene scene;
  scene.api.refusal = "spec.template: field is immutable";
  scene.watch();
  REQUIRE_FALSE(scene.events.said.empty());
  CHECK(scene.events.said.front() == "train InvalidGang: spec.template: field is immutable");
}

TEST_CASE("a Job learns that users have taken its Gang's name, and gets its own once that is deleted") {
  const std::string owner =
      GENERATE(as<std::string>(), "", R"("owner":{"apiVersion":"v1","kind":"Pod"},)",
               R"("owner":{"apiVersion":"batch/v1","kind":"Job","name":"other","uid":"j9"},)");
  CAPTURE(owner);
  Scene scene;
  scene.gangOf(owner);
  scene.watch();
  CHECK(scene.api.gangs.empty());
  REQUIRE_FALSE(scene.events.said.empty());
  CHECK(scene.events.said.back() ==
        "train InvalidGang: Gang train.job exists, and is not of this Job: delete it");
  scene.cache.jobs.forget(kGang, "x1");
  scene.loop.runFor(100ms);
  CHECK(scene.api.gangs.size() == 1);
}

TEST_CASE("the Gang of a former Job of the name goes first, without a word") {
  Scene scene;
  scene.gangOf(R"("owner":{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"j0"},)");
  scene.watch();
  CHECK(scene.api.gangs.empty());
  CHECK(scene.events.said.empty());
  scene.cache.jobs.forget(kGang, "x1");
  scene.loop.runFor(100ms);
  CHECK(scene.api.gangs.size() == 1);
}

}  // namespace
}  // namespace trainyard::operator_
