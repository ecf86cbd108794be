#include "corpus.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codec/yaml_json.h"

namespace trainyard::cli {

using Json = nlohmann::json;

std::vector<std::filesystem::path> corpusOf(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& each : std::filesystem::directory_iterator(TRAINYARD_SOURCE_DIR "/tests/" + folder))
    files.push_back(each.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string readAll(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

std::vector<Expected> expectationsOf(const std::string& text) {
  static const std::set<std::string> kKinds{"exit", "added", "kept", "changed", "lost",   "cannot work",
                                            "has",  "lacks", "text", "queue",   "as-gang"};
  std::vector<Expected> all;
  for (const std::string& line : linesOf(text)) {
    const auto colon = line.find(": ");
    if (!line.starts_with("# ") || colon == std::string::npos) continue;
    if (std::string what = line.substr(2, colon - 2); kKinds.contains(what))
      all.push_back({what, line.substr(colon + 2)});
  }
  return all;
}

std::string firstObjectOf(const std::string& yaml, const std::string& kind) {
  const auto documents = codec::parseYamlDocuments(yaml, "output");
  REQUIRE(documents);
  for (const codec::YamlValue& each : *documents) {
    const auto json = codec::yamlToJson(each, "output");
    REQUIRE(json);
    if (kind.empty() || Json::parse(*json).value("kind", "") == kind) return *json;
  }
  return "null";
}

bool checkObject(const Expected& expected, const std::string& object, const std::string& output) {
  const Json json = Json::parse(object);
  if (expected.what == "has") {
    const auto equals = expected.words.find(" = ");
    REQUIRE(equals != std::string::npos);
    const Json::json_pointer pointer(expected.words.substr(0, equals));
    CHECK((json.contains(pointer) ? json.at(pointer) : Json()) ==
          Json::parse(expected.words.substr(equals + 3)));
  } else if (expected.what == "lacks") {
    CHECK_FALSE(json.contains(Json::json_pointer(expected.words)));
  } else if (expected.what == "text") {
    CHECK(output.find(expected.words) != std::string::npos);
  } else {
    return false;
  }
  return true;
}

}  // namespace trainyard::cli
