#include "cli/adopt/adopt.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/manifests.h"
#include "corpus.h"

// The manifests of tests/adopt. Each begins with its expectations:
// # exit: STATUS; # queue: NAME, # as-gang: true (the flags)
// # added: TEXT, # kept: TEXT, # changed: TEXT and so on: a line of the report; every line beyond "kept"
// needs one # has: /JSON/POINTER = VALUE (in the first object), # lacks: /JSON/POINTER, # text: TEXT (in
// output or report)
namespace trainyard::cli {
namespace {

using Json = nlohmann::json;

std::string wordsOf(const std::vector<Expected>& expected, const std::string& what) {
  for (const Expected& each : expected) {
    if (each.what == what) return each.words;
  }
  return {};
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& each : lines) all += each + "\n";
  return all;
}

// The last part of a JSON pointer: "trainyard.dev/queue".
std::string fieldOf(const std::string& pointer) {
  std::string name = pointer.substr(pointer.rfind('/') + 1);
  if (const auto slash = name.find("~1"); slash != std::string::npos) name.replace(slash, 2, "/");
  return name;
}

// Every value that differs between the objects is in a line of the report: its field, or the value itself.
void checkNothingSilent(const Manifest& before, const std::string& after, const std::string& report) {
  const Json was = Json::parse(before.json).flatten();
  const Json is = Json::parse(after).flatten();
  const auto isReported = [&](const std::string& pointer, const Json& value) {
    return report.find(fieldOf(pointer)) != std::string::npos ||
           (value.is_string() && report.find(value.get<std::string>()) != std::string::npos);
  };
  for (const auto& [pointer, value] : is.items()) {
    if (was.contains(pointer) && was[pointer] == value) continue;
    CAPTURE(pointer, value.dump());
    CHECK(isReported(pointer, value));
  }
  for (const auto& [pointer, value] : was.items()) {
    if (is.contains(pointer)) continue;
    CAPTURE(pointer, value.dump());
    CHECK(isReported(pointer, value));
  }
}

TEST_CASE("Manifests of the corpus are adopted as intended and every change is reported") {
  const auto files = corpusOf("adopt");
  CHECK(files.size() >= 20);
  for (const auto& path : files) {
    const std::string source = readAll(path);
    const auto manifests = parseManifests(source, path.filename().string());
    CAPTURE(path.filename().string());
    REQUIRE(manifests);
    const std::vector<Expected> expected = expectationsOf(source);
    const auto adopted = adoptManifests(
        *manifests, {.queue = wordsOf(expected, "queue"), .asGang = wordsOf(expected, "as-gang") == "true"});
    REQUIRE(adopted);
    INFO(adopted->text);
    const std::string report = joined(adopted->report);
    INFO(report);
    const std::string object = firstObjectOf(adopted->text, "");
    for (const Expected& each : expected) {
      CAPTURE(each.what, each.words);
      if (each.what == "queue" || each.what == "as-gang") continue;
      if (each.what == "exit") {
        CHECK(std::to_string(exitStatusOf(adopted->worst)) == each.words);
      } else if (!checkObject(each, object, adopted->text + report)) {
        CHECK(std::any_of(adopted->report.begin(), adopted->report.end(), [&](const std::string& line) {
          return line.find(": " + each.what + ": ") != std::string::npos &&
                 line.find(each.words) != std::string::npos;
        }));
      }
    }
    // No other lines exist.
    for (const std::string& line : adopted->report) {
      if (line.find(": kept: ") != std::string::npos || line.find("left out") != std::string::npos) continue;
      CAPTURE(line);
      CHECK(std::any_of(expected.begin(), expected.end(), [&](const Expected& each) {
        return line.find(": " + each.what + ": ") != std::string::npos &&
               line.find(each.words) != std::string::npos;
      }));
    }
    checkNothingSilent(manifests->front(), object, report);
  }
}

TEST_CASE("An adopted object stays as it is when it is adopted again") {
  for (const auto& path : corpusOf("adopt")) {
    CAPTURE(path.filename().string());
    const std::string source = readAll(path);
    const std::vector<Expected> expected = expectationsOf(source);
    const AdoptOptions options{.queue = wordsOf(expected, "queue"),
                               .asGang = wordsOf(expected, "as-gang") == "true"};
    const auto manifests = parseManifests(source, "file");
    REQUIRE(manifests);
    const auto once = adoptManifests(*manifests, options);
    REQUIRE(once);
    const auto again = adoptManifests(parseManifests(once->text, "file").value(), options);
    REQUIRE(again);
    CHECK(again->text == once->text);
    for (const std::string& line : again->report) {
      CAPTURE(line);
      CHECK(line.find(": added: ") == std::string::npos);
    }
  }
}

TEST_CASE("Files without an object that could be adopted are refused with a message") {
  const auto refused =
      adoptManifests(parseManifests("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: ds}\n"
                                    "spec: {template: {spec: {containers: [{name: c}]}}}\n",
                                    "file")
                         .value(),
                     {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("DaemonSet ds: lost: unchanged") != std::string::npos);
  CHECK_FALSE(adoptManifests({}, {}));
}

TEST_CASE("Two objects of one name do not become one gang") {
  const std::string rest =
      "metadata: {name: web}\nspec: {replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}\n";
  const auto manifests = parseManifests("apiVersion: apps/v1\nkind: Deployment\n" + rest +
                                            "---\napiVersion: apps/v1\nkind: StatefulSet\n" + rest,
                                        "file");
  REQUIRE(manifests);
  const auto adopted = adoptManifests(*manifests, {.asGang = true});
  REQUIRE(adopted);
  CHECK(adopted->text.find("trainyard.dev/gang: web-deployment\n") != std::string::npos);
  CHECK(adopted->text.find("trainyard.dev/gang: web-statefulset\n") != std::string::npos);
}

TEST_CASE("A queue that no Queue could have as its name is refused") {
  const auto manifests =
      parseManifests("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n", "file");
  REQUIRE(manifests);
  CHECK(adoptManifests(*manifests, {.queue = "research"}));
  for (const char* name : {"a b", "-a", "a\nb", "A"})
    CHECK_FALSE(adoptManifests(*manifests, {.queue = name}));
}

TEST_CASE("A malformed object is refused with its name") {
  for (const char* spec :
       {"[]", "3", "{template: []}", "{template: {spec: {containers: 3}}}", "{parallelism: x}"}) {
    CAPTURE(spec);
    for (const char* kind :
         {"batch/v1\nkind: Job", "apps/v1\nkind: Deployment", "v1\nkind: Pod", "batch/v1\nkind: CronJob",
          "kubeflow.org/v2beta1\nkind: MPIJob", "leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet"}) {
      CAPTURE(kind);
      const auto manifests = parseManifests(
          std::string("apiVersion: ") + kind + "\nmetadata: {name: a, labels: 3}\nspec: " + spec + "\n",
          "file");
      REQUIRE(manifests);
      const auto adopted = adoptManifests(*manifests, {});
      CHECK((!adopted || exitStatusOf(adopted->worst) == 4 || adopted->worst == Severity::kKept));
    }
  }
}

}  // namespace
}  // namespace trainyard::cli
