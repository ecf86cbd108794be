#include "codec/gang_object.h"

#include <catch2/catch.hpp>

#include "codec/eviction.h"
#include "codec/gang_of_pods.h"
#include "codec/json_value.h"
#include "codec/pod.h"
#include "codec/release_patch.h"
#include "codec/suspend_patch.h"

using namespace trainyard;         // NOLINT(google-build-using-namespace): test
using namespace trainyard::codec;  // NOLINT(google-build-using-namespace): test

namespace {

std::string canonical(std::string_view json) { return JsonDocument::parse(json).value().root().canonical(); }

model::Pod podWith(std::string_view metadata, std::string_view gate = "trainyard.dev/place") {
  const std::string json = std::string(R"({"metadata":{"namespace":"ml","uid":"u","name":"w-7f",)") +
                           std::string(metadata) + R"(},"spec":{"schedulingGates":[{"name":")" +
                           std::string(gate) + R"("}]}})";
  return decodePod(json).value();
}

constexpr std::string_view kWorker = R"({
  "metadata": {"name": "w-1", "namespace": "ml",
    "labels": {"trainyard.dev/queue": "research", "trainyard.dev/gang": "pair"},
    "annotations": {"trainyard.dev/gang-size": "4", "trainyard.dev/locality": "rack",
                    "trainyard.dev/estimated-duration": "1h30m", "trainyard.dev/preemptible": "false"}},
  "spec": {"priorityClassName": "high", "nodeSelector": {"a": "b"}, "serviceAccountName": "sa",
    "containers": [{"name": "train", "image": "x", "command": ["y"],
                    "resources": {"limits": {"nvidia.com/gpu": "8"}, "requests": {"nvidia.com/gpu": "8"}}}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "token", "projected": {}}]}})";

}  // namespace

TEST_CASE("a Gang is a job whose pods another controller makes") {
  const model::Gang gang = decodeGang(R"({
    "metadata": {"name": "llama.jobset", "namespace": "ml", "uid": "g1", "finalizers": ["trainyard.dev/release"]},
    "spec": {"owner": {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "llama", "uid": "o1"},
      "queue": "research", "hold": true, "locality": {"required": "rack"},
      "roles": [{"name": "worker", "replicas": 4, "template": {"spec": {"restartPolicy": "Always",
        "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}]},
    "status": {"gang": {"lastEpoch": 3}}})")
                               .value();
  CHECK(gang.specError.empty());
  CHECK(gang.key.name == "llama.jobset");
  CHECK(gang.hasReleaseFinalizer);
  CHECK(gang.owner->kind == "JobSet");
  CHECK(gang.owner->uid.str() == "o1");
  CHECK(gang.spec.queue.str() == "research");
  CHECK(gang.spec.run.suspend);
  CHECK(gang.spec.preemptible);
  CHECK(gang.spec.locality.required == "rack");
  CHECK(gang.spec.roles.front().replicas == 4);
  CHECK(gang.spec.roles.front().shape.requests.gpus() == 8);
  CHECK(gang.status.gang.lastEpoch == 3);
}

TEST_CASE("a Gang without owner is of bare pods, and one without roles is no usable Gang") {
  const model::Gang gang = decodeGang(R"({"metadata":{"name":"a.pods","namespace":"ml"},"spec":{}})").value();
  CHECK(gang.owner->kind == "Pod");
  CHECK(gang.owner->apiVersion.empty());
  CHECK(gang.specError == "spec.roles: needs at least one role");
}

TEST_CASE("a gated pod asks for a place in the Gang that its label names") {
  const model::Pod named = podWith(
      R"("labels":{"trainyard.dev/gang":"llama.jobset","trainyard.dev/gang-role":"leader",
         "batch.kubernetes.io/job-completion-index":"3"})");
  REQUIRE(named.arrival);
  CHECK(*named.arrival == model::Arrival{"llama.jobset", "leader", 3});
  CHECK(named.otherGate.empty());
  const model::Pod bare = podWith(R"("labels":{"trainyard.dev/gang":"pair"})");
  REQUIRE(bare.arrival);
  CHECK(*bare.arrival == model::Arrival{"pair.pods", "worker", -1});
  const model::Pod alone =
      podWith(R"("labels":{"trainyard.dev/queue":"q","apps.kubernetes.io/pod-index":"2"})");
  REQUIRE(alone.arrival);
  CHECK(*alone.arrival == model::Arrival{"w-7f.pod", "worker", -1});
}

TEST_CASE("a pod without the gate, or without gang and queue, asks for no place") {
  CHECK_FALSE(podWith(R"("labels":{"trainyard.dev/gang":"pair"})", "example.com/other").arrival);
  CHECK_FALSE(podWith(R"("labels":{})").arrival);
}

TEST_CASE("the name of a Gang fits into a label, however long that of its pod is") {
  const std::string longName(253, 'x');
  const auto pod =
      decodePod(R"({"metadata":{"namespace":"ml","labels":{"trainyard.dev/queue":"q"},"name":")" + longName +
                R"("},"spec":{"schedulingGates":[{"name":"trainyard.dev/place"}]}})")
          .value();
  REQUIRE(pod.arrival);
  CHECK(pod.arrival->gang.size() == 63);
  CHECK(pod.arrival->gang.ends_with(".pod"));
}

TEST_CASE("a released pod is a member of the Gang in its labels, but not of a TrainingJob") {
  const auto labelled = [](std::string_view job, std::string_view owner) {
    return decodePod(
               R"({"metadata":{"name":"x","namespace":"ml",)" + std::string(owner) +
               R"("labels":{"trainyard.dev/job-name":")" + std::string(job) +
               R"(","trainyard.dev/job-uid":"g1","trainyard.dev/role":"worker","trainyard.dev/index":"1",
                  "trainyard.dev/epoch":"2"}}})")
        .value();
  };
  const model::Pod member = labelled("pair.pods", "");
  CHECK(member.gangUid.str() == "g1");
  REQUIRE(member.member);
  CHECK(member.member->index == 1);
  CHECK(labelled("bert", "").gangUid.empty());
  CHECK(labelled("pair.pods",
                 R"("ownerReferences":[{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","name":"j",
                    "uid":"j1","controller":true}],)")
            .gangUid.empty());
}

TEST_CASE("the Gang of bare pods keeps what placing needs, and asks for what their annotations say") {
  const auto request = readGangRequest(kWorker).value();
  CHECK(request.size == 4);
  CHECK_FALSE(request.namesRole);
  const auto body = encodeGangOfPods({"ml", "pair.pods"}, {{"worker", 4, std::string(kWorker)}});
  REQUIRE(body);
  CHECK(canonical(*body) == canonical(R"({"apiVersion": "trainyard.dev/v1alpha1", "kind": "Gang",
    "metadata": {"name": "pair.pods", "namespace": "ml", "finalizers": ["trainyard.dev/release"]},
    "spec": {"owner": {"apiVersion": "v1", "kind": "Pod"}, "queue": "research", "priorityClassName": "high",
      "preemptible": false, "locality": {"required": "rack"}, "estimate": {"durationSeconds": 5400},
      "roles": [{"name": "worker", "replicas": 4, "template": {"spec": {
        "nodeSelector": {"a": "b"}, "priorityClassName": "high",
        "containers": [{"name": "train",
          "resources": {"limits": {"nvidia.com/gpu": "8"}, "requests": {"nvidia.com/gpu": "8"}}}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}}}]}})"));
  CHECK(decodeGang(*body).value().specError.empty());
}

TEST_CASE("an annotation that cannot be read is refused with its name") {
  const auto size = [](std::string_view value) {
    return readGangRequest(R"({"metadata":{"name":"a","annotations":{"trainyard.dev/gang-size":")" +
                           std::string(value) + R"("}}})");
  };
  CHECK(size("12").value().size == 12);
  for (const char* bad : {"", "0", "-1", "four", "10001", "4 "}) {
    const auto refused = size(bad);
    INFO(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("trainyard.dev/gang-size: must be a number of pods from 1 to 10000") !=
          std::string::npos);
  }
  const auto body = encodeGangOfPods(
      {"ml", "a.pods"},
      {{"worker", 1, R"({"metadata":{"annotations":{"trainyard.dev/estimated-duration":"soon"}}})"}});
  REQUIRE_FALSE(body);
  CHECK(body.error().message.find("trainyard.dev/estimated-duration") != std::string::npos);
}

TEST_CASE("a pod of a Gang is labelled, pinned and released in one patch that leaves managedFields alone") {
  const MemberPlace place{.gang = {"ml", "pair.pods"},
                          .gangUid = model::Uid("g1"),
                          .role = "worker",
                          .index = 1,
                          .epoch = 2,
                          .node = model::NodeName("n3")};
  CHECK(canonical(encodePlacePatch(model::Uid("p1"), {}, place)) == canonical(R"({
    "metadata": {"uid": "p1", "labels": {"trainyard.dev/job-name": "pair.pods", "trainyard.dev/job-uid": "g1",
      "trainyard.dev/role": "worker", "trainyard.dev/index": "1", "trainyard.dev/epoch": "2"}},
    "spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
      [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n3"]}]}]}}},
      "schedulingGates": [{"$patch": "delete", "name": "trainyard.dev/place"}]}})"));
}

TEST_CASE("evictions and suspensions name the uid that they are for") {
  CHECK(canonical(encodeEviction({"ml", "a"}, model::Uid("p1"), std::chrono::seconds(5))) == canonical(R"({
    "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a", "namespace": "ml"},
    "deleteOptions": {"gracePeriodSeconds": 5, "preconditions": {"uid": "p1"}}})"));
  CHECK(canonical(encodeSuspendPatch(model::Uid("o1"), "spec.runPolicy", true)) ==
        canonical(R"({"metadata": {"uid": "o1"}, "spec": {"runPolicy": {"suspend": true}}})"));
  CHECK(canonical(encodeSuspendPatch(model::Uid("o1"), "spec", false)) ==
        canonical(R"({"metadata": {"uid": "o1"}, "spec": {"suspend": false}})"));
}
