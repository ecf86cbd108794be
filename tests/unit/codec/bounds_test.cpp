#include <string>
#include <string_view>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/admitted_pod.h"
#include "codec/config_map.h"
#include "codec/event.h"
#include "codec/job.h"
#include "codec/json_value.h"
#include "codec/node.h"
#include "codec/pod.h"
#include "codec/queue.h"
#include "codec/status.h"
#include "model/limits.h"
#include "model/names.h"
#include "support/gpu_resources.h"

// Objects of the largest size and width that the API server accepts, which a tenant may write.
using namespace trainyard;
namespace limits = model::limits;

namespace {

constexpr std::size_t kMaxNames = limits::kResourceNames;

// Formats "x.io/r0":"1","x.io/r1":"1" and so on.
std::string amounts(int count, std::string_view domain = "x.io") {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format(R"({}"{}/r{}":"1")", i == 0 ? "" : ",", domain, i);
  return text;
}

std::string container(std::string_view name, std::string_view limits) {
  return fmt::format(R"({{"name":"{}","resources":{{"limits":{{{}}}}}}})", name, limits);
}

std::string jobOf(std::string_view podSpec, int replicas = 2, std::string_view framework = "Custom",
                  std::string_view name = "bert", std::string_view ns = "ml") {
  return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}","uid":"u"}},
    "spec":{{"framework":"{}","roles":[{{"name":"worker","replicas":{},"template":{{"spec":{}}}}}]}}}})",
                     name, ns, framework, replicas, podSpec);
}

std::string jobWithLimits(std::string_view limits, int replicas = 2) {
  return jobOf(fmt::format(R"({{"containers":[{}]}})", container("c", limits)), replicas);
}

model::Job decoded(const std::string& json) {
  auto job = codec::decodeJob(json);
  REQUIRE(job);
  return *job;
}

// The error that the user gets.
std::string refusal(const std::string& json) { return decoded(json).specError; }

std::size_t namesOf(const model::Job& job) {
  return job.spec.roles.at(0).shape.requests.extendedAll().size();
}

std::string podOf(std::string_view podSpec) {
  return fmt::format(R"({{"metadata":{{"name":"p","namespace":"ml","uid":"u"}},"spec":{}}})", podSpec);
}

}  // namespace

// --- names of resources

TEST_CASE("a template with 45000 resources is refused by reason and none of them is stored") {
  const std::string json = jobWithLimits(amounts(45'000));
  REQUIRE(json.size() > 700'000);
  const model::Job job = decoded(json);
  CHECK(job.errorInTemplate);
  CHECK(
      job.specError ==
      "spec.roles[worker].template.spec.containers[0].resources.limits: has 45000 resources: at most 64 are "
      "allowed");
  CHECK(namesOf(job) <= kMaxNames + 1);
  CHECK(job.spec.roles.at(0).templateJson.capacity() < 100);
}

TEST_CASE("names that are spread over many containers are counted together") {
  std::string containers;
  for (int i = 0; i < 700; ++i)
    containers +=
        (i == 0 ? "" : ",") + container(fmt::format("c{}", i), amounts(60, fmt::format("x{}.io", i)));
  const model::Job job = decoded(jobOf(fmt::format(R"({{"containers":[{}]}})", containers)));
  CHECK(job.errorInTemplate);
  CHECK(job.specError ==
        "spec.roles[worker].template.spec: must not ask for more than 32 extended resources, host ports and "
        "terms of required anti-affinity together");
  CHECK(namesOf(job) <= kMaxNames + 1);
}

TEST_CASE("the maximum of counted names is accepted and one more is refused") {
  CHECK(refusal(jobWithLimits(amounts(32))).empty());
  CHECK(refusal(jobWithLimits(amounts(32) + R"(,"nvidia.com/gpu":"8","cpu":"1")")).empty());
  CHECK_THAT(refusal(jobWithLimits(amounts(33))), Catch::Contains("must not ask for more than 32"));
}

TEST_CASE("host ports and anti-affinity count as names and long selectors become short names") {
  std::string ports;
  for (int i = 1; i <= 5'000; ++i) ports += fmt::format(R"({}{{"hostPort":{}}})", i == 1 ? "" : ",", i);
  const model::Job wide =
      decoded(jobOf(fmt::format(R"({{"containers":[{{"name":"c","ports":[{}]}}]}})", ports)));
  CHECK_THAT(wide.specError, Catch::Contains("host ports"));
  CHECK(namesOf(wide) <= kMaxNames);

  std::string terms;
  for (int i = 0; i < 2'000; ++i) {
    terms += fmt::format(
        R"({}{{"topologyKey":"kubernetes.io/hostname","labelSelector":{{"matchLabels":{{"k{}":"v"}}}}}})",
        i == 0 ? "" : ",", i);
  }
  const auto apart = [](const std::string& list) {
    return fmt::format(
        R"({{"affinity":{{"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}},)"
        R"("containers":[{{"name":"c"}}]}})",
        list);
  };
  const model::Job many = decoded(jobOf(apart(terms)));
  CHECK_FALSE(many.specError.empty());
  CHECK(namesOf(many) <= kMaxNames);

  const auto selecting = [&](const std::string& value) {
    return apart(fmt::format(
        R"({{"topologyKey":"kubernetes.io/hostname","labelSelector":{{"matchLabels":{{"role":"{}"}}}}}})",
        value));
  };
  const auto name = [](const base::Result<model::Pod>& pod) {
    REQUIRE(pod);
    return pod->shape.requests.extendedAll().at(0).first;
  };
  const std::string prefix(500'000, 'a');
  const std::string one = name(codec::decodePod(podOf(selecting(prefix + "1"))));
  const std::string other = name(codec::decodePod(podOf(selecting(prefix + "2"))));
  CHECK(one.size() < 300);
  CHECK(one != other);
  CHECK(one == name(codec::decodePod(podOf(selecting(prefix + "1")))));
}

TEST_CASE("few of a foreign pod's 45000 names are counted and its GPUs are among them") {
  const std::string spec = fmt::format(R"({{"nodeName":"n","containers":[{}]}})",
                                       container("c", amounts(45'000) + R"(,"nvidia.com/gpu":"8")"));
  const auto pod = codec::decodePod(podOf(spec));
  REQUIRE(pod);
  CHECK(pod->shape.requests.gpus() == 8);
  CHECK(pod->shape.requests.extendedAll().size() == kMaxNames + 1);
  CHECK(pod->uncountedResources > 0);
  // Requests and limits with the same names are compared with each other.
  const std::string twice =
      fmt::format(R"({{"containers":[{{"name":"c","resources":{{"limits":{{{0}}},"requests":{{{0}}}}}}}]}})",
                  amounts(22'000));
  CHECK(codec::decodePod(podOf(twice))->shape.requests.extendedAll().size() == kMaxNames);
  CHECK(codec::decodePod(podOf(R"({"containers":[{"name":"c"}]})"))->uncountedResources == 0);
}

TEST_CASE("GPUs cannot be hidden behind made-up names under any setting of the GPU resource") {
  const test::GpuResources setting({"amd.com/gpu", "nvidia.com/mig-1g.5gb"});
  const std::string spec =
      fmt::format(R"({{"nodeName":"n","containers":[{}]}})",
                  container("c", amounts(100) + R"(,"nvidia.com/gpu":"8","nvidia.com/mig-1g.5gb":"2")"));
  const auto pod = codec::decodePod(podOf(spec));
  REQUIRE(pod);
  CHECK(pod->shape.requests.gpus() == 2);
  CHECK(pod->shape.requests.extended("nvidia.com/gpu") == 0);
}

TEST_CASE("few resources of a node that offers too many are counted and its GPUs are among them") {
  const auto node = codec::decodeNode(fmt::format(
      R"({{"metadata":{{"name":"n"}},"status":{{"allocatable":{{"cpu":"8",{},"nvidia.com/gpu":"8"}}}}}})",
      amounts(20'000)));
  REQUIRE(node);
  CHECK(node->allocatable.extendedAll().size() == kMaxNames + 1);
  CHECK(node->allocatable.gpus() == 8);
  CHECK(node->allocatable.cpu.value == 8000);
  CHECK(node->uncountedResources == 20'000 - 32);
}

TEST_CASE("a Queue that names too many resources is refused by reason") {
  const auto queue = [](int names) {
    return codec::decodeQueue(
        fmt::format(R"({{"metadata":{{"name":"q"}},"spec":{{"limit":{{{}}}}}}})", amounts(names)));
  };
  CHECK(queue(32)->specError.empty());
  CHECK(queue(33)->specError == "spec.limit: must not name more than 32 resources");
}

TEST_CASE("everything that is compared with each node is bounded") {
  const auto listed = [](int count, std::string_view each) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", each);
    return text;
  };
  const auto spec = [](const std::string& more) {
    return refusal(jobOf(fmt::format(R"({{"containers":[{{"name":"c"}}],{}}})", more)));
  };
  const auto tolerations = [&](int count) {
    return spec(fmt::format(R"("tolerations":[{}])", listed(count, R"({"key":"a","operator":"Exists"})")));
  };
  CHECK(tolerations(128).empty());
  CHECK_THAT(tolerations(129), Catch::Contains("has 129 tolerations: at most 128 are allowed"));
  const auto affinity = [&](int values) {
    return spec(fmt::format(
        R"("affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[)"
        R"({{"matchExpressions":[{{"key":"a","operator":"In","values":[{}]}}]}}]}}}}}})",
        listed(values, R"("v")")));
  };
  CHECK(affinity(200).empty());
  CHECK_THAT(affinity(30'000), Catch::Contains("nodeSelectorTerms: has 30002 terms, expressions and values"));
  const std::string claims = fmt::format(
      R"("volumes":[{}])", listed(65, R"({"name":"v","persistentVolumeClaim":{"claimName":"a"}})"));
  CHECK_THAT(spec(claims), Catch::Contains("has 65 persistent volume claims"));
}

// Not every input has passed the schema: a job of `trainyard simulate` has not.
TEST_CASE("lists that the schema bounds are bounded where they are read") {
  const auto listed = [](int count, std::string_view each) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format(fmt::runtime(each), fmt::arg("i", i));
    return text.substr(0, text.size() - 1);
  };
  const auto job = [&](int roles, std::string_view more) {
    const std::string role = R"({{"name":"r{i}","template":{{"spec":{{"containers":[{{"name":"c"}}]}}}}}},)";
    return refusal(fmt::format(
        R"({{"metadata":{{"name":"a","namespace":"ml"}},"spec":{{"framework":"Custom","roles":[{}]{}}}}})",
        listed(roles, role), more));
  };
  CHECK(job(8, "").empty());
  CHECK(job(9, "") == "spec.roles: has 9 entries: at most 8 are allowed");
  CHECK_THAT(job(60'000, ""), Catch::StartsWith("spec.roles: has 60000"));
  const auto levels = [&](int count) {
    return job(1, fmt::format(R"(,"locality":{{"levels":[{}]}})", listed(count, R"({{"level":"l{i}"}},)")));
  };
  CHECK(levels(8).empty());
  CHECK(levels(110'000) == "spec.locality.levels: has 110000 entries: at most 8 are allowed");
  CHECK_THAT(job(1, fmt::format(R"(,"success":{{"roles":[{}]}})", listed(180'000, R"("r0",)"))),
             Catch::StartsWith("spec.success.roles: has 180000 entries"));
  CHECK_THAT(job(1, fmt::format(R"(,"failure":{{"rules":[{}]}})", listed(21, R"({{"action":"Count"}},)"))),
             Catch::Contains("spec.failure.rules"));
}

// The amount of comparisons per node or per role is bounded before they are made.
TEST_CASE("long selectors of a job are refused and those of a pod are not sorted") {
  const auto values = [](int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += fmt::format(R"({}"v{}")", i == 0 ? "" : ",", i);
    return all;
  };
  const auto apart = [&](int count) {
    return fmt::format(
        R"("affinity":{{"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{"labelSelector":
             {{"matchExpressions":[{{"key":"trainyard.dev/role","operator":"In","values":["a",{}]}}]}},
             "topologyKey":"kubernetes.io/hostname"}}]}}}})",
        values(count));
  };
  const auto job = [&](const std::string& more, int roles = 1) {
    std::string all;
    for (int i = 0; i < roles; ++i)
      all += fmt::format(R"({}{{"name":"{}","template":{{"spec":{{"containers":[{{"name":"c"}}],{}}}}}}})",
                         i == 0 ? "" : ",", static_cast<char>('a' + i), more);
    return refusal(fmt::format(
        R"({{"metadata":{{"name":"a","namespace":"ml"}},"spec":{{"framework":"Custom","roles":[{}]}}}})",
        all));
  };
  CHECK(job(apart(1'000)).empty());
  CHECK_THAT(job(apart(200'000)),
             Catch::EndsWith("has 200002 expressions and values: at most 1024 are allowed"));
  const auto selecting = [&](int count) {
    return fmt::format(R"("affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":
        {{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"k","operator":"NotIn","values":[{}]}}]}}]}}}}}})",
                       values(count));
  };
  // Equal selectors of several roles are compared once.
  CHECK(job(selecting(200), 3).empty());
  CHECK(job(selecting(500)) ==
        "spec.roles: name 501 labels and values in node selectors and required node affinity: at most 256 "
        "together");

  const auto name = [&](int count) {
    const auto pod = codec::decodePod(fmt::format(
        R"({{"metadata":{{"name":"p","namespace":"ml"}},"spec":{{"containers":[{{"name":"c"}}],{}}}}})",
        apart(count)));
    REQUIRE(pod);
    return pod->shape.requests.extendedAll().front().first;
  };
  CHECK(name(200'000) == name(200'000));
  CHECK(name(200'000) != name(199'999));
  CHECK(name(200'000).size() < 300);
}

// Each term is compared with each role; a list that is refused for its length is not compared at all.
TEST_CASE("anti-affinity of many terms and roles is refused before anything is compared") {
  const auto job = [](int terms, int roles) {
    std::string apart, more;
    for (int i = 0; i < terms; ++i)
      apart += fmt::format(R"({}{{"labelSelector":{{"matchLabels":{{"trainyard.dev/role":"a"}}}},)"
                           R"("topologyKey":"kubernetes.io/hostname"}})",
                           i == 0 ? "" : ",");
    for (int i = 1; i < roles; ++i)
      more += fmt::format(R"(,{{"name":"r{}","template":{{"spec":{{"containers":[{{"name":"c"}}]}}}}}})", i);
    return refusal(fmt::format(
        R"({{"metadata":{{"name":"a","namespace":"ml"}},"spec":{{"framework":"Custom","roles":[{{"name":"a",)"
        R"("template":{{"spec":{{"containers":[{{"name":"c"}}],"affinity":{{"podAntiAffinity":)"
        R"({{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}}}}}}}}{}]}}}})",
        apart, more));
  };
  CHECK(job(32, 8).empty());
  CHECK_THAT(job(15'000, 8), Catch::EndsWith("has 15000 entries: at most 32 are allowed"));
  CHECK(job(2'000, 4'000) == "spec.roles: has 4000 entries: at most 8 are allowed");
}

TEST_CASE("resources that imitate anti-affinity or host ports are not counted") {
  const model::Job job = decoded(jobWithLimits(
      R"("member apart from app=merger in secret":"1","host port 80/TCP":"1","nvidia.com/gpu":"1")"));
  CHECK(namesOf(job) == 1);
}

TEST_CASE("only the shape of an admitted pod is read within bounds and in its job's namespace") {
  const auto pod = [](std::string_view ns, std::string_view spec) {
    return fmt::format(R"({{"metadata":{{"name":"p","namespace":"{}"}},"spec":{}}})", ns, spec);
  };
  const auto own = codec::decodeAdmittedPod(
      pod("ml",
          R"({"containers":[{"name":"c","resources":{"limits":{"cpu":"2"}}}],"nodeSelector":{"a":"b"}})"),
      "ml");
  REQUIRE(own);
  CHECK(own->requests.cpu.value == 2'000);
  const std::string apart =
      R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":)"
      R"({"matchLabels":{"app":"merger"}},"topologyKey":"kubernetes.io/hostname"}]}}})";
  const auto theirs = codec::decodeAdmittedPod(pod("secret", apart), "ml");
  REQUIRE(!theirs);
  CHECK(theirs.error().message == R"(pod secret/p: metadata.namespace: must be ml, its job's, is "secret")");
  std::string terms;
  for (int i = 0; i < 14'000; ++i)
    terms +=
        fmt::format(R"({}{{"matchExpressions":[{{"key":"a","operator":"Exists"}}]}})", i == 0 ? "" : ",");
  const auto wide = codec::decodeAdmittedPod(
      pod("ml",
          fmt::format(R"({{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":)"
                      R"({{"nodeSelectorTerms":[{}]}}}}}}}})",
                      terms)),
      "ml");
  REQUIRE(!wide);
  CHECK_THAT(wide.error().message, Catch::Contains("has 28000 terms, expressions and values"));
}

TEST_CASE("an error message does not repeat a name of half a megabyte") {
  const std::string error =
      refusal(jobWithLimits(fmt::format(R"("x.io/{}":"1.5")", std::string(500'000, 'a'))));
  CHECK_THAT(error, Catch::Contains("must be a whole number"));
  CHECK(error.size() < 400);
}

// --- amounts

TEST_CASE("a job that requests more than can be counted is refused by reason") {
  CHECK(refusal(jobWithLimits(R"("nvidia.com/gpu":"4503599627370495")", 4'096)) ==
        "spec.roles: ask for 9223372036854775807 GPUs or more in all: at most 2147483647 can be counted");
  CHECK_THAT(refusal(jobWithLimits(R"("x.io/r":"4503599627370495")", 4'096)),
             Catch::Contains("ask for more x.io/r in all than can be counted"));
  CHECK_THAT(refusal(jobWithLimits(R"("cpu":"9000000000000000")", 2)), Catch::Contains("more cpu in all"));
  CHECK(refusal(jobWithLimits(R"("nvidia.com/gpu":"8")", 10'000)).empty());
}

// --- what is written

TEST_CASE("a job whose pods are too large to be written is refused by reason") {
  const auto withText = [](std::size_t bytes, int replicas) {
    return refusal(
        jobOf(fmt::format(R"({{"containers":[{{"name":"c","args":["{}"]}}]}})", std::string(bytes, 'x')),
              replicas));
  };
  CHECK_THAT(withText(600'000, 1'500), Catch::Contains("the job's pods would have 859 MiB together"));
  CHECK(withText(600'000, 100).empty());
  CHECK(withText(20'000, 10'000).empty());
  // Annotations may take 256 KiB, and the object must have capacity for later writes.
  CHECK_THAT(withText(1'100'000, 1), Catch::Contains("a pod of this role would have 1075 KiB, at most 1024"));
  // The variables that Trainyard adds count for every container.
  std::string containers;
  for (int i = 0; i < 900; ++i) containers += fmt::format(R"({}{{"name":"c{}"}})", i == 0 ? "" : ",", i);
  CHECK_THAT(refusal(jobOf(fmt::format(R"({{"containers":[{}]}})", containers), 300)),
             Catch::Contains("MiB together"));
}

TEST_CASE("TF_CONFIG grows with the members and is refused where no process could start with it") {
  const auto ofSize = [](int replicas, std::string_view framework) {
    return refusal(jobOf(R"({"containers":[{"name":"c"}]})", replicas, framework));
  };
  CHECK(ofSize(1'500, "TensorFlow").empty());
  CHECK_THAT(ofSize(5'000, "TensorFlow"), Catch::Contains("TF_CONFIG, which names every member to each"));
  CHECK(ofSize(5'000, "PyTorch").empty());
}

TEST_CASE("a list of 10000 members is shortened to fit or its job is refused") {
  const std::string spec = R"({"containers":[{"name":"c"}]})";
  const auto data = [](const model::Job& job, std::string_view key) {
    const std::string json = codec::encodeConfigMap(job);
    const auto map = codec::JsonDocument::parse(json);
    REQUIRE(map);
    return std::string(map->root().find("data").find(key).string().value_or(""));
  };
  const model::Job small = decoded(jobOf(spec, 1'000));
  CHECK(small.specError.empty());
  CHECK_FALSE(data(small, "members.json").empty());
  CHECK_FALSE(data(small, "hosts.txt").empty());

  const model::Job large = decoded(jobOf(spec, 10'000, "PyTorch", "llama-pretraining-405b", "research"));
  CHECK(large.specError.empty());
  CHECK(data(large, "members.json").empty());
  CHECK(data(large, "hosts.txt").size() <= limits::kConfigMapBytes);
  CHECK_THAT(data(large, "hosts.txt"), Catch::EndsWith("worker-9999.llama-pretraining-405b.research.svc\n"));

  CHECK_THAT(refusal(jobOf(spec, 10'000, "PyTorch", "a-job-with-a-name-of-forty-two-characters",
                           "a-namespace-with-a-name-of-forty-eight-letters")),
             Catch::Contains("the list of the 10000 members' host names"));
}

// --- texts of the API server

TEST_CASE("a long message of the API server is cut between two characters") {
  std::string message;
  while (message.size() < 100'000) message += "spec.containers[0].name: Ungültig; ";
  const base::Error error =
      codec::errorFromStatus({.code = 422, .reason = "Invalid", .message = message}, "POST /x");
  CHECK(error.message.size() < 9'000);
  CHECK(codec::JsonDocument::parse(fmt::format(R"(["{}"])", error.message)));
  CHECK_THAT(std::string(codec::serverMessage(error)), Catch::StartsWith("spec.containers[0].name"));

  codec::Event event{};
  event.note = std::string(limits::kMaxEventNote - 1, 'x') + "é";
  const std::string json = codec::encodeEvent(event);
  const auto written = codec::JsonDocument::parse(json);
  REQUIRE(written);
  CHECK(written->root().find("note").string()->size() == limits::kMaxEventNote - 1);
}
