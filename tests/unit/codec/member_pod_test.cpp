#include "codec/member_pod.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/config_map.h"
#include "codec/finalizers.h"
#include "codec/job.h"
#include "codec/json_value.h"
#include "codec/launch_secret.h"
#include "codec/pod.h"
#include "codec/release_patch.h"
#include "codec/service.h"

using namespace trainyard;

namespace {

model::Job jobWith(std::string_view podTemplate, int replicas = 2) {
  auto job = codec::decodeJob(fmt::format(
      R"({{"metadata":{{"name":"bert","namespace":"ml","uid":"j1","resourceVersion":"5","finalizers":["other/one"]}},
          "spec":{{"framework":"PyTorch","roles":[{{"name":"worker","replicas":{},"template":{}}}]}}}})",
      replicas, podTemplate));
  REQUIRE(job);
  CHECK(job->specError.empty());
  return *std::move(job);
}

std::string encoded(const model::Job& job, int index, const codec::MemberContext& context) {
  auto pod = codec::encodeMemberPod(job, job.spec.roles.front(), index, context);
  REQUIRE(pod);
  return *std::move(pod);
}

// Texts are compared by value: order and spacing are not guaranteed.
std::string canonical(std::string_view json) {
  const auto document = codec::JsonDocument::parse(json);
  INFO(json);
  REQUIRE(document);
  return document->root().canonical();
}

constexpr const char* kPlain = R"({"spec":{"containers":[{"name":"c","image":"x"}]}})";

}  // namespace

TEST_CASE("a gated member is made from the template") {
  const model::Job job = jobWith(R"json({
    "metadata":{"name":"ignored","labels":{"app":"nlp"},"annotations":{"note":"kept"},"uid":"ignored"},
    "spec":{"restartPolicy":"Never","nodeSelector":{"disk":"ssd"},
      "initContainers":[{"name":"i","image":"y"}],
      "containers":[{"name":"c","image":"x","env":[{"name":"RANK","value":"mine"},{"name":"SEEN","value":"$(MASTER_ADDR)"}],
                     "resources":{"limits":{"nvidia.com/gpu":8}}},{"name":"d","env":null}],
      "affinity":{"podAffinity":{}}}})json");
  const std::string pod = encoded(job, 1, {.epoch = 3, .environment = {{"MASTER_ADDR", "m"}, {"RANK", "1"}}});
  CHECK(canonical(pod) == canonical(R"json({"apiVersion":"v1","kind":"Pod",
    "metadata":{"name":"bert-worker-1","namespace":"ml",
      "labels":{"app":"nlp","trainyard.dev/job-name":"bert","trainyard.dev/job-uid":"j1","trainyard.dev/epoch":"3",
                "trainyard.dev/role":"worker","trainyard.dev/index":"1"},
      "annotations":{"note":"kept","karpenter.sh/do-not-disrupt":"true",
                     "cluster-autoscaler.kubernetes.io/safe-to-evict":"false"},
      "ownerReferences":[{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","name":"bert","uid":"j1",
                          "controller":true,"blockOwnerDeletion":true}]},
    "spec":{"nodeSelector":{"disk":"ssd"},"restartPolicy":"Never","hostname":"bert-worker-1","subdomain":"bert",
      "initContainers":[{"name":"i","image":"y","env":[{"name":"MASTER_ADDR","value":"m"},{"name":"RANK","value":"1"}]}],
      "containers":[{"name":"c","image":"x","resources":{"limits":{"nvidia.com/gpu":8}},
          "env":[{"name":"MASTER_ADDR","value":"m"},{"name":"RANK","value":"mine"},{"name":"SEEN","value":"$(MASTER_ADDR)"}]},
        {"name":"d","env":[{"name":"MASTER_ADDR","value":"m"},{"name":"RANK","value":"1"}]}],
      "affinity":{"podAffinity":{}},
      "schedulingGates":[{"name":"trainyard.dev/gang"}]}})json"));

  const auto read = codec::decodePodToSchedule(pod);
  REQUIRE(read);
  CHECK(read->gangGated);
  CHECK(read->member->index == 1);
  CHECK(read->member->epoch == 3);
  CHECK(read->controllerUid == job.uid);
  CHECK(read->shape == job.spec.roles.front().shape);
}

TEST_CASE("a single pod is created pinned and without gate and subdomain") {
  const model::Job job = jobWith(kPlain, 1);
  const auto pod =
      codec::decodePod(encoded(job, 0, {.epoch = 1, .gated = false, .pinned = model::NodeName("n7")}));
  REQUIRE(pod);
  CHECK_FALSE(pod->gated);
  CHECK(pod->pinned == model::NodeName("n7"));
  CHECK(encoded(job, 0, {}).find("subdomain") == std::string::npos);
}

TEST_CASE("the pin is added to every term of the template's own affinity") {
  const model::Job job = jobWith(R"({"spec":{"containers":[{"name":"c"}],"affinity":{
    "podAntiAffinity":{"x":[]},
    "nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1}],
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"rack","operator":"In","values":["r1"]}]},
        {"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["bad"]}]},
        {}]}}}}})",
                                 1);
  const std::string pod = encoded(job, 0, {.epoch = 1, .gated = false, .pinned = model::NodeName("n7")});
  const auto document = codec::JsonDocument::parse(pod);
  REQUIRE(document);
  CHECK(document->root().find("spec").find("affinity").canonical() == canonical(R"({
    "podAntiAffinity":{"x":[]},
    "nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1}],
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"rack","operator":"In","values":["r1"]}],
         "matchFields":[{"key":"metadata.name","operator":"In","values":["n7"]}]},
        {"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["bad"]},
                        {"key":"metadata.name","operator":"In","values":["n7"]}]},
        {}]}}})"));
}

TEST_CASE("numbers and text of a template arrive as they were written") {
  const std::string pod =
      encoded(jobWith(R"({"spec":{"containers":[{"name":"c","args":["é \" \\ \n \u0001 😀"],
    "x":[1e308,-0.1,9007199254740993,18446744073709551615,-9223372036854775808,true,null,{}]}]}})"),
              0, {});
  const auto document = codec::JsonDocument::parse(pod);
  REQUIRE(document);
  codec::JsonValue container;
  document->root().find("spec").find("containers").forEachElement([&](codec::JsonValue each) {
    container = each;
  });
  CHECK(container.find("x").minified() ==
        "[1e+308,-0.1,9007199254740993,18446744073709551615,-9223372036854775808,true,null,{}]");
  CHECK(container.find("args").canonical() == canonical(R"(["é \" \\ \n \u0001 😀"])"));
}

TEST_CASE("a pod names the operator's scheduler and none by default") {
  const model::Job job =
      jobWith(R"({"spec":{"schedulerName":"default-scheduler","containers":[{"name":"c","image":"x"}]}})");
  CHECK(encoded(job, 0, {}).find("schedulerName") == std::string::npos);
  CHECK(encoded(job, 0, {.schedulerName = "second"}).find(R"("schedulerName":"second")") !=
        std::string::npos);
}

TEST_CASE("a member's grace is what its job requests and never less than its template's") {
  const auto graceOf = [](std::chrono::seconds grace, std::string_view own) {
    model::Job job = jobWith(fmt::format(R"({{"spec":{{{}"containers":[{{"name":"c"}}]}}}})", own));
    job.spec.roles[0].grace = grace;
    const auto document = codec::JsonDocument::parse(encoded(job, 0, {}));
    REQUIRE(document);
    return document->root().find("spec").find("terminationGracePeriodSeconds").integer();
  };
  using std::chrono::seconds;
  CHECK(graceOf(seconds(120), "") == 120);
  CHECK(graceOf(seconds(120), R"("terminationGracePeriodSeconds":60,)") == 120);
  CHECK(graceOf(seconds(600), R"("terminationGracePeriodSeconds":600,)") == 600);
  CHECK_FALSE(graceOf(seconds(30), ""));  // Kubernetes' default is 30
}

TEST_CASE("the pod of a non-preemptible single-pod job has its job's deadline") {
  const auto deadlineOf = [](bool preemptible, std::optional<model::NodeName> pinned, std::string_view own) {
    model::Job job = jobWith(fmt::format(R"({{"spec":{{{}"containers":[{{"name":"c"}}]}}}})", own), 1);
    job.spec.preemptible = preemptible;
    job.spec.run.activeDeadline = std::chrono::seconds(30);
    const auto document = codec::JsonDocument::parse(encoded(job, 0, {.pinned = std::move(pinned)}));
    REQUIRE(document);
    return document->root().find("spec").find("activeDeadlineSeconds").integer();
  };
  const model::NodeName node("n1");
  CHECK(deadlineOf(false, node, "") == 30);
  CHECK(deadlineOf(false, node, R"("activeDeadlineSeconds":20,)") == 20);
  CHECK(deadlineOf(false, node, R"("activeDeadlineSeconds":60,)") == 30);
  CHECK_FALSE(deadlineOf(true, node, ""));
  CHECK_FALSE(deadlineOf(false, std::nullopt, ""));
}

TEST_CASE("a member carries the priority class of its job and no finalizer") {
  model::Job job = jobWith(kPlain);
  job.spec.roles[0].templateJson =
      R"({"metadata":{"finalizers":["example.com/stay"]},"spec":{"containers":[{"name":"c","image":"x"}]}})";
  CHECK(encoded(job, 0, {}).find("priorityClassName") == std::string::npos);
  CHECK(encoded(job, 0, {}).find("finalizers") == std::string::npos);
  job.spec.priorityClassName = "urgent";
  CHECK(encoded(job, 0, {}).find(R"("priorityClassName":"urgent")") != std::string::npos);
}

TEST_CASE("a role without a usable template is refused with its field") {
  model::Job job = jobWith(kPlain);
  job.spec.roles[0].templateJson = "{\"spec\":";
  const auto refused = codec::encodeMemberPod(job, job.spec.roles[0], 0, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::kInvalid);
  CHECK(refused.error().message.starts_with("not JSON"));
  job.spec.roles[0].templateJson = "{}";
  CHECK(codec::encodeMemberPod(job, job.spec.roles[0], 0, {}).error().message == "has no spec");
}

namespace {

model::Job elasticJob(std::string_view mode, std::string_view container) {
  auto job = codec::decodeJob(fmt::format(
      R"({{"metadata":{{"name":"bert","namespace":"ml","uid":"j1"}},"spec":{{"framework":"PyTorch",
          "elastic":{{"role":"worker","replicas":2,"minReplicas":1,"maxReplicas":4}},
          "checkpoint":{{"mode":"{}","gracePeriodSeconds":20}},
          "roles":[{{"name":"worker","template":{{"metadata":{{"annotations":{{"trainyard.dev/membership":"forged"}}}},
          "spec":{{"volumes":[{{"name":"v"}}],"containers":[{}]}}}}}}]}}}})",
      mode, container));
  REQUIRE(job);
  CHECK(job->specError.empty());
  job->status.gang.lastEpoch = 3;
  return *std::move(job);
}

}  // namespace

TEST_CASE("a member that follows the size of its job finds it in a file from its creation on") {
  const std::string pod =
      encoded(elasticJob("Helper", R"({"name":"c","image":"x"})"), 1, {.launcherImage = "l"});
  const auto document = codec::JsonDocument::parse(pod);
  REQUIRE(document);
  const codec::JsonValue root = document->root();
  CHECK(root.find("metadata").find("annotations").find("trainyard.dev/membership").string() ==
        R"({"generation":3,"role":"worker","size":2})");
  CHECK(root.find("spec").find("volumes").canonical() == canonical(R"([{"name":"v"},
    {"name":"trainyard-membership","downwardAPI":{"items":[{"path":"membership",
      "fieldRef":{"fieldPath":"metadata.annotations['trainyard.dev/membership']"}}]}}])"));
  CHECK(root.find("spec").find("containers").canonical() == canonical(R"([{"name":"c","image":"x",
    "env":[{"name":"TRAINYARD_MEMBERSHIP","value":"/etc/trainyard/membership"}],
    "volumeMounts":[{"name":"trainyard-membership","mountPath":"/etc/trainyard","readOnly":true}]}])"));
  CHECK_FALSE(root.find("spec").find("initContainers").present());
}

TEST_CASE("trainyard-launch is process 1 where the job requests it") {
  const model::Job job =
      elasticJob("Launcher", R"({"name":"c","image":"x","command":["python3","t.py"],"args":["--fast"],
        "resources":{"limits":{"nvidia.com/gpu":1}},"securityContext":{"runAsUser":7}})");
  const auto document = codec::JsonDocument::parse(encoded(job, 0, {.launcherImage = "reg/launch:1"}));
  REQUIRE(document);
  const codec::JsonValue spec = document->root().find("spec");
  CHECK(spec.find("initContainers").canonical() ==
        canonical(R"([{"name":"trainyard-launch","image":"reg/launch:1",
    "resources":{"limits":{"nvidia.com/gpu":1}},"securityContext":{"runAsUser":7},"args":["install","/opt/trainyard"],
    "volumeMounts":[{"name":"trainyard-launch","mountPath":"/opt/trainyard"}]}])"));
  CHECK(spec.find("containers").canonical() == canonical(R"([{"name":"c","image":"x","args":["--fast"],
    "resources":{"limits":{"nvidia.com/gpu":1}},"securityContext":{"runAsUser":7},
    "command":["/opt/trainyard/trainyard-launch","exec","--","python3","t.py"],
    "env":[{"name":"TRAINYARD_MEMBERSHIP","value":"/etc/trainyard/membership"},{"name":"TRAINYARD_GRACE_SECONDS","value":"20"},
      {"name":"TRAINYARD_LAUNCH","value":"/opt/trainyard/trainyard-launch"},
      {"name":"TRAINYARD_LAUNCH_TOKEN","value":"/etc/trainyard-launch/token"}],
    "volumeMounts":[{"name":"trainyard-membership","mountPath":"/etc/trainyard","readOnly":true},
      {"name":"trainyard-launch","mountPath":"/opt/trainyard","readOnly":true},
      {"name":"trainyard-launch-token","mountPath":"/etc/trainyard-launch","readOnly":true}]}])"));
  CHECK(spec.find("volumes").minified().find(R"("secretName":"bert-launch-j1")") != std::string::npos);
  CHECK(canonical(codec::encodeLaunchSecret(job, "t")).find(R"("token":"dA==")") != std::string::npos);
}

TEST_CASE("a job with checkpoint mode HTTP is asked for a checkpoint by a preStop hook") {
  model::Job job =
      elasticJob("Signal", R"({"name":"c","image":"x","lifecycle":{"postStart":{"sleep":{"seconds":1}}}})");
  job.spec.checkpoint =
      model::Checkpoint{.mode = model::CheckpointMode::kHttp, .httpPort = 8080, .httpPath = "/save?why=stop"};
  const auto document = codec::JsonDocument::parse(encoded(job, 0, {}));
  REQUIRE(document);
  CHECK(document->root().find("spec").find("containers").canonical() ==
        canonical(R"([{"name":"c","image":"x","env":[],
    "lifecycle":{"postStart":{"sleep":{"seconds":1}},"preStop":{"httpGet":{"port":8080,"path":"/save?why=stop"}}}}])"));

  job.spec.roles[0].templateJson =
      R"({"spec":{"containers":[{"name":"c","lifecycle":{"preStop":{"sleep":{"seconds":1}}}}]}})";
  const auto pod = codec::encodeMemberPod(job, job.spec.roles[0], 0, {});
  REQUIRE_FALSE(pod);
  CHECK(
      pod.error().message ==
      "spec.containers[0].lifecycle.preStop: cannot stand beside checkpoint.mode HTTP, which is such a hook");
}

TEST_CASE("trainyard-launch is refused without a command or without an image") {
  const auto complaint = [](std::string_view container, std::string image) {
    const model::Job job = elasticJob("Launcher", container);
    const auto pod = codec::encodeMemberPod(job, job.spec.roles[0], 0, {.launcherImage = std::move(image)});
    REQUIRE_FALSE(pod);
    CHECK(pod.error().code == base::ErrorCode::kInvalid);
    return pod.error().message;
  };
  CHECK(complaint(R"({"name":"c","image":"x","args":["a"]})", "l") ==
        "spec.containers[0].command: is required with checkpoint.mode "
        "Launcher: trainyard-launch starts it, and what the image would run is not known");
  CHECK(complaint(R"({"name":"c","command":["a"]})", "") ==
        "checkpoint.mode Launcher: the operator has no image of trainyard-launch (--launcher-image)");
}

TEST_CASE("the release patch pins and opens the gate in one write") {
  CHECK(canonical(codec::encodeReleasePatch(model::Uid("p1"), {}, model::NodeName("n3"))) == canonical(R"({
    "metadata":{"uid":"p1","managedFields":[{}]},
    "spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchFields":[{"key":"metadata.name","operator":"In","values":["n3"]}]}]}}},
      "schedulingGates":[{"$patch":"delete","name":"trainyard.dev/gang"}]}})"));
}

TEST_CASE("the release patch retains every affinity term of the pod") {
  model::PodShape shape;
  shape.affinity = {{.labels = {{"rack", model::SelectorOperator::kIn, {"r0", "r1"}},
                                {"old", model::SelectorOperator::kDoesNotExist, {}}},
                     .fields = {}},
                    {.labels = {}, .fields = {{"metadata.name", model::SelectorOperator::kIn, {"n3"}}}},
                    {}};
  CHECK(canonical(codec::encodeReleasePatch(model::Uid("p1"), shape, model::NodeName("n3"))) == canonical(R"({
    "metadata":{"uid":"p1","managedFields":[{}]},
    "spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"rack","operator":"In","values":["r0","r1"]},{"key":"old","operator":"DoesNotExist"}],
         "matchFields":[{"key":"metadata.name","operator":"In","values":["n3"]}]},
        {"matchFields":[{"key":"metadata.name","operator":"In","values":["n3"]}]},
        {}]}}},
      "schedulingGates":[{"$patch":"delete","name":"trainyard.dev/gang"}]}})"));
}

TEST_CASE("the headless Service selects this job's pods by name and uid") {
  CHECK(canonical(codec::encodeService(jobWith(kPlain))) == canonical(R"({"apiVersion":"v1","kind":"Service",
    "metadata":{"name":"bert","namespace":"ml","labels":{"trainyard.dev/job-name":"bert","trainyard.dev/job-uid":"j1"},
      "ownerReferences":[{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","name":"bert","uid":"j1",
                          "controller":true,"blockOwnerDeletion":true}]},
    "spec":{"clusterIP":"None","publishNotReadyAddresses":true,
      "selector":{"trainyard.dev/job-name":"bert","trainyard.dev/job-uid":"j1"}}})"));
}

TEST_CASE("a member's own Service has its name and selects it alone") {
  CHECK(canonical(codec::encodeMemberService(jobWith(kPlain), "worker", 1)) ==
        canonical(R"({"apiVersion":"v1","kind":"Service",
    "metadata":{"name":"bert-worker-1","namespace":"ml","labels":{"trainyard.dev/job-name":"bert","trainyard.dev/job-uid":"j1"},
      "ownerReferences":[{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","name":"bert","uid":"j1",
                          "controller":true,"blockOwnerDeletion":true}]},
    "spec":{"clusterIP":"None","publishNotReadyAddresses":true,
      "selector":{"trainyard.dev/job-name":"bert","trainyard.dev/job-uid":"j1","trainyard.dev/role":"worker","trainyard.dev/index":"1"}}})"));
}

TEST_CASE("the ConfigMap lists the members") {
  const auto document = codec::JsonDocument::parse(codec::encodeConfigMap(jobWith(kPlain)));
  REQUIRE(document);
  CHECK(document->root().find("metadata").find("name").string() == "bert-members-j1");
  const codec::JsonValue data = document->root().find("data");
  CHECK(data.find("hosts.txt").string() == "bert-worker-0.bert.ml.svc\nbert-worker-1.bert.ml.svc\n");
  CHECK(
      data.find("members.json").string() ==
      R"([{"role":"worker","index":0,"host":"bert-worker-0.bert.ml.svc"},{"role":"worker","index":1,"host":"bert-worker-1.bert.ml.svc"}])");
}

TEST_CASE("the finalizer patch retains foreign finalizers") {
  const model::Job job = jobWith(kPlain);
  CHECK(
      codec::encodeFinalizerPatch(job, true) ==
      R"({"metadata":{"uid":"j1","resourceVersion":"5","finalizers":["other/one","trainyard.dev/release"]}})");
  CHECK(codec::encodeFinalizerPatch(job, false) ==
        R"({"metadata":{"uid":"j1","resourceVersion":"5","finalizers":["other/one"]}})");
}

TEST_CASE("the preflight container comes before the job's containers and has the first one's resources") {
  const model::Job job = jobWith(R"json({"spec":{"initContainers":[{"name":"i","image":"y"}],"containers":[
      {"name":"c","image":"x","env":[{"name":"LD_PRELOAD","value":"mine"}],"securityContext":{"runAsUser":7},
       "resources":{"limits":{"nvidia.com/gpu":8}}},{"name":"d","image":"z"}]}})json");
  const model::Preflight preflight{.image = "check:1", .command = {"gpu-check", "--quick"}};
  const auto document = codec::JsonDocument::parse(encoded(job, 0, {.preflight = &preflight}));
  REQUIRE(document);
  std::vector<std::string> containers;
  document->root().find("spec").find("initContainers").forEachElement([&](codec::JsonValue each) {
    containers.push_back(each.canonical());
  });
  REQUIRE(containers.size() == 2);
  CHECK(containers[0] == canonical(R"json({"name":"trainyard-preflight","image":"check:1",
      "command":["gpu-check","--quick"],"securityContext":{"runAsUser":7},
      "resources":{"limits":{"nvidia.com/gpu":8}},
      "env":[{"name":"TRAINYARD_NODE","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]})json"));
  CHECK(encoded(job, 0, {}).find("preflight") == std::string::npos);
}

namespace {

// The ports that the first container of the pod declares, and the pod's DNS policy.
struct OnHostNetwork {
  std::vector<std::int64_t> ports;
  std::string dnsPolicy;
};

OnHostNetwork hostNetworkOf(const model::Job& job, std::size_t role, int index) {
  const auto pod = codec::encodeMemberPod(job, job.spec.roles[role], index, {.epoch = 1});
  REQUIRE(pod);
  const auto document = codec::JsonDocument::parse(*pod);
  const auto spec = document->root().find("spec");
  OnHostNetwork found;
  found.dnsPolicy = spec.find("dnsPolicy").string().value_or("");
  spec.find("containers").forEachElement([&](codec::JsonValue container) {
    container.find("ports").forEachElement([&](codec::JsonValue port) {
      CHECK(port.find("hostPort").integer() == port.find("containerPort").integer());
      found.ports.push_back(port.find("hostPort").integer().value_or(0));
    });
  });
  return found;
}

model::Job jobOf(std::string_view framework, std::string_view roles, std::string_view more = "") {
  auto job = codec::decodeJob(fmt::format(
      R"({{"metadata":{{"name":"bert","namespace":"ml","uid":"j1"}},"spec":{{"framework":"{}","roles":[{}]{}}}}})",
      framework, roles, more));
  REQUIRE(job);
  CHECK(job->specError.empty());
  return *std::move(job);
}

std::string role(std::string_view name, int replicas, std::string_view more = "",
                 std::string_view container = "") {
  return fmt::format(
      R"({{"name":"{}","replicas":{},"template":{{"spec":{{"hostNetwork":true{},"containers":[{{"name":"c","image":"x"{}}}]}}}}}})",
      name, replicas, more, container);
}

}  // namespace

TEST_CASE("a member on the host's network uses the cluster's resolver unless its template chose another") {
  CHECK(hostNetworkOf(jobOf("Custom", role("worker", 2)), 0, 0).dnsPolicy == "ClusterFirstWithHostNet");
  CHECK(hostNetworkOf(jobOf("Custom", role("worker", 2, R"(,"dnsPolicy":"ClusterFirst")")), 0, 0).dnsPolicy ==
        "ClusterFirstWithHostNet");
  CHECK(hostNetworkOf(jobOf("Custom", role("worker", 2, R"(,"dnsPolicy":"Default")")), 0, 0).dnsPolicy ==
        "Default");
}

TEST_CASE("a member on the host's network declares the ports that the operator gives to it") {
  using Ports = std::vector<std::int64_t>;
  const model::Job torch = jobOf("PyTorch", role("worker", 2));
  CHECK(hostNetworkOf(torch, 0, 0).ports == Ports{29'500});
  CHECK(hostNetworkOf(torch, 0, 1).ports.empty());
  const model::Job elastic = jobOf("PyTorch", role("worker", 2),
                                   R"(,"failure":{"restartScope":"Pod"},"checkpoint":{"mode":"Signal"})");
  CHECK(hostNetworkOf(elastic, 0, 0).ports == Ports{29'500, 29'400});
  CHECK(hostNetworkOf(jobOf("JAX", role("worker", 2)), 0, 0).ports == Ports{1'234});
  CHECK(hostNetworkOf(jobOf("TensorFlow", role("worker", 3)), 0, 2).ports == Ports{2'222});
  const model::Job mpi = jobOf("MPI", role("launcher", 1) + "," + role("worker", 2));
  CHECK(hostNetworkOf(mpi, 0, 0).ports.empty());
  CHECK(hostNetworkOf(mpi, 1, 1).ports == Ports{2'222});
  const model::Job mxnet =
      jobOf("MXNet", role("scheduler", 1) + "," + role("server", 1) + "," + role("worker", 2));
  CHECK(hostNetworkOf(mxnet, 0, 0).ports == Ports{9'091});
  CHECK(hostNetworkOf(mxnet, 2, 0).ports.empty());
}

TEST_CASE("a template's own ports stay and a port that it names or chooses itself is not declared again") {
  using Ports = std::vector<std::int64_t>;
  CHECK(hostNetworkOf(
            jobOf("PyTorch", role("worker", 1, "", R"(,"ports":[{"containerPort":8080,"hostPort":8080}])")),
            0, 0)
            .ports == Ports{8'080, 29'500});
  CHECK(hostNetworkOf(
            jobOf("PyTorch", role("worker", 1, "", R"(,"ports":[{"containerPort":29500,"hostPort":29500}])")),
            0, 0)
            .ports == Ports{29'500});
  CHECK(hostNetworkOf(
            jobOf("PyTorch", role("worker", 1, "", R"(,"env":[{"name":"MASTER_PORT","value":"7"}])")), 0, 0)
            .ports.empty());
}

TEST_CASE("a role whose members all declare a port is planned with it") {
  const auto counts = [](const model::Job& job, std::size_t role, std::string_view port) {
    return job.spec.roles[role].shape.requests.extended(fmt::format("host port {}/TCP", port));
  };
  CHECK(counts(jobOf("PyTorch", role("worker", 1)), 0, "29500") == 1);
  CHECK(counts(jobOf("PyTorch", role("worker", 2)), 0, "29500") == 0);
  CHECK(counts(jobOf("PyTorch", role("master", 1) + "," + role("worker", 2)), 0, "29500") == 1);
  CHECK(counts(jobOf("TensorFlow", role("worker", 2)), 0, "2222") == 1);
  CHECK(counts(jobOf("MPI", role("launcher", 1) + "," + role("worker", 2)), 1, "2222") == 1);
  const model::Job mpi = jobOf("MPI", role("launcher", 1) + "," + role("worker", 2));
  const auto pod = codec::encodeMemberPod(mpi, mpi.spec.roles[1], 0, {.epoch = 1});
  CHECK(codec::decodePodToSchedule(*pod)->shape == mpi.spec.roles[1].shape);
}
