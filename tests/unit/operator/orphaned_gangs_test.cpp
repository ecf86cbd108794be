#include "operator/orphaned_gangs.h"

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

struct Events final : JobEvents {
  std::vector<std::string> said;
  void record(const model::Job& job, const core::JobEvent& event) override {
    said.push_back(fmt::format("{} {}", job.key.name, event.reason));
  }
  void recordOn(const codec::ObjectRef&, const core::JobEvent&) override {}
};

class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  std::string owner;  // the uid of Job train; empty: there is none
  std::string labels = R"({"trainyard.dev/queue":"q"})";
  json gang;
  int patches = 0;
  int deletions = 0;

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    if (request.method == net::Method::kGet) {
      if (owner.empty()) return base::fail(base::ErrorCode::kNotFound, "no such Job");
      return kube::ApiResponse{
          200, fmt::format(R"({{"metadata":{{"namespace":"ml","name":"train","uid":"{}","labels":{}}}}})",
                           owner, labels)};
    }
    if (request.method == net::Method::kDelete) {
      ++deletions;
      return kube::ApiResponse{200, "{}"};
    }
    ++patches;
    gang.merge_patch(json::parse(request.body));
    gang["metadata"]["resourceVersion"] = fmt::format("{}", 10 + patches);
    return kube::ApiResponse{200, gang.dump()};
  }
};

struct Scene {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "orphans"};
  kube::ClusterCache cache{log};
  WorkloadWatches watches{{"Job"}, cache, log};
  Events events;
  OrphanedGangs orphans{{.api = api,
                         .executor = loop,
                         .cache = cache,
                         .watches = watches,
                         .events = events,
                         .log = log,
                         .leading = [] { return true; }}};

  Scene() {
    api.gang =
        json::parse(R"({"apiVersion":"trainyard.dev/v1alpha1","kind":"Gang","metadata":{"namespace":"ml",
      "name":"train.job","uid":"g1","resourceVersion":"5","generation":1},"spec":{
      "owner":{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"j1"},"queue":"q","roles":[{"name":"worker",
      "replicas":1,"template":{"spec":{"containers":[{"name":"main"}]}}}]}})");
    cache.jobs.upsert(api.gang.dump());
    orphans.start();
  }

  [[nodiscard]] std::string owner() const { return cache.jobs.gangs.find({"ml", "train.job"})->owner->kind; }
};

TEST_CASE("a Gang whose owner is gone becomes one of bare pods, and says so") {
  Scene scene;
  scene.loop.runFor(5s);
  CHECK(scene.api.patches == 0);
  scene.loop.runFor(30s);
  CHECK(scene.api.patches == 1);
  CHECK(scene.owner() == "Pod");
  CHECK(scene.cache.jobs.gangs.find({"ml", "train.job"})->owner->uid.empty());
  CHECK(scene.events.said == std::vector<std::string>{"train.job OwnerGone"});
}

TEST_CASE("an owner that is not watched, but exists, keeps its Gang; a later one of the name does not") {
  Scene scene;
  scene.api.owner = "j1";
  scene.loop.runFor(60s);
  CHECK(scene.owner() == "Job");
  scene.api.owner = "j2";
  scene.loop.runFor(20s);
  CHECK(scene.owner() == "Pod");
}

TEST_CASE("the Gang of an owner without its queue label is deleted while it waits") {
  Scene scene;
  scene.api.owner = "j1";
  scene.api.labels = "{}";
  scene.loop.runFor(60s);
  CHECK(scene.api.deletions > 0);
  CHECK(scene.api.patches == 0);
}

TEST_CASE("the placed Gang of an owner without its queue label becomes one of bare pods") {
  Scene scene;
  scene.api.gang["status"]["gang"] = json::parse(R"({"lastEpoch":1,"placed":{"epoch":1,"assignments":[
      {"node":"n1","role":"worker","indices":"0","epoch":1}]}})");
  scene.api.gang["metadata"]["resourceVersion"] = "6";
  scene.cache.jobs.upsert(scene.api.gang.dump());
  scene.api.owner = "j1";
  scene.api.labels = "{}";
  scene.loop.runFor(30s);
  CHECK(scene.api.deletions == 0);
  CHECK(scene.owner() == "Pod");
  CHECK(scene.events.said == std::vector<std::string>{"train.job OwnerLeft"});
}

TEST_CASE("a known owner is not asked for") {
  Scene scene;
  model::Owner owner;
  owner.kind = "Job";
  owner.name = "train";
  scene.cache.jobs.setOwner(model::Uid("j1"), owner);
  scene.loop.runFor(60s);
  CHECK(scene.owner() == "Job");
}

}  // namespace
}  // namespace trainyard::operator_
