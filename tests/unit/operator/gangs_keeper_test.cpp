#include "operator/gangs_keeper.h"

#include <map>
#include <string>
#include <string_view>
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

const model::ObjectKey kPair{"ml", "pair.pods"};

struct Events final : JobEvents {
  std::vector<std::string> said;
  void record(const model::Job&, const core::JobEvent&) override {}
  void recordOn(const codec::ObjectRef& object, const core::JobEvent& event) override {
    said.push_back(fmt::format("{} {}: {}", object.name, event.reason, event.note));
  }
};

// Answers with the pods that tests put, and keeps the Gangs that are posted.
class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  std::map<std::string, json> pods;
  std::vector<json> posted;
  std::vector<std::string> removed;  // by uid
  int version = 1;

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    if (request.method == net::Method::kGet) {
      const auto found = pods.find(request.path.substr(request.path.rfind('/') + 1));
      if (found == pods.end()) return base::fail(base::ErrorCode::kNotFound, "no such pod");
      return kube::ApiResponse{200, found->second.dump()};
    }
    if (request.method == net::Method::kDelete) {
      removed.push_back(json::parse(request.body)["preconditions"]["uid"]);
      return base::fail(base::ErrorCode::kNotFound, "it is gone at once");
    }
    json gang = json::parse(request.body);
    gang["metadata"]["uid"] = fmt::format("g{}", posted.size() + 1);
    gang["metadata"]["resourceVersion"] = fmt::format("{}", ++version);
    gang["metadata"]["generation"] = 1;
    posted.push_back(gang);
    return kube::ApiResponse{201, gang.dump()};
  }
};

struct Scene {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "gangs"};
  kube::ClusterCache cache{log};
  Events events;
  bool leads = true;
  std::string podGroups = "v1alpha2";
  GangsKeeper keeper{{.api = api,
                      .executor = loop,
                      .cache = cache,
                      .events = events,
                      .log = log,
                      .leading = [this] { return leads; },
                      .podGroupVersion = [this] { return podGroups; }}};

  Scene() { keeper.start(); }

  static json podOf(std::string_view name, std::string_view size) {
    json pod = json::parse(R"({"metadata":{"namespace":"ml","annotations":{},
      "labels":{"trainyard.dev/gang":"pair","trainyard.dev/queue":"research"}},
      "spec":{"schedulingGates":[{"name":"trainyard.dev/place"}],
      "containers":[{"name":"main","image":"x","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}})");
    pod["metadata"]["name"] = name;
    pod["metadata"]["uid"] = fmt::format("u-{}", name);
    pod["metadata"]["annotations"]["trainyard.dev/gang-size"] = size;
    return pod;
  }

  static json podOfGroup(std::string_view name, std::string_view group) {
    json pod = podOf(name, "1");
    pod["metadata"]["labels"].erase("trainyard.dev/gang");
    pod["metadata"]["annotations"].erase("trainyard.dev/gang-size");
    pod["spec"]["schedulingGroup"] = {{"podGroupName", group}};
    return pod;
  }

  static json leaderOf(std::string_view set, std::string_view group) {
    json pod = podOf(fmt::format("{}-{}", set, group), "1");
    pod["metadata"]["labels"] = {{"trainyard.dev/queue", "research"},
                                 {"leaderworkerset.sigs.k8s.io/name", set},
                                 {"leaderworkerset.sigs.k8s.io/group-index", group},
                                 {"leaderworkerset.sigs.k8s.io/worker-index", "0"}};
    return pod;
  }

  void put(json pod) {
    const std::string name = pod["metadata"]["name"];
    pod["metadata"]["resourceVersion"] = fmt::format("{}", ++api.version);
    api.pods[name] = pod;
    cache.pods.upsert(pod.dump());
    REQUIRE(cache.pods.find({"ml", name}));
    loop.runFor(100ms);
  }

  void arrive(std::string_view name, std::string_view size = "2") { put(podOf(name, size)); }

  // As the operator does when it gives the pod a place of the Gang with this uid.
  void place(std::string_view name, int index, std::string_view gangUid, std::string_view phase = "Running") {
    json pod = podOf(name, "2");
    pod["metadata"]["labels"].update({{"trainyard.dev/job-name", "pair.pods"},
                                      {"trainyard.dev/job-uid", gangUid},
                                      {"trainyard.dev/role", "worker"},
                                      {"trainyard.dev/index", fmt::format("{}", index)},
                                      {"trainyard.dev/epoch", "1"}});
    pod["spec"].erase("schedulingGates");
    pod["spec"]["nodeName"] = "n1";
    pod["status"] = {{"phase", phase}};
    put(pod);
  }

  void leave(std::string_view name) {
    cache.pods.forget({"ml", std::string(name)}, fmt::format("u-{}", name));
    loop.runFor(100ms);
  }

  void end(std::string_view phase) {
    json gang = api.posted.back();
    gang["metadata"]["resourceVersion"] = fmt::format("{}", ++api.version);
    gang["status"]["phase"] = phase;
    gang["status"]["conditions"] = json::array({{{"type", phase},
                                                 {"status", "True"},
                                                 {"reason", "Ended"},
                                                 {"lastTransitionTime", "2024-10-04T00:00:00Z"}}});
    cache.jobs.upsert(gang.dump());
    REQUIRE(cache.jobs.gangs.find(kPair)->finished());
    loop.runFor(100ms);
  }
};

TEST_CASE("the first pod that asks for a gang of a size brings the Gang for all of them") {
  Scene scene;
  scene.arrive("a");
  REQUIRE(scene.api.posted.size() == 1);
  CHECK(scene.api.posted.front()["metadata"]["name"] == "pair.pods");
  CHECK(scene.api.posted.front()["spec"]["queue"] == "research");
  CHECK(scene.api.posted.front()["spec"]["roles"][0]["replicas"] == 2);
  scene.arrive("b");
  CHECK(scene.api.posted.size() == 1);
}

TEST_CASE("a size that cannot be read is said on the pod, and no Gang is made") {
  Scene scene;
  scene.arrive("a", "two");
  CHECK(scene.api.posted.empty());
  REQUIRE_FALSE(scene.events.said.empty());
  CHECK_THAT(scene.events.said.front(), Catch::Contains("a InvalidGang") && Catch::Contains("two"));
}

TEST_CASE("a Gang keeps its places for ten seconds after its last pod, and is then deleted once") {
  Scene scene;
  scene.arrive("a");
  scene.leave("a");
  scene.loop.runFor(9s);
  CHECK(scene.api.removed.empty());
  scene.arrive("b");
  scene.leave("b");
  scene.loop.runFor(9s);
  CHECK(scene.api.removed.empty());
  scene.loop.runFor(2s);
  CHECK(scene.api.removed == std::vector<std::string>{"g1"});
}

TEST_CASE("a Gang that has ended stays with its pods, and leaves its name to pods that arrive") {
  Scene scene;
  scene.arrive("a");
  scene.place("a", 0, "g1", "Succeeded");
  scene.end("Succeeded");
  scene.loop.runFor(60s);
  CHECK(scene.api.removed.empty());
  scene.arrive("b");
  CHECK(scene.api.removed == std::vector<std::string>{"g1"});
  CHECK(scene.api.posted.size() == 2);
}

TEST_CASE(
    "pods that have become larger than the places of their Gang get another Gang once the old ones are "
    "gone") {
  Scene scene;
  scene.arrive("a");
  scene.place("a", 0, "g1");
  json larger = Scene::podOf("b", "2");
  larger["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "16";
  scene.put(larger);
  CHECK(scene.api.removed.empty());
  scene.leave("a");
  CHECK(scene.api.removed == std::vector<std::string>{"g1"});
  REQUIRE(scene.api.posted.size() == 2);
  CHECK(scene.api.posted.back()["spec"]["roles"][0]["template"]["spec"]["containers"][0]["resources"]
                               ["limits"]["nvidia.com/gpu"] == "16");
}

TEST_CASE("the pods of an earlier Gang of the name keep no later one") {
  Scene scene;
  scene.place("old", 0, "g0", "Succeeded");
  scene.place("older", 1, "g0");
  scene.arrive("a");
  scene.place("a", 0, "g1", "Failed");
  scene.end("Failed");
  CHECK(scene.api.removed.empty());
  scene.leave("a");
  CHECK(scene.api.removed == std::vector<std::string>{"g1"});
}

TEST_CASE(
    "a group of a LeaderWorkerSet is a gang of the size and roles of the set, before all its pods are "
    "there") {
  Scene scene;
  scene.api.pods["llm"] =
      json::parse(R"({"metadata":{"name":"llm"},"spec":{"replicas":2,"leaderWorkerTemplate":{"size":3,
    "leaderTemplate":{"metadata":{"labels":{"trainyard.dev/queue":"research"}},"spec":{"containers":[{"name":"l"}]}},
    "workerTemplate":{"metadata":{"labels":{"trainyard.dev/queue":"research"}},
      "spec":{"containers":[{"name":"w","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}}}}})");
  scene.put(Scene::leaderOf("llm", "1"));
  REQUIRE(scene.api.posted.size() == 1);
  const json& gang = scene.api.posted.front();
  CHECK(gang["metadata"]["name"] == "llm-1.group");
  CHECK(gang["spec"]["queue"] == "research");
  REQUIRE(gang["spec"]["roles"].size() == 2);
  CHECK(gang["spec"]["roles"][0]["name"] == "leader");
  CHECK(gang["spec"]["roles"][0]["replicas"] == 1);
  CHECK(gang["spec"]["roles"][1]["name"] == "worker");
  CHECK(gang["spec"]["roles"][1]["replicas"] == 2);
  CHECK(gang["spec"]["roles"][1]["template"]["spec"]["containers"][0]["resources"]["limits"]
            ["nvidia.com/gpu"] == "8");
}

TEST_CASE(
    "the size of a gang that a PodGroup names is the group's, as soon as it is known which are served") {
  Scene scene;
  scene.podGroups.clear();
  scene.api.pods["ring"] =
      json::parse(R"({"metadata":{"name":"ring"},"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}})");
  scene.put(Scene::podOfGroup("a", "ring"));
  CHECK(scene.api.posted.empty());
  scene.podGroups = "v1alpha2";
  scene.loop.runFor(11s);
  REQUIRE(scene.api.posted.size() == 1);
  CHECK(scene.api.posted.front()["metadata"]["name"] == "ring.pods");
  CHECK(scene.api.posted.front()["spec"]["roles"][0]["replicas"] == 3);
}

TEST_CASE("a PodGroup whose pods need not start together is said on the pod") {
  Scene scene;
  scene.api.pods["ring"] =
      json::parse(R"({"metadata":{"name":"ring"},"spec":{"schedulingPolicy":{"basic":{}}}})");
  scene.put(Scene::podOfGroup("a", "ring"));
  CHECK(scene.api.posted.empty());
  REQUIRE_FALSE(scene.events.said.empty());
  CHECK_THAT(scene.events.said.front(), Catch::Contains("spec.schedulingPolicy: has no gang"));
}

TEST_CASE("a LeaderWorkerSet that may not be read is said on the pod, with the remedy") {
  Scene scene;
  scene.api.fault = [](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("leaderworkersets") == std::string::npos) return std::nullopt;
    return base::Error{base::ErrorCode::kForbidden, "no right"};
  };
  scene.put(Scene::leaderOf("llm", "0"));
  CHECK(scene.api.posted.empty());
  REQUIRE_FALSE(scene.events.said.empty());
  CHECK_THAT(scene.events.said.front(),
             Catch::Contains("add LeaderWorkerSet to the chart's workloads.kinds"));
}

TEST_CASE("a pod without a place learns why, once") {
  Scene scene;
  scene.arrive("a");
  scene.place("a", 0, "g1");
  scene.arrive("b");
  scene.place("b", 1, "g1");
  CHECK(scene.events.said.empty());
  scene.arrive("c");
  scene.arrive("d");
  REQUIRE(scene.events.said.size() == 2);
  CHECK(scene.events.said.front() == "c NoPlace: Gang pair.pods has all its pods of role worker");
  json large = Scene::podOf("e", "2");
  large["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "16";
  scene.put(large);
  CHECK(scene.events.said.back() ==
        "e NoPlace: it requests more than Gang pair.pods has for a pod of role worker");
}

TEST_CASE("a replica that does not lead writes nothing, and goes on from the caches when it does") {
  Scene scene;
  scene.leads = false;
  scene.arrive("a");
  CHECK(scene.api.posted.empty());
  scene.leads = true;
  scene.keeper.start();
  scene.loop.runFor(100ms);
  CHECK(scene.api.posted.size() == 1);
}

}  // namespace
}  // namespace trainyard::operator_
