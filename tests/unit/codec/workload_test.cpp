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

TEST_CASE("the marks are for one version of one object") {
  const auto workload = decodeWorkload(jobKind(), jobOf("Indexed", true).dump());
  REQUIRE(workload);
  const json marks = json::parse(workload->marks);
  CHECK(marks[0] == json::parse(R"({"op":"test","path":"/metadata/uid","value":"j1"})"));
  CHECK(marks[1] == json::parse(R"({"op":"test","path":"/metadata/resourceVersion","value":"7"})"));
}

}  // namespace
}  // namespace trainyard::codec
