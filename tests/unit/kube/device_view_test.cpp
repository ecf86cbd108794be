#include "kube/device_view.h"

#include <map>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "support/fake_api.h"

namespace trainyard::kube {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kGpu = "nvidia.com/gpu";
constexpr std::string_view kApi = "/apis/resource.k8s.io/v1/";

class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  bool serves = true;
  std::map<std::string, std::string> items;  // by the plural of the kind, as JSON with commas

 private:
  base::Result<ApiResponse> answer(const ApiRequest& request) override {
    if (!serves) return base::fail(base::ErrorCode::kNotFound, "not found");
    return ApiResponse{200, fmt::format(R"({{"metadata":{{"resourceVersion":"5"}},"items":[{}]}})",
                                        items[request.path.substr(kApi.size())])};
  }
};

std::string deviceClass(std::string_view name, std::string_view extended) {
  const std::string more = extended.empty() ? "" : fmt::format(R"(,"extendedResourceName":"{}")", extended);
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{"selectors":[{{"cel":{{"expression":"device.driver == 'd'"}}}}]{}}}}})",
      name, more);
}

// A slice of node n1 with 8 devices.
std::string sliceOfEight() {
  std::string devices;
  for (int i = 0; i < 8; ++i) devices += fmt::format(R"({}{{"name":"d{}"}})", i == 0 ? "" : ",", i);
  return fmt::format(
      R"({{"metadata":{{"name":"s"}},"spec":{{"driver":"d","nodeName":"n1","pool":{{"name":"n1","generation":1,)"
      R"("resourceSliceCount":1}},"devices":[{}]}}}})",
      devices);
}

// A claim on class gpu with devices d0 and d1, owned by a pod of this name.
std::string claimOf(std::string_view pod, std::string_view annotations = "{}") {
  return fmt::format(
      R"({{"metadata":{{"namespace":"ml","name":"c","annotations":{1},"ownerReferences":[{{"kind":"Pod","name":"{0}",)"
      R"("uid":"uid-{0}","controller":true}}]}},"spec":{{"devices":{{"requests":[{{"name":"r","exactly":)"
      R"({{"deviceClassName":"gpu","count":2}}}}]}}}},"status":{{"allocation":{{"devices":{{"results":[)"
      R"({{"driver":"d","pool":"n1","device":"d0"}},{{"driver":"d","pool":"n1","device":"d1"}}]}}}}}}}})",
      pod, annotations);
}

// A pod on n1. `spec` and `status` begin with a comma.
std::string podOf(std::string_view name, std::string_view limits, std::string_view spec,
                  std::string_view status) {
  return fmt::format(
      R"({{"metadata":{{"namespace":"ml","name":"{0}","uid":"uid-{0}","resourceVersion":"1"}},"spec":{{"nodeName":"n1",)"
      R"("containers":[{{"name":"c","resources":{{"limits":{1},"requests":{1}}}}}]{2}}},"status":{{"phase":"Running"{3}}}}})",
      name, limits, spec, status);
}

constexpr std::string_view kClaims = R"(,"resourceClaims":[{"name":"x","resourceClaimTemplateName":"t"}])";
constexpr std::string_view kMade = R"(,"resourceClaimStatuses":[{"name":"x","resourceClaimName":"c"}])";

struct Scene {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "devices"};
  ClusterCache cache{log};
  base::Rng rng{1};
  int changes = 0;
  DeviceView view{cache, log, [this] { ++changes; }};

  Scene() {
    for (const char* name : {"n1", "n2"})
      cache.nodes.upsert(
          fmt::format(R"({{"metadata":{{"name":"{}"}},"status":{{"allocatable":{{"cpu":"8"}}}}}})", name));
    api.items["resourceslices"] = sliceOfEight();
    api.items["deviceclasses"] = deviceClass("gpu", kGpu);
  }

  void start() {
    view.start(api, loop, rng);
    loop.runFor(1s);
    REQUIRE(view.settled());
  }
  model::Snapshot snapshot() {
    model::Snapshot cluster = cache.snapshot(loop.wallNow());
    view.overlay(cluster);
    view.overlayJobs(cluster);
    return cluster;
  }
  std::int64_t offered(std::string_view node, std::string_view resource) {
    return snapshot().nodes.find(model::NodeName(node))->allocatable.extended(resource);
  }
};

TEST_CASE("a pod with an extended resource that devices serve takes each of them once") {
  Scene scene;
  scene.api.items["resourceclaims"] =
      claimOf("a", R"({"resource.kubernetes.io/extended-resource-claim":"true"})");
  scene.cache.pods.upsert(podOf("a", R"({"nvidia.com/gpu":"2"})", "", ""));
  scene.start();
  CHECK(scene.offered("n1", kGpu) == 8);
  CHECK(scene.snapshot().pods.front()->shape.requests.extended(kGpu) == 2);
  CHECK(scene.offered("n2", kGpu) == 0);
}

TEST_CASE("a pod holds the devices of its own claim") {
  Scene scene;
  scene.api.items["resourceclaims"] = claimOf("a");
  scene.cache.pods.upsert(podOf("a", "{}", kClaims, kMade));
  scene.start();
  CHECK(scene.offered("n1", kGpu) == 8);
  CHECK(scene.snapshot().pods.front()->shape.requests.extended(kGpu) == 2);
}

TEST_CASE("a claim whose owner does not list it takes its devices from the node") {
  Scene scene;
  scene.api.items["resourceclaims"] = claimOf("a");
  scene.cache.pods.upsert(podOf("a", "{}", "", ""));
  scene.start();
  CHECK(scene.offered("n1", kGpu) == 6);
  CHECK(scene.snapshot().pods.front()->shape.requests.extended(kGpu) == 0);
}

TEST_CASE("the devices of a pod that is gone are free, unless its claim stays") {
  Scene scene;
  scene.api.items["resourceclaims"] = claimOf("a");
  scene.start();
  CHECK(scene.offered("n1", kGpu) == 8);
  const int before = scene.changes;
  scene.loop.runFor(6s);
  CHECK(scene.changes > before);
  CHECK(scene.offered("n1", kGpu) == 6);
}

TEST_CASE("two classes over the same devices offer nothing on nodes without devices") {
  Scene scene;
  scene.api.items["deviceclasses"] = deviceClass("gpu", kGpu) + "," + deviceClass("other", "example.com/gpu");
  scene.start();
  CHECK(scene.offered("n1", kGpu) == 8);
  CHECK(scene.offered("n1", "example.com/gpu") == 8);
  CHECK(scene.offered("n2", kGpu) == 0);
  CHECK(scene.offered("n2", "example.com/gpu") == 0);
}

TEST_CASE("where the API is not served, a job with claims has a problem and nothing waits for devices") {
  Scene scene;
  scene.api.serves = false;
  scene.cache.jobs.upsert(
      R"({"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{"namespace":"ml","name":"j","uid":"j1",
      "resourceVersion":"1","generation":1},"spec":{"framework":"Custom","roles":[{"name":"worker","replicas":1,
      "template":{"spec":{"resourceClaims":[{"name":"x","resourceClaimTemplateName":"t"}],
      "containers":[{"name":"c","image":"i"}]}}}]}})");
  scene.start();
  REQUIRE(scene.snapshot().jobs.size() == 1);
  CHECK(scene.snapshot().jobs.front()->deviceProblem.find("Kubernetes 1.34") != std::string::npos);
}

}  // namespace
}  // namespace trainyard::kube
