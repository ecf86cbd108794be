#include <catch2/catch.hpp>

#include "sim/api/json.h"

namespace trainyard::sim {
namespace {

TEST_CASE("YAML is read as the API server's converter reads it") {
  const auto documents = parseYaml("a: &x {k: 1, t: '1'}\nb: *x\n---\n- ~\n");
  REQUIRE(documents);
  CHECK(*documents == std::vector<Json>{Json::parse(R"({"a":{"k":1,"t":"1"},"b":{"k":1,"t":"1"}})"),
                                        Json::parse("[null]")});
}

TEST_CASE("YAML 1.1's numbers and bools and merge keys are the API server's") {
  const auto documents = parseYaml("a: &x {mode: 0400, on: yes}\nb: {<<: *x, k: 1e3}\n");
  REQUIRE(documents);
  CHECK(documents->front() ==
        Json::parse(R"({"a":{"mode":256,"true":true},"b":{"mode":256,"true":true,"k":1000}})"));
  CHECK_FALSE(parseYaml("a: {<<: x}\n"));
}

TEST_CASE("aliases of aliases and of themselves end") {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    text += "]\n";
  }
  const auto documents = parseYaml(text);
  REQUIRE_FALSE(documents);
  CHECK_THAT(documents.error().message, Catch::Contains("too many values"));
  CHECK_FALSE(parseYaml("&a [*a]"));
  static_cast<void>(parseYaml("!!str,"));  // only that the call returns matters
}

}  // namespace
}  // namespace trainyard::sim
