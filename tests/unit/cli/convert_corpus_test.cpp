#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/convert/convert.h"
#include "cli/convert/system_facts.h"
#include "codec/job.h"
#include "corpus.h"

// The manifests of tests/convert, as users write them. Each begins with its expectations:
// # exit: STATUS
// # SEVERITY: TEXT       a note of that severity has this text; every note beyond "kept" needs such a line
// # has: /JSON/POINTER = VALUE (in the first TrainingJob), # lacks: /JSON/POINTER, # text: TEXT (in the
// output)
namespace trainyard::cli {
namespace {

using Json = nlohmann::json;

TEST_CASE("Manifests of the corpus are converted as intended and every difference is named") {
  const auto files = corpusOf("convert");
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
    const std::string job = firstObjectOf(converted->text, "TrainingJob");
    for (const Expected& each : expected) {
      CAPTURE(each.what, each.words);
      if (each.what == "exit") {
        CHECK(std::to_string(exitStatusOf(converted->worst)) == each.words);
      } else if (!checkObject(each, job, converted->text)) {
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
      Json named = Json::parse(job);
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
  CHECK(factsOf("Job", "batch") != factsOf("Job", "batch.volcano.sh"));
  CHECK(factsOf("RayService", "ray.io") == nullptr);
}

}  // namespace
}  // namespace trainyard::cli
