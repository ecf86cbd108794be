#include "codec/job.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace trainyard;
using namespace std::chrono_literals;
using codec::decodeJob;

namespace {

model::Job decoded(std::string_view json) {
  auto job = decodeJob(json);
  INFO((job ? std::string() : job.error().message));
  REQUIRE(job);
  return *std::move(job);
}

model::Job withSpec(std::string_view spec) {
  return decoded(
      fmt::format(R"({{"metadata":{{"name":"bert","namespace":"ml","uid":"j1"}},"spec":{}}})", spec));
}

// A job with one role, which has this PodSpec.
model::Job withPodSpec(std::string_view podSpec) {
  return withSpec(fmt::format(
      R"({{"framework":"PyTorch","roles":[{{"name":"worker","template":{{"spec":{}}}}}]}})", podSpec));
}

// As withPodSpec(), with a field beside one container.
model::Job withPodField(std::string_view field) {
  return withPodSpec(fmt::format(R"({{"containers":[{{"name":"c","image":"x"}}],{}}})", field));
}

model::Job withResources(std::string_view resources) {
  return withPodSpec(fmt::format(R"({{"containers":[{{"name":"c","resources":{}}}]}})", resources));
}

constexpr const char* kTemplate = R"({"spec":{"containers":[{"name":"c"}]}})";

}  // namespace

TEST_CASE("a job is projected") {
  const model::Job job = decoded(R"({"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob",
    "metadata":{"name":"bert","namespace":"ml","uid":"j1","resourceVersion":"17","generation":4,
      "creationTimestamp":"2026-11-21T09:00:00Z","deletionTimestamp":"2026-11-21T10:00:00Z",
      "finalizers":["other/one","trainyard.dev/release","other/two"]},
    "spec":{"framework":"TensorFlow","managedBy":"a.b/c","queue":"vision","priorityClassName":"high","preemptible":false,
      "roles":[{"name":"chief","template":{"spec":{"containers":[{"name":"c"}]}}},
               {"name":"worker","replicas":4,"template":{"metadata":{"labels":{"a":"b"}},
                 "spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":8}}}],"nodeSelector":{"x":"y"}}}}],
      "elastic":{"role":"worker","replicas":3,"minReplicas":2,"maxReplicas":8},
      "gang":{"minAvailable":3},"scheduling":{"timeoutSeconds":600},
      "locality":{"levels":[{"level":"node","waitSeconds":60},{"level":"rack"}],"required":"rack"},
      "estimate":{"durationSeconds":7200},
      "run":{"suspend":true,"cleanPodPolicy":"All","ttlSecondsAfterFinished":0,"activeDeadlineSeconds":9},
      "success":{"operator":"Any","roles":["chief"]}}})");
  CHECK(job.specError.empty());
  CHECK(job.key == model::ObjectKey{"ml", "bert"});
  CHECK(job.uid.str() == "j1");
  CHECK(job.resourceVersion == "17");
  CHECK(job.generation == 4);
  CHECK(job.deleting);
  CHECK(job.hasReleaseFinalizer);
  CHECK(job.otherFinalizers == std::vector<std::string>{"other/one", "other/two"});
  const model::JobSpec& spec = job.spec;
  CHECK(spec.framework == model::Framework::kTensorFlow);
  CHECK(spec.queue.str() == "vision");
  CHECK(spec.priorityClassName == "high");
  CHECK_FALSE(spec.preemptible);
  REQUIRE(spec.roles.size() == 2);
  CHECK(spec.roles[0].replicas == 1);
  CHECK(spec.roles[1].shape.requests.gpus() == 8);
  CHECK(*spec.roles[1].shape.nodeSelector.find("x") == "y");
  CHECK(spec.roles[0].templateJson == kTemplate);
  CHECK(spec.startReplicas(spec.roles[1]) == 3);
  CHECK(spec.elastic->maxReplicas == 8);
  CHECK_FALSE(spec.minAvailable);  // spec.elastic is equivalent
  CHECK(spec.unsupported.empty());
  CHECK(spec.schedulingTimeout == 600s);
  REQUIRE(spec.locality.levels.size() == 2);
  CHECK(spec.locality.levels[0].wait == 60s);
  CHECK_FALSE(spec.locality.levels[1].wait);
  CHECK(spec.locality.required == "rack");
  CHECK(spec.estimatedDuration == 7200s);
  CHECK(spec.run.suspend);
  CHECK(spec.run.cleanPodPolicy == model::CleanPodPolicy::kAll);
  CHECK(spec.run.ttlAfterFinished == 0s);
  CHECK(spec.run.activeDeadline == 9s);
  CHECK(spec.managedBy == "a.b/c");
  CHECK(spec.success.op == model::SuccessOperator::kAny);
  CHECK(spec.success.roles == std::vector<std::string>{"chief"});
}

TEST_CASE("the schema's defaults are filled in where no API server did") {
  const model::Job job = withSpec(
      fmt::format(R"({{"framework":"PyTorch","roles":[{{"name":"worker","template":{}}}]}})", kTemplate));
  CHECK(job.specError.empty());
  CHECK(job.spec.queue.str() == "default");
  CHECK(job.spec.preemptible);
  CHECK(job.spec.roles[0].replicas == 1);
  CHECK(job.spec.run.cleanPodPolicy == model::CleanPodPolicy::kRunning);
  CHECK_FALSE(job.spec.run.ttlAfterFinished);
  CHECK(job.spec.schedulingTimeout == 0s);
  CHECK_FALSE(job.spec.minAvailable);
  CHECK(job.spec.success.op == model::SuccessOperator::kAll);
  CHECK_FALSE(job.hasReleaseFinalizer);
}

TEST_CASE("an error inside a template is distinguished from other errors of the spec") {
  CHECK(withPodField(R"("nodeName":"n1")").errorInTemplate);
  CHECK(withSpec(R"({"framework":"PyTorch","roles":[{"name":"worker"}]})").errorInTemplate);
  const model::Job other = withSpec(fmt::format(
      R"({{"framework":"PyTorch","success":{{"roles":["x.template"]}},"roles":[{{"name":"worker","template":{}}}]}})",
      kTemplate));
  CHECK_THAT(other.specError, Catch::Contains(".template"));
  CHECK_FALSE(other.errorInTemplate);
}

namespace {

// The error of a job named bert with this affinity on its workers and none on its ps.
std::string requiring(std::string_view affinity) {
  return withSpec(fmt::format(R"({{"framework":"PyTorch","roles":[
    {{"name":"worker","replicas":2,"template":{{"metadata":{{"labels":{{"app":"bert"}}}},
      "spec":{{"containers":[{{"name":"c"}}],{}}}}}}},
    {{"name":"ps","template":{{"metadata":{{"labels":{{"app":"bert","kind":"ps"}}}},
      "spec":{{"containers":[{{"name":"c"}}]}}}}}}]}})",
                              affinity))
      .specError;
}

std::string apart(std::string_view term) {
  return fmt::format(
      R"("affinity":{{"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}})", term);
}

const std::string kTerm =
    "spec.roles[worker].template.spec.affinity.podAntiAffinity."
    "requiredDuringSchedulingIgnoredDuringExecution[0].";

}  // namespace

TEST_CASE("members may require separate hosts by host name") {
  CHECK(requiring(apart(R"({"topologyKey":"kubernetes.io/hostname",
    "labelSelector":{"matchLabels":{"trainyard.dev/role":"worker","app":"bert"}}})"))
            .empty());
  CHECK(requiring(apart(R"({"topologyKey":"kubernetes.io/hostname",
    "labelSelector":{"matchExpressions":[{"key":"kind","operator":"DoesNotExist"}]}})"))
            .empty());
}

TEST_CASE("any other required pod affinity is refused by name with the alternative") {
  CHECK_THAT(requiring(apart(R"({"topologyKey":"rack","labelSelector":{"matchLabels":{"app":"bert"}}})")),
             Catch::StartsWith(kTerm + "topologyKey: must be kubernetes.io/hostname") &&
                 Catch::Contains("spec.locality"));
  CHECK_THAT(requiring(apart(R"({"topologyKey":"kubernetes.io/hostname","namespaceSelector":{},
               "labelSelector":{"matchLabels":{"app":"bert"}}})")),
             Catch::StartsWith(kTerm + "namespaceSelector: must be absent"));
  CHECK_THAT(requiring(apart(R"({"topologyKey":"kubernetes.io/hostname","labelSelector":{}})")),
             Catch::StartsWith(kTerm + "labelSelector: must select the role's own pods"));
  CHECK_THAT(requiring(apart(R"({"topologyKey":"kubernetes.io/hostname",
               "labelSelector":{"matchLabels":{"app":"noisy"}}})")),
             Catch::StartsWith(kTerm + "labelSelector: must select the role's own pods"));
  CHECK_THAT(requiring(apart(R"({"topologyKey":"kubernetes.io/hostname",
               "labelSelector":{"matchLabels":{"app":"bert"}}})")),
             Catch::StartsWith(kTerm + "labelSelector: selects the pods of role ps as well"));
  CHECK_THAT(requiring(R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
               [{"topologyKey":"rack","labelSelector":{}}]}})"),
             Catch::Contains("spec.affinity.podAffinity") && Catch::Contains("spec.locality.required"));
  CHECK_THAT(requiring(R"("topologySpreadConstraints":
               [{"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"DoNotSchedule"}])"),
             Catch::Contains("spec.topologySpreadConstraints[0].whenUnsatisfiable: must be ScheduleAnyway") &&
                 Catch::Contains("spec.locality"));
}

TEST_CASE("preferred pod affinity is no error") {
  CHECK(requiring(R"("topologySpreadConstraints":
    [{"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"ScheduleAnyway"}])")
            .empty());
  CHECK(requiring(R"("affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":
    [{"weight":1,"podAffinityTerm":{"topologyKey":"rack"}}]},
    "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[]}})")
            .empty());
}

TEST_CASE("a forbidden field of a template is named") {
  const auto worker = [](std::string_view rest) {
    return "spec.roles[worker].template." + std::string(rest);
  };
  CHECK(withPodField(R"("restartPolicy":"Never","schedulerName":"default-scheduler")").specError.empty());
  CHECK(withPodField(R"("restartPolicy":null,"nodeName":null)").specError.empty());
  CHECK(withPodField(R"("restartPolicy":"Always")").specError ==
        worker(R"(spec.restartPolicy: must be Never or absent, is "Always")"));
  CHECK(withPodField(R"("nodeName":"n1")").specError ==
        worker(R"(spec.nodeName: must be absent: the operator chooses the nodes, is "n1")"));
  CHECK(withPodField(R"("schedulerName":"volcano")").specError ==
        worker(R"(spec.schedulerName: must be default-scheduler or absent, is "volcano")"));
  CHECK(withPodField(R"("preemptionPolicy":"Never")").specError ==
        worker(R"(spec.preemptionPolicy: must be absent: the PriorityClass decides, is "Never")"));
  CHECK(
      withPodField(R"("schedulingGates":[{"name":"trainyard.dev/gang"}])").specError ==
      worker(
          R"(spec.schedulingGates: must be absent: the operator sets its own, is [{"name":"trainyard.dev/gang"}])"));
  CHECK(withPodSpec(R"({"containers":[]})").specError ==
        worker("spec.containers: needs at least one container"));
  CHECK(withPodSpec("{}").specError == worker("spec.containers: needs at least one container"));
  CHECK(withPodSpec("null").specError == worker("spec: is required"));
  CHECK(withPodSpec("7").specError == worker("spec: expected an object, is 7"));
  CHECK(withPodSpec(R"({"containers":[{"name":"c"},{"name":"c"}]})").specError ==
        worker(R"(spec.containers[1].name: must be used once only, is "c")"));
  CHECK(withPodSpec(R"({"containers":{"name":"c"}})").specError ==
        worker(R"(spec.containers: expected a list, is {"name":"c"})"));
  CHECK(withPodField(R"("tolerations":[{"key":5}])").specError ==
        worker("spec.tolerations[0].key: expected a string, is 5"));
  CHECK(
      withPodField(
          R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"a","operator":"Is"}]}]}}})")
          .specError ==
      worker("spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
             R"(matchExpressions[0].operator: must be In, NotIn, Exists, DoesNotExist, Gt or Lt, is "Is")"));
  CHECK(
      withSpec(
          R"({"framework":"PyTorch","roles":[{"name":"worker","template":{"metadata":{"labels":{"trainyard.dev/role":"x"}},
          "spec":{"containers":[{"name":"c"}]}}}]})")
          .specError ==
      worker("metadata.labels[trainyard.dev/role]: labels of trainyard.dev are set by the operator"));
}

TEST_CASE("an invalid amount in a template is refused with its field") {
  const auto resources = [](std::string_view rest) {
    return "spec.roles[worker].template.spec.containers[0].resources." + std::string(rest);
  };
  CHECK(withResources(R"({"limits":{"nvidia.com/gpu":"8"}})").specError.empty());
  CHECK(withResources(R"({"limits":{"nvidia.com/gpu":8},"requests":{"nvidia.com/gpu":"8"}})")
            .specError.empty());
  CHECK(withResources(R"({"limits":{"nvidia.com/gpu":"8"},"requests":{"nvidia.com/gpu":"4"}})").specError ==
        resources(R"(requests[nvidia.com/gpu]: must equal the limit of "8", is "4")"));
  CHECK(withResources(R"({"requests":{"nvidia.com/gpu":"4"}})").specError ==
        resources("requests[nvidia.com/gpu]: needs the same limit: nvidia.com/gpu cannot be overcommitted"));
  CHECK(withResources(R"({"limits":{"nvidia.com/gpu":"0.5"}})").specError ==
        resources(R"(limits[nvidia.com/gpu]: must be a whole number, is "0.5")"));
  CHECK(withResources(R"({"limits":{"nvidia.com/gpu":-1}})").specError ==
        resources("limits[nvidia.com/gpu]: must not be negative, is -1"));
  CHECK(withResources(R"({"requests":{"cpu":"eight"}})").specError ==
        resources(R"(requests[cpu]: quantity "eight": not a number)"));
  CHECK(withResources(R"({"requests":{"memory":"12345678901234567890Ei"}})").specError ==
        resources(R"(requests[memory]: quantity "12345678901234567890Ei": out of range)"));
  CHECK(withResources(R"({"limits":{"example.com/x":"10P"},"requests":{"example.com/x":"10P"}})").specError ==
        resources(R"(limits[example.com/x]: quantity "10P": out of range)"));
  CHECK(withResources(R"({"requests":{"cpu":"8"},"limits":{"cpu":"4"}})").specError ==
        resources(R"(requests[cpu]: must not exceed the limit of "4", is "8")"));
}

TEST_CASE("a spec that contradicts itself is refused with the field") {
  const auto roles = [](std::string_view list, std::string_view rest = "") {
    return withSpec(fmt::format(R"({{"framework":"PyTorch","roles":{}{}}})", list, rest)).specError;
  };
  const std::string worker = fmt::format(R"([{{"name":"worker","replicas":4,"template":{}}}])", kTemplate);
  CHECK(roles(worker).empty());
  CHECK(roles("[]") == "spec.roles: needs at least one role");
  CHECK(roles(R"([{"name":"worker"}])") == "spec.roles[worker].template: is required");
  CHECK(roles(fmt::format(R"([{{"template":{}}}])", kTemplate)) == "spec.roles[0].name: is required");
  CHECK(
      roles(fmt::format(R"([{{"name":"my-role","template":{}}}])", kTemplate)) ==
      R"(spec.roles[0].name: must be a letter, then letters and digits, all lower-case, at most 16 characters, is "my-role")");
  CHECK(roles(fmt::format(R"([{{"name":"a","template":{0}}},{{"name":"a","template":{0}}}])", kTemplate)) ==
        R"(spec.roles[1].name: must be used once only, is "a")");
  CHECK(roles(fmt::format(R"([{{"name":"a","replicas":0,"template":{}}}])", kTemplate)) ==
        "spec.roles[a].replicas: must be from 1 to 10000, is 0");
  CHECK(roles(fmt::format(R"([{{"name":"a","replicas":"2","template":{}}}])", kTemplate)) ==
        R"(spec.roles[a].replicas: expected an integer, is "2")");
  CHECK(roles(worker, R"(,"gang":{"minAvailable":5})") ==
        "spec.gang.minAvailable: must not exceed the job's 4 pods, is 5");
  CHECK(roles(worker, R"(,"elastic":{"role":"ps","replicas":1,"minReplicas":1,"maxReplicas":1})") ==
        R"(spec.elastic.role: must name a role of spec.roles, is "ps")");
  CHECK(roles(worker, R"(,"elastic":{"role":"worker","replicas":1,"minReplicas":2,"maxReplicas":4})") ==
        "spec.elastic.replicas: must not be below minReplicas, is 1");
  CHECK(roles(worker, R"(,"success":{"roles":["chief"]})") ==
        R"(spec.success.roles[0]: must name a role of spec.roles, is "chief")");
  CHECK(roles(worker, R"(,"locality":{"levels":[{"level":"rack"},{"level":"rack"}]})") ==
        R"(spec.locality.levels[1].level: must be used once only, is "rack")");
  CHECK(withSpec("{}").specError == "spec.framework: is required");
  CHECK(decoded(R"({"metadata":{"name":"j"}})").specError == "spec: is required");
  CHECK(
      withSpec(R"({"framework":"Caffe"})").specError ==
      R"(spec.framework: must be one of PyTorch, TensorFlow, JAX, MXNet, Horovod, MPI, Custom, is "Caffe")");
  const std::string longName(60, 'a');
  const auto tooLong = decoded(fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{"framework":"PyTorch","roles":{}}}}})", longName, worker));
  CHECK(tooLong.specError ==
        fmt::format("spec.roles: the pod {}-worker-3 would have a name of 69 characters, 63 are allowed: "
                    "shorten the job's name",
                    longName));
}

TEST_CASE("an elastic job's cooldown and speeds and checkpoint endpoint are read") {
  const auto elastic = [](std::string_view more) {
    return withSpec(
        fmt::format(R"({{"framework":"PyTorch","roles":[{{"name":"worker","template":{}}}],)"
                    R"("elastic":{{"role":"worker","replicas":2,"minReplicas":1,"maxReplicas":4{}}},)"
                    R"("checkpoint":{{"mode":"HTTP","http":{{"port":8080,"path":"/save"}}}}}})",
                    kTemplate, more));
  };
  const model::Job plain = elastic("");
  CHECK(plain.spec.elastic->cooldown == std::chrono::seconds(300));
  CHECK(plain.spec.elastic->speeds.empty());
  CHECK(plain.spec.checkpoint->httpPort == 8080);
  CHECK(plain.spec.checkpoint->httpPath == "/save");
  const model::Job said = elastic(
      R"(,"cooldownSeconds":0,"speeds":[{"replicas":4,"samplesPerSecond":"834.2"},{"replicas":1,"samplesPerSecond":300}])");
  CHECK(said.specError.empty());
  CHECK(said.spec.elastic->cooldown == std::chrono::seconds(0));
  CHECK(said.spec.elastic->speeds == std::vector<model::SpeedPoint>{{1, 300'000}, {4, 834'200}});
  CHECK(elastic(R"(,"speeds":[{"replicas":1,"samplesPerSecond":0}])").specError ==
        "spec.elastic.speeds[0].samplesPerSecond: must be more than 0, is 0");
  CHECK(elastic(R"(,"speeds":[{"replicas":1,"samplesPerSecond":2},{"replicas":1,"samplesPerSecond":2}])")
            .specError == "spec.elastic.speeds[1].replicas: must be used once only, is 1");
}

TEST_CASE("supported values and defaults are not listed as unsupported") {
  const auto unsupported = [](std::string_view rest) {
    return withSpec(
               fmt::format(
                   R"({{"framework":"PyTorch","roles":[{{"name":"worker","replicas":2,"template":{}}}]{}}})",
                   kTemplate, rest))
        .spec.unsupported;
  };
  CHECK(unsupported("").empty());
  // Values as the API server defaults them.
  CHECK(
      unsupported(
          R"(,"preemptible":true,"scheduling":{"timeoutSeconds":0},"plan":{"mode":"Off"},"network":{"priority":"Auto"},
    "run":{"suspend":false,"cleanPodPolicy":"Running"},"success":{"operator":"All"},
    "failure":{"maxRestarts":0,"restartScope":"Gang"},"health":{"preflight":false,"stallSeconds":0,"stallAction":"Report"})")
          .empty());
  CHECK(
      unsupported(
          R"(,"plan":{"mode":"Auto"},"network":{"priority":3},"failure":{"maxRestarts":3,"restartScope":"Pod"})")
          .empty());
  CHECK(unsupported(R"(,"checkpoint":{"mode":"Signal"})").empty());
  CHECK(unsupported(R"(,"checkpoint":{"mode":"None"})").empty());
  for (const char* mode : {"Launcher", "Helper"})
    CHECK(unsupported(fmt::format(R"(,"checkpoint":{{"mode":"{}"}})", mode)).empty());
  CHECK(unsupported(R"(,"checkpoint":{"mode":"HTTP","http":{"port":80,"path":"/save"}})").empty());
  CHECK(unsupported(R"(,"gang":{"minAvailable":1})").empty());
  CHECK(unsupported(R"(,"plan":{"mode":"Auto"},"gang":{"minAvailable":1})").empty());
}

TEST_CASE("a gang that may start without its last members has a minimum") {
  const auto read = [](std::string_view framework, std::string_view rest, int least) {
    return withSpec(
               fmt::format(
                   R"({{"framework":"{}","roles":[{{"name":"master","template":{}}},{{"name":"worker","replicas":4,)"
                   R"("template":{}}}],"gang":{{"minAvailable":{}}}{}}})",
                   framework, kTemplate, kTemplate, least, rest))
        .spec;
  };
  const model::JobSpec late = read("PyTorch", "", 3);
  REQUIRE(late.elastic);
  CHECK(late.elastic->role == "worker");
  CHECK(late.elastic->minReplicas == 2);
  CHECK(late.elastic->replicas == 4);
  CHECK(late.elastic->maxReplicas == 4);
  CHECK(late.minAvailable == 3);
  CHECK(late.totalReplicas() == 5);
  CHECK(late.unsupported.empty());
  CHECK_FALSE(read("PyTorch", "", 5).elastic);
  CHECK_FALSE(read("PyTorch", "", 5).minAvailable);
  const model::JobSpec mostly = read("PyTorch", "", 1);
  CHECK(mostly.minAvailable == 2);
  CHECK(mostly.unsupported ==
        std::vector<std::string>{"spec.gang.minAvailable (only pods of role worker but its first "
                                 "can come later, so 2 have to be there)"});
  const model::JobSpec launched = read("MPI", "", 3);
  CHECK_FALSE(launched.elastic);
  CHECK(launched.unsupported ==
        std::vector<std::string>{"spec.gang.minAvailable (its launcher begins on all hosts at "
                                 "once, so all pods have to be there)"});
  const std::string_view elastic =
      R"(,"elastic":{"role":"worker","replicas":4,"minReplicas":2,"maxReplicas":8})";
  CHECK(read("PyTorch", elastic, 4).elastic->minReplicas == 3);
  CHECK(read("PyTorch", elastic, 3).unsupported.empty());
  CHECK(read("PyTorch", elastic, 2).elastic->minReplicas == 2);
  CHECK(read("PyTorch", elastic, 2).unsupported ==
        std::vector<std::string>{
            "spec.gang.minAvailable (with spec.elastic.minReplicas 3 pods have to be there)"});
}

TEST_CASE("a job whose members ran out of memory once requests half as much again") {
  const auto read = [](std::string_view restarts) {
    return decoded(fmt::format(
        R"({{"metadata":{{"name":"bert","namespace":"ml"}},"spec":{{"framework":"PyTorch","roles":[{{"name":"worker","template":
        {{"spec":{{"containers":[{{"name":"c","image":"x","resources":{{"limits":{{"memory":"8Gi","nvidia.com/gpu":1}},
        "requests":{{"memory":"4Gi","cpu":"2"}}}}}}]}}}}}}]}},"status":{{"restarts":{{"counted":1,"byClass":{{{}}}}}}}}})",
        restarts));
  };
  const std::int64_t gib = std::int64_t{1} << 30;
  const model::Job before = read(R"("Unknown":1)");
  CHECK(before.spec.roles.front().shape.requests.memory.value == 4 * gib);
  const model::Job after = read(R"("HostOutOfMemory":1)");
  CHECK(after.spec.roles.front().shape.requests.memory.value == 6 * gib);
  CHECK(after.spec.roles.front().shape.requests.cpu.value ==
        before.spec.roles.front().shape.requests.cpu.value);
  CHECK(after.spec.roles.front().shape.requests.gpus() == 1);
  CHECK(after.spec.roles.front().templateJson.find(R"("limits":{"memory":"12884901888")") !=
        std::string::npos);
  CHECK(after.spec.templateHash == before.spec.templateHash);
}

TEST_CASE("a checkpoint is read with the schema's defaults and bounds") {
  const auto made = [](std::string_view checkpoint) {
    return withSpec(fmt::format(
        R"({{"framework":"PyTorch","roles":[{{"name":"worker","template":{}}}],"checkpoint":{}}})", kTemplate,
        checkpoint));
  };
  const auto read = [&](std::string_view checkpoint) {
    const model::Job job = made(checkpoint);
    CHECK(job.specError.empty());
    REQUIRE(job.spec.checkpoint);
    return *job.spec.checkpoint;
  };
  using enum model::CheckpointMode;
  CHECK_FALSE(made("null").spec.checkpoint);
  CHECK(read("{}") == model::Checkpoint{kSignal, 30s, std::nullopt, 60s});
  CHECK(read(R"({"mode":"Launcher","gracePeriodSeconds":3600,"everySeconds":600,"restartSeconds":0})") ==
        model::Checkpoint{kLauncher, 3600s, 600s, 0s});
  CHECK(read(R"({"mode":"None","everySeconds":1})") == model::Checkpoint{kNone, 0s, 1s, 60s});
  CHECK(read(R"({"mode":"Helper"})").mode == kHelper);
  CHECK(read(R"({"mode":"HTTP","http":{"port":8080,"path":"/save"}})").mode == kHttp);
  CHECK(read("{}").keepsWork());
  CHECK(read(R"({"mode":"None","everySeconds":1})").keepsWork());
  CHECK_FALSE(read(R"({"mode":"None"})").keepsWork());

  const auto refused = [&](std::string_view checkpoint) { return made(checkpoint).specError; };
  CHECK(refused(R"({"mode":"Snapshot"})") ==
        R"(spec.checkpoint.mode: must be one of Signal, Launcher, Helper, HTTP, None, is "Snapshot")");
  CHECK(refused(R"({"mode":"HTTP"})") == "spec.checkpoint.http: port and path are required with mode HTTP");
  CHECK(refused(R"({"http":{"port":80,"path":"/"}})") ==
        "spec.checkpoint.http: may be given only with mode HTTP");
  CHECK(refused(R"({"mode":"HTTP","http":{"port":80,"path":"save"}})") ==
        R"(spec.checkpoint.http.path: must begin with a slash, is "save")");
  CHECK(refused(R"({"mode":"HTTP","http":{"path":"/"}})") == "spec.checkpoint.http.port: is required");
  CHECK(refused(R"({"mode":"None","gracePeriodSeconds":5})") ==
        "spec.checkpoint.gracePeriodSeconds: must be left out with mode None: nothing is saved at a stop");
  for (const char* bad :
       {R"({"gracePeriodSeconds":0})", R"({"gracePeriodSeconds":3601})", R"({"everySeconds":0})",
        R"({"restartSeconds":-1})", R"({"restartSeconds":86401})"}) {
    CAPTURE(bad);
    CHECK_THAT(refused(bad), Catch::StartsWith("spec.checkpoint."));
  }
}

TEST_CASE("the template hash changes with what changes pods and with nothing else") {
  const auto hash = [](std::string_view spec) {
    const model::Job job = withSpec(spec);
    CHECK(job.specError.empty());
    CHECK(job.spec.templateHash.size() == 32);
    return job.spec.templateHash;
  };
  const std::string base = hash(
      R"({"framework":"PyTorch","roles":[{"name":"w","replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}]})");
  // A fixed value: a new hash aborts the proposals in progress during an update.
  CHECK(base == "3eeef28a52c76c03d39ac68595556efb");
  const auto saving = [&](std::string_view checkpoint) {
    return hash(fmt::format(
        R"({{"framework":"PyTorch","checkpoint":{},"roles":[{{"name":"w","replicas":2,"template":{{"spec":{{"containers":[{{"name":"c","image":"x"}}]}}}}}}]}})",
        checkpoint));
  };
  CHECK(base == saving(R"({"mode":"None","everySeconds":60})"));
  CHECK(base != saving("{}"));  // its pods have a longer grace period
  CHECK(saving("{}") != saving(R"({"gracePeriodSeconds":60})"));
  CHECK(
      base ==
      hash(
          R"({"framework":"PyTorch","queue":"q","roles":[{"replicas":2,"template":{"spec":{ "containers":[{"image":"x","name":"c"}]}},"name":"w"}]})"));
  CHECK(
      base !=
      hash(
          R"({"framework":"Custom","roles":[{"name":"w","replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}]})"));
  CHECK(
      base !=
      hash(
          R"({"framework":"PyTorch","roles":[{"name":"v","replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}]})"));
  CHECK(
      base !=
      hash(
          R"({"framework":"PyTorch","roles":[{"name":"w","replicas":3,"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}]})"));
  CHECK(
      base !=
      hash(
          R"({"framework":"PyTorch","roles":[{"name":"w","replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"y"}]}}}]})"));
}

TEST_CASE("of a job that another controller runs, no status that holds or accuses nodes is read") {
  const auto decoded = [](std::string_view managedBy) {
    return decodeJob(
               fmt::format(
                   R"({{"metadata":{{"name":"j"}},"spec":{{"managedBy":"{}"}},"status":{{"phase":"Running",
                         "gpus":8,"service":{{"runSeconds":60}},
                         "lastFailure":{{"class":"GpuHardware","node":"n","time":"2026-01-01T00:00:00Z"}},
                         "gang":{{"placed":{{"epoch":1,"assignments":[{{"node":"n","role":"r","indices":"0"}}]}}}}}}}})",
                   managedBy))
        .value();
  };
  const model::JobStatus ours = decoded("trainyard.dev/operator").status;
  CHECK(ours.gang.placed);
  CHECK(ours.gpus == 8);
  CHECK(ours.service.runSeconds == 60);
  CHECK(ours.lastFailure);
  const model::JobStatus others = decoded("kueue.x-k8s.io/multikueue").status;
  CHECK(others.phase == "Running");
  CHECK_FALSE(others.gang.placed);
  CHECK(others.gpus == 0);
  CHECK(others.service == model::Service{});
  CHECK_FALSE(others.lastFailure);
}

TEST_CASE("a job with unreadable metadata or an unreadable gang record is an error that names it") {
  const auto refused = [](std::string_view json) { return decodeJob(json).error().message; };
  CHECK(refused(R"({"metadata":{"namespace":"ml"}})") == "job: metadata.name: is required");
  CHECK(refused(R"({"metadata":{"name":"j","namespace":"ml","finalizers":"x"}})") ==
        R"(job ml/j: metadata.finalizers: expected a list, is "x")");
  CHECK(
      refused(
          R"({"metadata":{"name":"j"},"status":{"gang":{"proposal":{"kind":"Leap","phase":"Reserved"}}}})") ==
      R"(job j: status.gang.proposal.kind: is a value unknown to this version, is "Leap")");
  CHECK(
      refused(
          R"({"metadata":{"name":"j"},"status":{"gang":{"placed":{"epoch":1,"assignments":[{"node":"n","role":"r","indices":"3-1"}]}}}})") ==
      R"(job j: status.gang.placed.assignments[0].indices: indices "3-1": expected e.g. 0-3,7)");
}
