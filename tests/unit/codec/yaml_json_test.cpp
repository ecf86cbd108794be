#include "codec/yaml_json.h"

#include <catch2/catch.hpp>

using namespace trainyard;

namespace {

std::string json(const std::string& yaml) {
  const auto documents = codec::parseYamlDocuments(yaml, "f.yaml");
  if (!documents) return documents.error().message;
  std::string all;
  for (const codec::YamlValue& each : *documents) {
    const auto text = codec::yamlToJson(each, "f.yaml");
    all += (all.empty() ? "" : " ") + (text ? *text : text.error().message);
  }
  return all;
}

}  // namespace

TEST_CASE("scalars become what kubectl makes of them") {
  CHECK(json("[1, -2, +3, 1.5, 1e3, \"1\", '2']") == R"([1,-2,3,1.5,1e3,"1","2"])");
  CHECK(json("[true, yes, On, false, off, No, \"yes\"]") == R"([true,true,true,false,false,false,"yes"])");
  CHECK(json("[~, null, '', x, 1.2.3, 10s, 2026-01-01, 1:30]") ==
        R"([null,null,"","x","1.2.3","10s","2026-01-01","1:30"])");
  CHECK(json("a: {b: [c, {d: }]}\n") == R"({"a":{"b":["c",{"d":null}]}})");
  for (const char* odd : {"010", "0x1F", "0o17", "0b1", "1_000", ".nan", "-.inf"}) {
    CAPTURE(odd);
    CHECK(json(std::string("a: 1\nb: ") + odd + "\n").find("f.yaml:2: ") == 0);
    CHECK(json(std::string("'") + odd + "'") == std::string("\"") + odd + "\"");
  }
}

TEST_CASE("documents are read one by one, with the lines of the file") {
  CHECK(json("a: 1\n---\n# nothing\n---\nb: 2\n") == R"({"a":1} {"b":2})");
  CHECK(json("--- {a: 1}\n--- {b: 2}\n...\n") == R"({"a":1} {"b":2})");
  CHECK(json("a: 1\n---\nb: 1\nb: 2\n") == "f.yaml:4: key \"b\" is there twice");
  CHECK(json("").empty());
}

TEST_CASE("a message's field is found in the document") {
  const auto documents = codec::parseYamlDocuments(
      "metadata:\n  name: x\nspec:\n  roles:\n  - name: ps\n    replicas: 1\n  - name: worker\n    replicas: "
      "0\n",
      "f.yaml");
  REQUIRE(documents);
  const auto line = [&](std::string_view message) {
    return codec::lineOfNamedField(documents->front(), message);
  };
  CHECK(line("spec.roles[1].replicas: Invalid value: 0") == 8);
  CHECK(line("TrainingJob \"x\" is invalid: [spec.roles[worker].replicas: no]") == 8);
  CHECK(line("spec.roles[0].template: Required value") == 5);
  CHECK(line("unknown field \"spec.colour\"") == 3);
  CHECK(line("metadata.name: must be") == 2);
  CHECK(line("something else") == 1);
}
