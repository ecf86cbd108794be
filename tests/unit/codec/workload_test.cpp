#include "codec/workload.h"

#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace trainyard::codec {
namespace {

using nlohmann::json;

const model::OwnerKind& jobKind() { return *model::findOwnerKind("batch", "Job"); }

json jobOf(std::string_view mode, bool suspend) {
  json job = json::parse(R"({"metadata":{"namespace":"ml","name":"eval","uid":"j1","resourceVersion":"7",
    "labels":{"trainyard.dev/queue":"research"}},"spec":{"parallelism":2,"completions":2,
    "template":{"metadata":{"labels":{"app":"eval"}},"spec":{"containers":[{"name":"main","image":"x"}]}}}})");
  job["spec"]["completionMode"] = mode;
  job["spec"]["suspend"] = suspend;
  return job;
}

// "OP PATH" of each step of the marks.
std::vector<std::string> steps(const json& job) {
  const auto workload = decodeWorkload(jobKind(), job.dump());
  REQUIRE(workload);
  std::vector<std::string> texts;
  if (workload->marks.empty()) return texts;
  for (const json& each : json::parse(workload->marks)) {
    if (each["op"] != "test") texts.push_back(each["path"].get<std::string>() + " " + each["value"].dump());
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("the templates of a gang get its labels and the gate, and it is not started") {
  const Texts marks = steps(jobOf("Indexed", true));
  CHECK(marks == Texts{R"(/spec/template/metadata/labels/trainyard.dev~1gang "eval.job")",
                       R"(/spec/template/metadata/labels/trainyard.dev~1gang-role "worker")",
                       "/spec/template/spec/schedulingGates []",
                       R"(/spec/template/spec/schedulingGates/- {"name":"trainyard.dev/place"})"});
}

TEST_CASE("a template without metadata gets all its labels in one patch") {
  json job = jobOf("Indexed", true);
  job["spec"]["template"].erase("metadata");
  CHECK(steps(job) == Texts{"/spec/template/metadata {}", "/spec/template/metadata/labels {}",
                            R"(/spec/template/metadata/labels/trainyard.dev~1gang "eval.job")",
                            R"(/spec/template/metadata/labels/trainyard.dev~1gang-role "worker")",
                            "/spec/template/spec/schedulingGates []",
                            R"(/spec/template/spec/schedulingGates/- {"name":"trainyard.dev/place"})"});
}

TEST_CASE("a Job whose pods are no gang is marked and started in one patch") {
  json job = jobOf("NonIndexed", true);
  CHECK(steps(job) == Texts{R"(/spec/template/metadata/labels/trainyard.dev~1queue "research")",
                            "/spec/template/spec/schedulingGates []",
                            R"(/spec/template/spec/schedulingGates/- {"name":"trainyard.dev/place"})",
                            "/spec/suspend false"});
  // One that runs is stopped first, and what is marked is left alone.
  CHECK(steps(jobOf("NonIndexed", false)).back() != "/spec/suspend false");
  job["spec"]["template"]["metadata"]["labels"]["trainyard.dev/queue"] = "research";
  job["spec"]["template"]["spec"]["schedulingGates"] = json::parse(R"([{"name":"trainyard.dev/place"}])");
  CHECK(steps(job).empty());
}

TEST_CASE("a RayJob that KubeRay would not suspend is refused with the field") {
  const auto errorOf = [](std::string_view more) {
    const auto workload = decodeWorkload(
        *model::findOwnerKind("ray.io", "RayJob"),
        fmt::format(
            R"({{"metadata":{{"namespace":"ml","name":"r","uid":"r1"}},"spec":{{"suspend":true{},"rayClusterSpec":)"
            R"({{"headGroupSpec":{{"template":{{"spec":{{"containers":[{{"name":"h"}}]}}}}}}}}}}}})",
            more));
    REQUIRE(workload);
    return workload->error;
  };
  CHECK(errorOf("") == "spec.shutdownAfterJobFinishes: must be true: no other RayJob can be suspended");
  CHECK(errorOf(R"(,"shutdownAfterJobFinishes":true)").empty());
}

json rayCluster(std::string_view groups) {
  json cluster = json::parse(R"({"metadata":{"namespace":"ml","name":"tune","uid":"r1","resourceVersion":"7",
    "labels":{"trainyard.dev/queue":"research"}},"spec":{"suspend":true,
    "headGroupSpec":{"template":{"spec":{"containers":[{"name":"h"}]}}}}})");
  cluster["spec"]["workerGroupSpecs"] = json::parse(groups);
  for (json& each : cluster["spec"]["workerGroupSpecs"])
    each["template"]["spec"]["containers"] =
        json::parse(R"([{"name":"w","resources":{"limits":{"nvidia.com/gpu":"8"}}}])");
  return cluster;
}

// "NAME REPLICAS" of each role of the Gang.
Texts rolesOf(const json& cluster) {
  const auto workload = decodeWorkload(*model::findOwnerKind("ray.io", "RayCluster"), cluster.dump());
  REQUIRE(workload);
  CHECK(workload->error.empty());
  Texts texts;
  const json gang = json::parse(workload->gang);
  for (const json& each : gang["spec"]["roles"])
    texts.push_back(each["name"].get<std::string>() + " " + each["replicas"].dump());
  return texts;
}

TEST_CASE("the size of a group of a RayCluster is within its bounds, and one without pods stays a role") {
  CHECK(rolesOf(rayCluster(R"([{"groupName":"a","replicas":0,"minReplicas":0,"maxReplicas":8},
      {"groupName":"b","replicas":0,"minReplicas":2,"maxReplicas":8},{"groupName":"c","minReplicas":1},
      {"groupName":"d","replicas":3,"maxReplicas":1,"numOfHosts":2},{"groupName":"e","replicas":2,"suspend":true}])")) ==
        Texts{"head 1", "a 0", "b 2", "c 1", "d 2", "e 0"});
}

TEST_CASE("the templates of groups without pods are marked too: they may get some while the others run") {
  const auto workload = decodeWorkload(*model::findOwnerKind("ray.io", "RayCluster"),
                                       rayCluster(R"([{"groupName":"a","replicas":0}])").dump());
  REQUIRE(workload);
  CHECK(workload->marks.find("/spec/workerGroupSpecs/0/template/spec/schedulingGates") != std::string::npos);
}

TEST_CASE("a gang has the priority of the pods with the most GPUs") {
  json cluster = rayCluster(R"([{"groupName":"a","replicas":1},{"groupName":"b","replicas":2}])");
  cluster["spec"]["headGroupSpec"]["template"]["spec"]["priorityClassName"] = "low";
  cluster["spec"]["workerGroupSpecs"][1]["template"]["spec"]["priorityClassName"] = "high";
  const auto workload = decodeWorkload(*model::findOwnerKind("ray.io", "RayCluster"), cluster.dump());
  REQUIRE(workload);
  CHECK(json::parse(workload->gang)["spec"]["priorityClassName"] == "high");
}

TEST_CASE("an index of a Job that has failed for good needs no place any more") {
  json job = jobOf("Indexed", true);
  job["spec"]["parallelism"] = job["spec"]["completions"] = 8;
  job["status"] = {{"succeeded", 1}, {"failedIndexes", "1,3-5"}};
  const auto workload = decodeWorkload(jobKind(), job.dump());
  REQUIRE(workload);
  CHECK(json::parse(workload->gang)["spec"]["roles"][0]["replicas"] == 3);
}

TEST_CASE("a Job whose pods are no gang is warned of what a preemption costs, unless it ignores it") {
  json job = jobOf("NonIndexed", true);
  const auto warning = [&] { return decodeWorkload(jobKind(), job.dump())->warning; };
  CHECK(warning().find("spec.podFailurePolicy") != std::string::npos);
  job["spec"]["podFailurePolicy"]["rules"] =
      json::parse(R"([{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}])");
  CHECK(warning().empty());
  job["spec"].erase("podFailurePolicy");
  job["metadata"]["annotations"]["trainyard.dev/preemptible"] = "false";
  CHECK(warning().empty());
  CHECK(decodeWorkload(jobKind(), jobOf("Indexed", true).dump())->warning.empty());
}

TEST_CASE("the marks are for one version of one object") {
  const auto workload = decodeWorkload(jobKind(), jobOf("Indexed", true).dump());
  REQUIRE(workload);
  const json marks = json::parse(workload->marks);
  CHECK(marks[0] == json::parse(R"({"op":"test","path":"/metadata/uid","value":"j1"})"));
  CHECK(marks[1] == json::parse(R"({"op":"test","path":"/metadata/resourceVersion","value":"7"})"));
}

}  // namespace
}  // namespace trainyard::codec
