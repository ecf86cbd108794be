#include "codec/pod.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/pod_requests.h"

using namespace trainyard;
using codec::decodePod;

namespace {

// A shortened pod of a 1.36.3 API server.
constexpr const char* kMemberPod = R"({"metadata":{"name":"bert-worker-1","namespace":"ml",
  "uid":"835790bf-ef03-4a5d-b6d7-f4e8017c2ba4","resourceVersion":"352","generation":2,
  "creationTimestamp":"2026-11-21T07:57:08Z",
  "labels":{"trainyard.dev/job-name":"bert","trainyard.dev/job-uid":"j1","trainyard.dev/role":"worker",
            "trainyard.dev/index":"1","trainyard.dev/epoch":"3"},
  "ownerReferences":[{"apiVersion":"v1","kind":"Other","name":"x","uid":"o1"},
    {"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","name":"bert","uid":"j1","controller":true,
     "blockOwnerDeletion":true}]},
 "spec":{"volumes":[{"name":"kube-api-access-cs66h","projected":{"sources":[],"defaultMode":420}}],
  "containers":[{"name":"c","image":"x","resources":{"limits":{"nvidia.com/gpu":"8"},
     "requests":{"cpu":"1500m","memory":"2Gi","nvidia.com/gpu":"8"}}}],
  "restartPolicy":"Never","schedulerName":"default-scheduler",
  "schedulingGates":[{"name":"trainyard.dev/gang"},{"name":"other/gate"}],
  "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
    {"matchExpressions":[{"key":"rack","operator":"In","values":["r0","r1"]}],
     "matchFields":[{"key":"metadata.name","operator":"In","values":["n3"]}]}]}}},
  "nodeSelector":{"disk":"ssd"},
  "tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},
                 {"key":"gpu","value":"yes"}],
  "priority":1000,"preemptionPolicy":"PreemptLowerPriority"},
 "status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","lastProbeTime":null,
   "lastTransitionTime":"2026-11-21T07:57:08Z","reason":"SchedulingGated","message":"gated"}],"qosClass":"Burstable"}})";

model::Pod decoded(std::string_view json) {
  auto pod = codec::decodePodToSchedule(json);
  INFO((pod ? std::string() : pod.error().message));
  REQUIRE(pod);
  return *std::move(pod);
}

model::Pod podWithSpec(std::string_view spec) {
  return decoded(fmt::format(R"({{"metadata":{{"name":"p","namespace":"ns"}},"spec":{}}})", spec));
}

model::Pod podWithStatus(std::string_view spec, std::string_view status) {
  return decoded(
      fmt::format(R"({{"metadata":{{"name":"p","namespace":"ns"}},"spec":{},"status":{}}})", spec, status));
}

std::string refused(std::string_view json) {
  const auto pod = decodePod(json);
  REQUIRE_FALSE(pod);
  CHECK(pod.error().code == base::ErrorCode::kInvalid);
  return pod.error().message;
}

}  // namespace

TEST_CASE("a foreign kind TrainingJob keeps its group") {
  const auto kindFor = [](std::string_view apiVersion, std::string_view kind) {
    return decoded(fmt::format(R"({{"metadata":{{"name":"p","namespace":"ns","ownerReferences":[
        {{"apiVersion":"{}","kind":"{}","name":"j","uid":"u","controller":true}}]}},"spec":{{}}}})",
                               apiVersion, kind))
        .controllerKind;
  };
  CHECK(kindFor("trainyard.dev/v1alpha1", "TrainingJob") == "TrainingJob");
  // A version of Trainyard's group that no server serves keeps the group in its kind: the garbage collector
  // never finds such an owner.
  CHECK(kindFor("trainyard.dev/v9", "TrainingJob") == "TrainingJob.trainyard.dev");
  CHECK(kindFor("example.com/v1", "TrainingJob") == "TrainingJob.example.com");
  CHECK(kindFor("not-trainyard.dev/v1alpha1", "TrainingJob") == "TrainingJob.not-trainyard.dev");
  CHECK(kindFor("v1", "TrainingJob") == "TrainingJob.");
  CHECK(kindFor("apps/v1", "DaemonSet") == "DaemonSet");
}

TEST_CASE("a gang member is projected") {
  const model::Pod pod = decoded(kMemberPod);
  CHECK(pod.key == model::ObjectKey{"ml", "bert-worker-1"});
  CHECK(pod.uid.str() == "835790bf-ef03-4a5d-b6d7-f4e8017c2ba4");
  CHECK(pod.resourceVersion == "352");
  CHECK(base::formatTime(pod.created) == "2026-11-21T07:57:08Z");
  CHECK(pod.controllerUid.str() == "j1");
  CHECK(pod.controllerKind == "TrainingJob");
  REQUIRE(pod.member);
  CHECK(pod.member->jobName == "bert");
  CHECK(pod.member->role == "worker");
  CHECK(pod.member->index == 1);
  CHECK(pod.member->epoch == 3);
  CHECK(pod.gated);
  CHECK(pod.gangGated);
  CHECK_FALSE(pod.bound());
  REQUIRE(pod.pinned);
  CHECK(pod.pinned->str() == "n3");
  CHECK_FALSE(pod.terminating);
  CHECK(pod.priority == 1000);
  CHECK(pod.phase == model::PodPhase::kPending);
  CHECK(pod.unschedulableMessage.empty());
  CHECK(pod.shape.requests.cpu.value == 1500);
  CHECK(pod.shape.requests.memory.value == std::int64_t{2} << 30);
  CHECK(pod.shape.requests.gpus() == 8);
  CHECK(pod.shape.requests.pods == 1);
  CHECK(*pod.shape.nodeSelector.find("disk") == "ssd");
  REQUIRE(pod.shape.affinity);
  REQUIRE(pod.shape.affinity->size() == 1);
  CHECK(pod.shape.affinity->front().labels.front().values == std::vector<std::string>{"r0", "r1"});
  REQUIRE(pod.shape.tolerations.size() == 2);
  CHECK(pod.shape.tolerations[0] ==
        model::Toleration{"node.kubernetes.io/not-ready", "", true, model::TaintEffect::kNoExecute});
  CHECK(pod.shape.tolerations[1] == model::Toleration{"gpu", "yes", false, std::nullopt});
}

TEST_CASE("a pod's node constraints are decoded only to schedule it") {
  std::string tolerations, nodes;
  for (int i = 0; i < 10'000; ++i) {
    tolerations += fmt::format(R"({}{{"key":"k{}","operator":"Exists"}})", i == 0 ? "" : ",", i);
    nodes += fmt::format(R"({}"n{}")", i == 0 ? "" : ",", i);
  }
  const std::string json = fmt::format(
      R"({{"metadata":{{"name":"p","namespace":"ml"}},"spec":{{"containers":[{{"name":"c","resources":{{"requests":
           {{"cpu":"1"}}}}}}],"tolerations":[{}],"volumes":[{{"persistentVolumeClaim":{{"claimName":"data"}}}}],
           "nodeSelector":{{"disk":"ssd"}},"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":
           {{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"a","operator":"In","values":[{}]}}],
           "matchFields":[{{"key":"metadata.name","operator":"In","values":["n3"]}}]}}]}}}}}}}}}})",
      tolerations, nodes);
  const auto all = codec::decodePodToSchedule(json);
  REQUIRE(all);
  CHECK(all->shape.tolerations.size() == 10'000);
  CHECK(all->shape.volumeClaims.size() == 1);
  const auto pod = codec::decodePod(json);
  REQUIRE(pod);
  CHECK(pod->shape.requests == all->shape.requests);
  CHECK(pod->pinned == all->pinned);
  CHECK(pod->pinned == model::NodeName("n3"));
  model::PodShape none;
  none.requests = pod->shape.requests;
  none.volumeClaims = {"data"};
  CHECK(pod->shape == none);
}

TEST_CASE("requests are counted as kube-scheduler counts them") {
  SECTION("containers add up") {
    const auto pod = podWithSpec(R"({"containers":[
      {"name":"a","resources":{"requests":{"cpu":"1","nvidia.com/gpu":1}}},
      {"name":"b","resources":{"requests":{"cpu":0.5}}}]})");
    CHECK(pod.shape.requests.cpu.value == 1500);
    CHECK(pod.shape.requests.gpus() == 1);
  }
  SECTION("a resource with only a limit is requested at its limit") {
    const auto pod = podWithSpec(R"({"containers":[
      {"name":"a","resources":{"limits":{"cpu":"4","nvidia.com/gpu":"2","memory":"1G"},"requests":{"cpu":"1"}}}]})");
    CHECK(pod.shape.requests.cpu.value == 1000);
    CHECK(pod.shape.requests.gpus() == 2);
    CHECK(pod.shape.requests.memory.value == 1'000'000'000);
  }
  SECTION("init containers one after another, beside the sidecars before them") {
    const auto pod = podWithSpec(R"({
      "initContainers":[
        {"name":"first","resources":{"requests":{"cpu":"7"}}},
        {"name":"sidecar","restartPolicy":"Always","resources":{"requests":{"cpu":"1","memory":"1Gi"}}},
        {"name":"second","resources":{"requests":{"cpu":"6500m","memory":"1Gi"}}}],
      "containers":[{"name":"a","resources":{"requests":{"cpu":"2","memory":"512Mi"}}}]})");
    CHECK(pod.shape.requests.cpu.value == 7500);                      // second + sidecar
    CHECK(pod.shape.requests.memory.value == std::int64_t{2} << 30);  // the same, above 1.5Gi while running
  }
  SECTION("sidecars run on beside the containers") {
    const auto pod = podWithSpec(R"({
      "initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],
      "containers":[{"name":"a","resources":{"requests":{"cpu":"2"}}}]})");
    CHECK(pod.shape.requests.cpu.value == 3000);
  }
  SECTION("pod-level requests replace the sum, for cpu, memory and huge pages only") {
    const auto pod =
        podWithSpec(R"({"resources":{"requests":{"cpu":"8","nvidia.com/gpu":"5"},"limits":{"memory":"4Gi"}},
      "containers":[{"name":"a","resources":{"requests":{"cpu":"2","nvidia.com/gpu":"1"}}}]})");
    CHECK(pod.shape.requests.cpu.value == 8000);
    CHECK(pod.shape.requests.gpus() == 1);
    CHECK(pod.shape.requests.memory.value == std::int64_t{4}
                                                 << 30);  // without a request of memory its limit counts
  }
  SECTION("a pod-level limit does not replace what containers request") {
    const auto pod = podWithSpec(R"({"resources":{"limits":{"memory":"4Gi"}},
      "containers":[{"name":"a","resources":{"requests":{"memory":"1Gi"}}}]})");
    CHECK(pod.shape.requests.memory.value == std::int64_t{1} << 30);
  }
  SECTION("overhead comes on top") {
    const auto pod = podWithSpec(R"({"overhead":{"cpu":"250m","memory":"120Mi"},
      "containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]})");
    CHECK(pod.shape.requests.cpu.value == 1250);
    CHECK(pod.shape.requests.memory.value == 120 << 20);
  }
  SECTION("fractions round up") {
    const auto pod = podWithSpec(
        R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"0.1m","memory":"1500m"}}}]})");
    CHECK(pod.shape.requests.cpu.value == 1);
    CHECK(pod.shape.requests.memory.value == 2);
  }
}

TEST_CASE("a container that is being resized counts at the maximum of what it wants and has") {
  constexpr const char* kSpec =
      R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"2","memory":"1Gi"}}},
    {"name":"b","resources":{"requests":{"cpu":"1"}}}]})";
  SECTION("growing or shrinking") {
    const auto pod = podWithStatus(
        kSpec, R"({"containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"3Gi"}},
      "allocatedResources":{"cpu":"4","memory":"1Gi"}}]})");
    CHECK(pod.shape.requests.cpu.value == 5000);
    CHECK(pod.shape.requests.memory.value == std::int64_t{3} << 30);
  }
  SECTION("a size that the node can never meet does not count") {
    const auto pod = podWithStatus(
        kSpec, R"({"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}],
      "containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"1Gi"}},"allocatedResources":{"cpu":"1"}}]})");
    CHECK(pod.shape.requests.cpu.value == 2000);
  }
}

TEST_CASE("a pod is pinned only when every term names the same node") {
  const auto pinned = [](std::string_view terms) {
    return podWithSpec(
               fmt::format(
                   R"({{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":{}}}}}}}}})",
                   terms))
        .pinned;
  };
  constexpr const char* kN1 = R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]})";
  constexpr const char* kN2 = R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n2"]}]})";
  CHECK(pinned(fmt::format("[{}]", kN1)) == model::NodeName("n1"));
  CHECK(pinned(fmt::format("[{},{}]", kN1, kN1)) == model::NodeName("n1"));
  CHECK_FALSE(pinned(fmt::format("[{},{}]", kN1, kN2)));
  CHECK_FALSE(pinned(fmt::format(R"([{},{{"matchExpressions":[{{"key":"a","operator":"Exists"}}]}}])", kN1)));
  CHECK_FALSE(pinned(R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1","n2"]}]}])"));
  CHECK_FALSE(pinned(R"([{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n1"]}]}])"));
  CHECK_FALSE(pinned("[]"));
  CHECK_FALSE(podWithSpec("{}").pinned);
}

TEST_CASE("a pod's exit is that of its decisive container") {
  constexpr const char* kSpec =
      R"({"initContainers":[{"name":"fetch"},{"name":"proxy","restartPolicy":"Always"}],
    "containers":[{"name":"train"},{"name":"logs"}]})";
  SECTION("the first failed one in the order of the spec and not of the status") {
    const auto pod = podWithStatus(kSpec, R"({"phase":"Failed","containerStatuses":[
      {"name":"logs","state":{"terminated":{"exitCode":2,"reason":"Error"}}},
      {"name":"train","state":{"terminated":{"exitCode":137,"reason":"OOMKilled","message":"killed"}}}]})");
    REQUIRE(pod.exit);
    CHECK(pod.exit->code == 137);
    CHECK(pod.exit->reason == "OOMKilled");
    CHECK(pod.exit->message == "killed");
    CHECK(pod.finished());
  }
  SECTION("a failed init container comes first") {
    const auto pod = podWithStatus(kSpec, R"({"phase":"Failed",
      "initContainerStatuses":[{"name":"fetch","state":{"terminated":{"exitCode":3,"reason":"Error"}}}],
      "containerStatuses":[{"name":"train","state":{"waiting":{"reason":"PodInitializing"}}}]})");
    REQUIRE(pod.exit);
    CHECK(pod.exit->code == 3);
    CHECK(pod.waitingReason == "PodInitializing");
  }
  SECTION("a sidecar that is killed at the end does not hide success") {
    const auto pod = podWithStatus(kSpec, R"({"phase":"Succeeded",
      "initContainerStatuses":[{"name":"fetch","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
                               {"name":"proxy","state":{"terminated":{"exitCode":137,"reason":"Error"}}}],
      "containerStatuses":[{"name":"logs","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
                           {"name":"train","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]})");
    REQUIRE(pod.exit);
    CHECK(pod.exit->code == 0);
    CHECK(pod.exit->reason == "Completed");
  }
  SECTION("a running pod has none") {
    const auto pod =
        podWithStatus(kSpec, R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}],
      "containerStatuses":[{"name":"train","state":{"running":{}}},{"name":"logs","state":{"running":{}}}]})");
    CHECK_FALSE(pod.exit);
    CHECK(pod.ready);
  }
  SECTION("an image that cannot be pulled, also that of a sidecar") {
    const auto pod = podWithStatus(kSpec, R"({"phase":"Pending",
      "initContainerStatuses":[{"name":"proxy","state":{"waiting":{"reason":"ImagePullBackOff"}}}],
      "containerStatuses":[{"name":"train","state":{"waiting":{"reason":"PodInitializing"}}}]})");
    CHECK(pod.waitingReason == "ImagePullBackOff");
  }
}

TEST_CASE("conditions and reasons of a pod are decoded") {
  const auto pod = podWithStatus(R"({"nodeName":"n1","containers":[]})",
                                 R"({"phase":"Failed","reason":"Evicted","conditions":[
    {"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"},
    {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"1 Insufficient nvidia.com/gpu"},
    {"type":"SomethingNew","status":"True"}]})");
  CHECK(pod.bound());
  CHECK(pod.statusReason == "Evicted");
  CHECK(pod.disruptionReason == "PreemptionByScheduler");
  CHECK(pod.unschedulableMessage == "1 Insufficient nvidia.com/gpu");
}

TEST_CASE("invalid labels of Trainyard leave a pod without membership") {
  const auto member = [](std::string_view index, std::string_view epoch) {
    return decoded(
               fmt::format(
                   R"({{"metadata":{{"name":"p","labels":{{"trainyard.dev/job-name":"j","trainyard.dev/role":"worker",
      "trainyard.dev/index":{},"trainyard.dev/epoch":{}}}}}}})",
                   index, epoch))
        .member;
  };
  CHECK(member(R"("0")", R"("1")"));
  CHECK_FALSE(member(R"("-1")", R"("1")"));
  CHECK_FALSE(member(R"("1x")", R"("1")"));
  CHECK_FALSE(member(R"("99999999999999")", R"("1")"));
  CHECK_FALSE(member(R"("0")", R"("")"));
  CHECK_FALSE(member("7", R"("1")"));
}

TEST_CASE("a quantity beyond the range counts as the largest amount") {
  for (const char* amount : {"10P", "1e19", "1e999", "9223372036854775807"}) {
    CAPTURE(amount);
    const model::Pod pod = decoded(fmt::format(
        R"({{"metadata":{{"name":"p"}},"spec":{{"nodeName":"n0","overhead":{{"cpu":"{0}"}},"containers":[
             {{"resources":{{"limits":{{"nvidia.com/gpu":"8","example.com/x":"{0}"}}}}}},
             {{"resources":{{"requests":{{"cpu":"{0}","memory":"{0}","example.com/x":"{0}"}}}}}}]}}}})",
        amount));
    CHECK(pod.node.str() == "n0");
    CHECK(pod.shape.requests.gpus() == 8);
    CHECK(pod.shape.requests.memory.value == codec::kLargestAmount);
    CHECK(pod.shape.requests.cpu.value == 2 * codec::kLargestAmount);
    CHECK(pod.shape.requests.extended("example.com/x") == 2 * codec::kLargestAmount);
  }
}

TEST_CASE("sums of a thousand largest amounts are exact") {
  model::Resources sum = codec::wholeNode();
  const model::Resources before = sum;
  for (int i = 0; i < 1'000; ++i) sum.add(codec::wholeNode());
  for (int i = 0; i < 1'000; ++i) sum.subtract(codec::wholeNode());
  CHECK(sum == before);
  // Beyond that, sums stay at the end of the range.
  const model::Resources many = codec::wholeNode().times(1'000'000);
  model::Resources twice = many;
  twice.add(many);
  CHECK(twice == many);
  CHECK(twice.gpus() == INT64_MAX);
}

TEST_CASE("what can be read of a bound pod counts") {
  const auto part = [](std::string_view spec, std::string_view status = "{}", std::string_view meta = "") {
    const std::string json = fmt::format(
        R"({{"metadata":{{"name":"p","namespace":"ns","uid":"u1","ownerReferences":[
             {{"controller":true,"kind":"Job","uid":"j1"}}]{}}},"spec":{{"nodeName":"n0",{}}},"status":{}}})",
        meta, spec, status);
    CHECK_FALSE(decodePod(json));
    return codec::decodePartOfBoundPod(json);
  };
  const std::string_view eight = R"("containers":[{"resources":{"limits":{"nvidia.com/gpu":"8"}}}])";

  // The requests can be read.
  const auto pod =
      part(eight, R"({"phase":"Running","conditions":{}})", R"(,"creationTimestamp":"yesterday")");
  REQUIRE(pod);
  CHECK(pod->key == model::ObjectKey{"ns", "p"});
  CHECK(pod->uid.str() == "u1");
  CHECK(pod->controllerUid.str() == "j1");
  CHECK(pod->node.str() == "n0");
  CHECK(pod->phase == model::PodPhase::kRunning);
  CHECK(pod->shape.requests.gpus() == 8);
  CHECK(pod->shape.requests.pods == 1);

  // They cannot: nothing of the node is free.
  model::Resources node;
  node.pods = 110;
  for (const std::string_view spec :
       {R"("containers":[{"resources":{"limits":{"nvidia.com/gpu":"eight"}}}])",
        R"("containers":[{"resources":{"limits":{"nvidia.com/gpu":-8}}}])", R"("containers":{})",
        R"("containers":[],"overhead":[])", R"("containers":[5])"}) {
    CAPTURE(spec);
    const auto unknown = part(spec);
    REQUIRE(unknown);
    CHECK(unknown->shape.requests == codec::wholeNode());
    model::Resources one;
    one.pods = 1;
    model::Resources free = node;
    free.subtract(unknown->shape.requests);
    CHECK_FALSE(free.covers(one));
    CHECK(free.gpus() < 0);
  }
  CHECK(part(eight, R"({"containerStatuses":{}})")->shape.requests == codec::wholeNode());

  // Without a node or a name there is nothing to count.
  for (const char* json :
       {R"({"metadata":{"name":"p"},"spec":{"priority":"x"}})", R"({"metadata":{},"spec":{"nodeName":"n0"}})",
        R"({"metadata":{"name":"p"},"spec":{"nodeName":5}})", "[]", "{", R"({"metadata":5,"spec":5})"}) {
    CAPTURE(json);
    CHECK_FALSE(codec::decodePartOfBoundPod(json));
  }
}

TEST_CASE("a pod that cannot be read is named with its field") {
  CHECK(
      refused(
          R"({"metadata":{"name":"p","namespace":"ns"},"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":true}}}]}})") ==
      "pod ns/p: spec.containers[0].resources.requests[nvidia.com/gpu]: expected a quantity, is true");
  CHECK(refused(
            R"({"metadata":{"name":"p"},"spec":{"containers":[{"resources":{"requests":{"cpu":"-1"}}}]}})") ==
        R"(pod p: spec.containers[0].resources.requests[cpu]: must not be negative, is "-1")");
  CHECK(refused(R"({"metadata":{"name":"p"},"spec":{"priority":99999999999}})") ==
        "pod p: spec.priority: must be from -2147483648 to 2147483647, is 99999999999");
  CHECK(refused(R"({"metadata":{"name":"p","creationTimestamp":"yesterday"}})") ==
        R"(pod p: metadata.creationTimestamp: "yesterday" is not an RFC 3339 time)");
  CHECK(refused(R"({"metadata":{"name":"p"},"spec":[]})") == "pod p: spec: expected an object, is []");
  CHECK(refused(R"({"metadata":"p"})") == R"(pod: metadata: expected an object, is "p")");
}

namespace {

std::vector<std::string> oneANode(std::string_view spec) {
  std::vector<std::string> names;
  const model::Pod pod = podWithSpec(spec);
  for (const auto& [name, amount] : pod.shape.requests.extendedAll()) {
    if (amount == 1) names.push_back(name);
  }
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("host ports are counted once by number and protocol and also on the host's network") {
  CHECK(oneANode(
            R"({"containers":[{"name":"a","ports":[{"containerPort":80},{"containerPort":81,"hostPort":8080},
    {"containerPort":82,"hostPort":8080,"hostIP":"10.0.0.1"},{"containerPort":83,"hostPort":8080,"protocol":"UDP"}]}],
    "initContainers":[{"name":"b","ports":[{"containerPort":1,"hostPort":1}]},
      {"name":"c","restartPolicy":"Always","ports":[{"containerPort":2,"hostPort":2}]}]})") ==
        Names{"host port 2/TCP", "host port 8080/TCP", "host port 8080/UDP"});
  CHECK(oneANode(R"({"hostNetwork":true,"containers":[{"name":"a","ports":[{"containerPort":29500}]}]})") ==
        Names{"host port 29500/TCP"});
}

TEST_CASE("pods with anti-affinity by host name are identified by their selector in any notation") {
  const auto apart = [](std::string_view selector, std::string_view level = "kubernetes.io/hostname") {
    return oneANode(fmt::format(
        R"({{"affinity":{{"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[
          {{"topologyKey":"{}","labelSelector":{}}}]}}}}}})",
        level, selector));
  };
  CHECK(apart(R"({"matchLabels":{"b":"2","a":"1"}})") == Names{"member apart from a=1,b=2 in ns"});
  CHECK(apart(R"({"matchExpressions":[{"key":"a","operator":"In","values":["2","1"]}]})") ==
        apart(R"({"matchExpressions":[{"key":"a","operator":"In","values":["1","2"]}]})"));
  CHECK(apart(R"({"matchLabels":{"a":"1"}})", "rack").empty());
  CHECK(apart("{}").empty());
}
