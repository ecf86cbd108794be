#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/convert/convert.h"
#include "cli/convert/system_facts.h"
#include "codec/job.h"
#include "codec/yaml_json.h"

// The manifests of tests/convert, as users write them. Each begins with its expectations:
// # exit: STATUS
// # SEVERITY: TEXT       a note of that severity has this text; every note beyond "kept" needs such a line
// # has: /JSON/POINTER = VALUE (in the first TrainingJob), # lacks: /JSON/POINTER, # text: TEXT (in the
// output)
namespace trainyard::cli {
namespace {

using Json = nlohmann::json;

struct Expected {
  std::string what;  // "exit", "changed", "has", …
  std::string words;
};

std::string readAll(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& each : std::filesystem::directory_iterator(TRAINYARD_SOURCE_DIR "/tests/convert"))
    files.push_back(each.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Expected> expectationsOf(const std::string& text) {
  static const std::set<std::string> kKinds{"exit",        "kept", "changed", "lost",
                                            "cannot work", "has",  "lacks",   "text"};
  std::vector<Expected> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(": ");
    if (!line.starts_with("# ") || colon == std::string::npos) continue;
    if (std::string what = line.substr(2, colon - 2); kKinds.contains(what))
      all.push_back({what, line.substr(colon + 2)});
  }
  return all;
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

// Returns the first TrainingJob of the output, as kubectl reads it.
Json jobOf(const std::string& yaml) {
  const auto documents = codec::parseYamlDocuments(yaml, "output");
  REQUIRE(documents);
  for (const codec::YamlValue& each : *documents) {
    const auto json = codec::yamlToJson(each, "output");
    REQUIRE(json);
    Json object = Json::parse(*json);
    if (object.value("kind", "") == "TrainingJob") return object;
  }
  return {};
}

TEST_CASE("Manifests of the corpus are converted as intended and every difference is named") {
  const auto files = corpus();
  CHECK(files.size() >= 40);
  for (const auto& path : files) {
    const std::string source = readAll(path);
    const auto manifests = parseManifests(source, path.filename().string());
    CAPTURE(path.filename().string());
    REQUIRE(manifests);
    const auto converted = convertManifests(*manifests);
    REQUIRE(converted);
    INFO(converted->text);
    const std::vector<Expected> expected = expectationsOf(source);
    const std::vector<std::string> lines = linesOf(converted->text);
    const Json job = jobOf(converted->text);
    for (const Expected& each : expected) {
      CAPTURE(each.what, each.words);
      if (each.what == "exit") {
        CHECK(std::to_string(exitStatusOf(converted->worst)) == each.words);
      } else if (each.what == "has") {
        const auto equals = each.words.find(" = ");
        REQUIRE(equals != std::string::npos);
        const Json::json_pointer pointer(each.words.substr(0, equals));
        CHECK((job.contains(pointer) ? job.at(pointer) : Json()) ==
              Json::parse(each.words.substr(equals + 3)));
      } else if (each.what == "lacks") {
        CHECK_FALSE(job.contains(Json::json_pointer(each.words)));
      } else if (each.what == "text") {
        CHECK(converted->text.find(each.words) != std::string::npos);
      } else {
        const std::string head = "# " + each.what + ": ";
        CHECK(std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
          return line.starts_with(head) && line.find(each.words) != std::string::npos;
        }));
      }
    }
    // No other notes exist.
    for (const std::string& line : lines) {
      const bool differs = line.starts_with("# changed: ") || line.starts_with("# lost: ") ||
                           line.starts_with("# cannot work: ");
      if (!differs) continue;
      CAPTURE(line);
      CHECK(std::any_of(expected.begin(), expected.end(), [&](const Expected& each) {
        return line.starts_with("# " + each.what + ": ") && line.find(each.words) != std::string::npos;
      }));
    }
    // The operator accepts every job that can be applied unchanged.
    if (converted->worst != Severity::kCannotWork) {
      Json named = job;
      named["metadata"]["name"] = named["metadata"].value("name", "job");
      const auto decoded = codec::decodeJob(named.dump());
      REQUIRE(decoded);
      CHECK(decoded->specError.empty());
    }
  }
}

TEST_CASE("The page on migration has the tables of the converters") {
  const std::string page = readAll(TRAINYARD_SOURCE_DIR "/docs/migration.md");
  for (const std::string& row : linesOf(conversionTables())) {
    CAPTURE(row);
    CHECK(page.find(row) != std::string::npos);
  }
}

TEST_CASE("Every field of the tables is known by its path") {
  for (const SystemFacts* facts : allFacts()) {
    for (const Fact& each : facts->fields) CHECK(facts->knows(each.what));
    CHECK_FALSE(facts->knows("spec.colour"));
  }
  CHECK(factsOf("Job", "batch.volcano.sh") != nullptr);
  CHECK(factsOf("Job", "batch") == nullptr);
}

}  // namespace
}  // namespace trainyard::cli
