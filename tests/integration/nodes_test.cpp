#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/nodes_request.h"
#include "lab.h"
#include "model/conditions.h"
#include "model/provisioning.h"
#include "sim/cluster/crds.h"

// The test acts as the autoscaler: it sets the result of a request, and adds nodes.
namespace trainyard::test {
namespace {

constexpr const char* kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: provisioningrequests.autoscaling.x-k8s.io}}
spec:
  group: autoscaling.x-k8s.io
  names: {{kind: ProvisioningRequest, plural: provisioningrequests}}
  scope: Namespaced
  versions:
  - name: {}
    served: true
    storage: true
    subresources: {{status: {{}}}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {{type: object, x-kubernetes-preserve-unknown-fields: true}}
          status: {{type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

sim::ClusterOptions options(model::ProvisioningBy by, const std::string& version = "v1") {
  sim::ClusterOptions options;
  std::vector<std::string> crds = sim::clusterCrds();
  if (!version.empty()) crds.push_back(fmt::format(kDefinition, version));
  auto types = sim::ApiServer::readTypes(crds);
  if (!types) FAIL(types.error().message);
  options.types = *std::move(types);
  options.provisioning = {.by = by, .after = 5s, .giveUpAfter = 300s, .retryAfter = 60s};
  return options;
}

class Autoscaled : public Lab {
 public:
  explicit Autoscaled(model::ProvisioningBy by, const std::string& version = "v1")
      : Lab(options(by, version), 2), version_(version) {
    cluster().operators().start();
  }

  // The path of the job's request; "" if there is none.
  std::string request(const std::string& name, int attempt = 1) {
    const auto found = job(name);
    if (!found) return "";
    const std::string path =
        fmt::format("/apis/autoscaling.x-k8s.io/{}/namespaces/default/provisioningrequests/{}", version_,
                    codec::nodesRequestName(*found, attempt));
    return exists(path) ? path : "";
  }
  std::string podTemplate(const std::string& name, int attempt = 1) {
    const auto found = job(name);
    return "/api/v1/namespaces/default/podtemplates/" +
           codec::nodesTemplateName(*found, found->spec.roles[0], attempt);
  }
  void setCondition(const std::string& path, const std::string& type, const std::string& message) {
    const auto said = cluster().request(
        net::Method::kPatch, path + "/status",
        fmt::format(
            R"({{"status":{{"conditions":[{{"type":"{}","status":"True","reason":"{}","message":"{}",)"
            R"("lastTransitionTime":"{}"}}]}}}})",
            type, type, message, base::formatTime(cluster().loop().wallNow())),
        "application/merge-patch+json");
    if (!said) FAIL(said.error().message);
  }
  bool reports(const std::string& name, const std::string& reason, base::Instant::duration limit = 60s) {
    return until(
        [&] {
          const auto found = job(name);
          const auto* condition = found ? found->condition(model::conditions::kNodesRequested) : nullptr;
          return condition != nullptr && condition->reason == reason;
        },
        limit);
  }
  std::size_t placeholders() {
    const auto pods = cluster().snapshot().pods;
    return static_cast<std::size_t>(std::count_if(pods.begin(), pods.end(), [](const auto& pod) {
      return pod->key.name.find("-nodes-") != std::string::npos && !pod->unschedulableMessage.empty();
    }));
  }

 private:
  std::string version_;
};

}  // namespace

TEST_CASE("a gang that no node can hold requests nodes and starts on them") {
  const std::string version = GENERATE("v1", "v1beta1");
  CAPTURE(version);
  Autoscaled lab(model::ProvisioningBy::kProvisioningRequest, version);
  lab.submit("large", {.workers = 4, .runFor = ""});
  REQUIRE(lab.until([&] { return !lab.request("large").empty(); }, 60s));
  CHECK(lab.exists(lab.podTemplate("large")));
  REQUIRE(lab.reports("large", "Asked"));
  lab.setCondition(lab.request("large"), "Accepted", "on its way");
  REQUIRE(lab.reports("large", "Accepted"));
  CHECK(lab.podsOf("large").empty());
  REQUIRE(lab->addNodes(2));
  lab.setCondition(lab.request("large"), "Provisioned", "two nodes");
  REQUIRE(lab.waitPhase("large", "Running", 60s));
  REQUIRE(lab.reports("large", "Placed"));
  CHECK(
      lab.until([&] { return lab.request("large").empty() && !lab.exists(lab.podTemplate("large")); }, 60s));
  lab.requireSound();
}

TEST_CASE("a job that fits or is suspended requests no nodes") {
  Autoscaled lab(model::ProvisioningBy::kProvisioningRequest);
  lab.submit("fits", {.workers = 2, .runFor = ""});
  REQUIRE(lab.waitPhase("fits", "Running", 60s));
  lab.submit("suspended", {.workers = 4, .extra = R"("run":{"suspend":true})"});
  lab.run(60s);
  CHECK(lab.request("fits").empty());
  CHECK(lab.request("suspended").empty());
  CHECK(lab.job("fits")->condition(model::conditions::kNodesRequested) == nullptr);
  // All nodes are full of jobs that are not preemptible: more nodes help.
  lab.submit("second", {.workers = 2, .runFor = ""});
  REQUIRE(lab.reports("second", "Asked"));
  CHECK_FALSE(lab.request("second").empty());
  lab.patchJob("second", R"({"spec":{"run":{"suspend":true}}})");
  CHECK(lab.reports("second", "Suspended"));
  CHECK(lab.until([&] { return lab.request("second").empty(); }, 60s));
  lab.requireSound();
}

TEST_CASE("a failed request for nodes is withdrawn and reported and made again later") {
  Autoscaled lab(model::ProvisioningBy::kProvisioningRequest);
  lab.submit("large", {.workers = 4, .runFor = ""});
  REQUIRE(lab.until([&] { return !lab.request("large").empty(); }, 60s));
  SECTION("the autoscaler reports the failure") {
    lab.setCondition(lab.request("large"), "Failed", "out of stock");
    REQUIRE(lab.reports("large", "Failed"));
    CHECK(lab.job("large")->condition(model::conditions::kNodesRequested)->message.find("out of stock") !=
          std::string::npos);
  }
  SECTION("the autoscaler does not answer") { REQUIRE(lab.reports("large", "TimedOut", 400s)); }
  CHECK(lab.until([&] { return lab.request("large").empty(); }, 30s));
  lab.run(30s);
  CHECK(lab.request("large", 2).empty());
  REQUIRE(lab.until([&] { return !lab.request("large", 2).empty(); }, 120s));
  CHECK(lab.reports("large", "Asked"));
  const auto leader = lab->operators().leader();
  REQUIRE(leader);
  CHECK(lab->operators().metricsOf(*leader).find(R"(trainyard_node_requests_total{result="failed"} 1)") !=
        std::string::npos);
  lab.requireSound();
}

TEST_CASE("suspending and resuming a job does not shorten its wait for the next request for nodes") {
  Autoscaled lab(model::ProvisioningBy::kProvisioningRequest);
  lab.submit("large", {.workers = 4, .runFor = ""});
  REQUIRE(lab.reports("large", "Asked"));
  SECTION("the job is suspended after a failure") {
    lab.setCondition(lab.request("large"), "Failed", "out of stock");
    REQUIRE(lab.reports("large", "Failed"));
    REQUIRE(lab.until([&] { return lab.request("large").empty(); }, 30s));
  }
  SECTION("the job is suspended while its request is open") {}
  lab.patchJob("large", R"({"spec":{"run":{"suspend":true}}})");
  REQUIRE(lab.reports("large", "Suspended"));
  REQUIRE(lab.until([&] { return lab.request("large").empty(); }, 30s));
  lab.run(5s);
  lab.patchJob("large", R"({"spec":{"run":{"suspend":false}}})");
  lab.run(30s);
  CHECK(lab.request("large").empty());
  CHECK(lab.request("large", 2).empty());
  CHECK(lab.until([&] { return !lab.request("large", 2).empty(); }, 120s));
  lab.requireSound();
}

TEST_CASE("a new leader continues with the requested nodes and the request is deleted with its job") {
  Autoscaled lab(model::ProvisioningBy::kProvisioningRequest);
  lab.submit("large", {.workers = 4, .runFor = ""});
  REQUIRE(lab.reports("large", "Asked"));
  lab->operators().kill(*lab->operators().leader());
  lab->operators().start();
  lab.setCondition(lab.request("large"), "Accepted", "on its way");
  REQUIRE(lab.reports("large", "Accepted"));
  CHECK(lab.request("large", 2).empty());
  const std::string path = lab.request("large");
  lab.deleteJob("large");
  REQUIRE(lab.waitGone("large", 60s));
  CHECK(lab.until([&] { return !lab.exists(path); }, 60s));
  lab.requireSound();
}

TEST_CASE("without the ProvisioningRequest API nothing is created for nodes and the job reports it") {
  Autoscaled lab(model::ProvisioningBy::kProvisioningRequest, "");
  lab.submit("large", {.workers = 4, .runFor = ""});
  REQUIRE(lab.reports("large", "NotAsked"));
  CHECK(
      lab.job("large")->condition(model::conditions::kNodesRequested)->message.find("autoscaling.x-k8s.io") !=
      std::string::npos);
  CHECK_FALSE(lab.exists(lab.podTemplate("large")));
  lab.requireSound();
}

TEST_CASE("placeholder pods request nodes and are deleted when they are no longer needed") {
  Autoscaled lab(model::ProvisioningBy::kPlaceholderPods, "");
  lab.submit("large", {.workers = 4, .runFor = ""});
  REQUIRE(lab.until([&] { return lab.placeholders() == 4; }, 60s));
  REQUIRE(lab.reports("large", "Asked"));
  lab.run(60s);
  CHECK(lab.placeholders() == 4);
  SECTION("the nodes arrive") {
    REQUIRE(lab->addNodes(2));
    REQUIRE(lab.waitPhase("large", "Running", 60s));
    CHECK(lab.until([&] { return lab.placeholders() == 0; }, 60s));
    CHECK(lab.reports("large", "Placed"));
  }
  SECTION("the nodes do not arrive") {
    REQUIRE(lab.reports("large", "TimedOut", 400s));
    CHECK(lab.until([&] { return lab.placeholders() == 0; }, 30s));
  }
  SECTION("the job is deleted") {
    lab.deleteJob("large");
    CHECK(lab.until([&] { return lab.placeholders() == 0; }, 60s));
  }
  lab.requireSound();
}

TEST_CASE("a pod that has only the name of a placeholder is neither marked nor deleted") {
  Autoscaled lab(model::ProvisioningBy::kPlaceholderPods, "");
  lab.submit("large", {.workers = 4, .runFor = ""});
  const auto large = lab.job("large");
  const std::string name = codec::placeholderName(*large, large->spec.roles[0], 1);
  REQUIRE(lab.foreignPod(name, 16));  // no node has the capacity
  REQUIRE(lab.until([&] { return lab.placeholders() == 4; }, 60s));
  REQUIRE(lab.reports("large", "Asked"));
  const auto marked = [&] {
    const auto pods = lab->snapshot().pods;
    return std::count_if(pods.begin(), pods.end(), [](const auto& pod) {
      return pod->unschedulableMessage.find("stands for a member") != std::string::npos;
    });
  };
  CHECK(marked() == 3);
  REQUIRE(lab.reports("large", "TimedOut", 400s));
  CHECK(lab.until([&] { return marked() == 0; }, 30s));
  CHECK(lab.exists("/api/v1/namespaces/default/pods/" + name));
  lab.requireSound();
}

}  // namespace trainyard::test
