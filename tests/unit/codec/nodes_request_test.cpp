#include "codec/nodes_request.h"

#include <catch2/catch.hpp>

#include "codec/job.h"
#include "codec/pod.h"

using namespace trainyard;

namespace {

model::Job job() {
  const auto decoded = codec::decodeJob(R"({"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob",
    "metadata":{"name":"bert","namespace":"ml","uid":"u-1"},
    "spec":{"framework":"Custom","priorityClassName":"high","elastic":{"role":"worker","minReplicas":2,"replicas":4,"maxReplicas":8},"roles":[
      {"name":"chief","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},
      {"name":"worker","template":{"metadata":{"labels":{"team":"a"}},"spec":{
        "nodeSelector":{"pool":"gpu"},"tolerations":[{"operator":"Exists"}],
        "containers":[{"name":"c","image":"i","command":["train"],"args":["--long"],"env":[{"name":"SAID","value":"v"}],
          "envFrom":[{"secretRef":{"name":"said"}}],"resources":{"limits":{"nvidia.com/gpu":"8"}}}],
        "initContainers":[{"name":"first","image":"i","args":["said"]}]}}}]}})");
  INFO((decoded ? "" : decoded.error().message));
  REQUIRE(decoded);
  CHECK(decoded->specError.empty());
  return *decoded;
}

}  // namespace

TEST_CASE("a request for nodes names a template for each role and the minimum of members") {
  const model::Job bert = job();
  model::ProvisioningPolicy policy;
  policy.giveUpAfter = std::chrono::minutes(10);
  const std::string request = codec::encodeNodesRequest(bert, 3, codec::NodesApi::kV1, policy);
  CHECK(
      request ==
      R"({"apiVersion":"autoscaling.x-k8s.io/v1","kind":"ProvisioningRequest","metadata":{"name":"bert-nodes-3-u-1",)"
      R"("namespace":"ml","labels":{"trainyard.dev/job-name":"bert","trainyard.dev/job-uid":"u-1",)"
      R"("trainyard.dev/attempt":"3"},"ownerReferences":[{"apiVersion":"trainyard.dev/v1alpha1",)"
      R"("kind":"TrainingJob","name":"bert","uid":"u-1","controller":true,"blockOwnerDeletion":true}]},)"
      R"("spec":{"provisioningClassName":"best-effort-atomic-scale-up.autoscaling.x-k8s.io","podSets":[)"
      R"({"count":1,"podTemplateRef":{"name":"bert-chief-nodes-3-u-1"}},)"
      R"({"count":2,"podTemplateRef":{"name":"bert-worker-nodes-3-u-1"}}],)"
      R"("parameters":{"ValidUntilSeconds":"600"}}})");
  CHECK(codec::encodeNodesRequest(bert, 1, codec::NodesApi::kV1Beta1, policy)
            .find("autoscaling.x-k8s.io/v1beta1") != std::string::npos);

  const auto pods = codec::encodeNodesTemplate(bert, bert.spec.roles[1], 3);
  REQUIRE(pods);
  CHECK(
      pods->find(R"("template":{"metadata":{"labels":{"team":"a"}},"spec":{"nodeSelector":{"pool":"gpu"})") !=
      std::string::npos);
  CHECK(pods->find("hostname") == std::string::npos);
  CHECK(pods->find(R"("priorityClassName":"high")") != std::string::npos);
}

TEST_CASE("a request is read as an autoscaler left it") {
  const auto request =
      codec::decodeNodesRequest(R"({"metadata":{"name":"bert-nodes-3-u-1","namespace":"ml","uid":"r-1",
    "resourceVersion":"7","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"trainyard.dev/attempt":"3"},
    "ownerReferences":[{"kind":"TrainingJob","uid":"u-1","controller":true}]},
    "status":{"conditions":[{"type":"Accepted","status":"True","reason":"Accepted","message":"ok",
      "lastTransitionTime":"2026-01-01T00:00:05Z"}]}})");
  REQUIRE(request);
  CHECK(request->job == model::Uid("u-1"));
  CHECK(request->attempt == 3);
  REQUIRE(request->conditions.size() == 1);
  CHECK(request->conditions[0].type == "Accepted");
  // Foreign labels do no harm.
  CHECK(codec::decodeNodesRequest(R"({"metadata":{"name":"x","labels":{"trainyard.dev/attempt":"-5"}}})")
            ->attempt == 1);
  CHECK_FALSE(codec::decodeNodesRequest(R"({"metadata":{}})"));
}

TEST_CASE("a placeholder is no member and no scheduler binds it") {
  const model::Job bert = job();
  const auto body = codec::encodePlaceholder(bert, bert.spec.roles[1], 1, 2);
  REQUIRE(body);
  const auto pod = codec::decodePod(*body);
  INFO((pod ? "" : pod.error().message));
  REQUIRE(pod);
  CHECK(pod->key.name == "bert-nodes-u-1-worker-1");
  CHECK(pod->controllerUid.str().empty());
  CHECK_FALSE(pod->member);
  CHECK_FALSE(pod->gated);
  CHECK(pod->shape.requests.gpus() == 8);
  CHECK(body->find(R"("schedulerName":"trainyard.dev-nobody")") != std::string::npos);
  CHECK(body->find("trainyard.dev/job-uid") == std::string::npos);
  CHECK(body->find("team") == std::string::npos);
  // No field that only a running container needs: such fields make the bodies of a gang large.
  for (const char* word : {"command", "args", "env", "said", "SAID", "--long"}) {
    CAPTURE(word);
    CHECK(body->find(word) == std::string::npos);
  }
  CHECK(body->find(R"("initContainers":[{"name":"first","image":"i"}])") != std::string::npos);
  CHECK(codec::encodeUnschedulable(base::WallTime{}).find(R"("reason":"Unschedulable")") !=
        std::string::npos);
}
