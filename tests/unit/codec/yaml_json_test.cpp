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
  CHECK(json("[1, -2, +3, 1.5, 1e3, \"1\", '2']") == R"([1,-2,3,1.5,1000,"1","2"])");
  CHECK(json("[true, yes, On, false, off, No, \"yes\", y, N, yEs]") ==
        R"([true,true,true,false,false,false,"yes",true,false,"yEs"])");
  CHECK(json("[~, null, '', x, 1.2.3, 10s, 2026-01-01, 1:30, _1, =, '<<']") ==
        R"([null,null,"","x","1.2.3","10s","2026-01-01","1:30","_1","=","<<"])");
  CHECK(json("a: {b: [c, {d: }]}\n") == R"({"a":{"b":["c",{"d":null}]}})");
}

TEST_CASE("numbers are those of YAML 1.1 as kubectl sends them") {
  CHECK(json("[0400, 0o644, 0O17, -010, 00, 0_7, 0b101, 0B1, 0x1F, 0X10, -0x10, 0x1_F]") ==
        "[256,420,15,-8,0,7,5,1,31,16,-16,31]");
  CHECK(json("[08, 1_000, 6_0, 1__0, 1_0.5, 1., 1.0, 1.10, .5, -.5, 1e9, 1E5, 1.5e3, 0e5, 0.25]") ==
        "[8,1000,60,10,10.5,1,1,1.1,0.5,-0.5,1000000000,100000,1500,0,0.25]");
  CHECK(json("[18446744073709551615, -9223372036854775808, 123456789012345678, 1e21, 1e-7]") ==
        "[18446744073709551615,-9223372036854775808,123456789012345678,1e+21,1e-07]");
  CHECK(json("[0o8, 0b2, 0xg, 12e, 1e400, 0x, -, 1-2, ._5]") ==
        R"(["0o8","0b2","0xg","12e","1e400","0x","-","1-2","._5"])");
  for (const char* odd : {".nan", "-.inf", "+.INF"}) {
    CAPTURE(odd);
    CHECK(json(std::string("a: 1\nb: ") + odd + "\n").find("f.yaml:2: ") == 0);
    CHECK(json(std::string("'") + odd + "'") == std::string("\"") + odd + "\"");
  }
  CHECK(json("[!!str 1, !!int '3', !!float 3, !!binary aGk=, !!bool yes]") == R"(["1",3,3,"hi",true])");
  CHECK(json("a: !mine x\n").find("f.yaml:1: tag !mine is not read") == 0);
}

TEST_CASE("keys are read as kubectl reads them") {
  CHECK(json("{yes: 1, 0400: 2, 1.5: 3, 'no': 4}") == R"({"true":1,"256":2,"1.5":3,"no":4})");
  CHECK(json("on: 1\ntrue: 2\n") == "f.yaml:2: key \"true\" occurs twice");
  CHECK(json("~: 1") == "f.yaml:1: a key must not be null");
}

TEST_CASE("merge keys include what they name in the order of the file") {
  const std::string base = "b: &b {x: 1, z: {p: 1}}\n";
  const auto merged = [&](const std::string& value) {
    const std::string head = R"({"b":{"x":1,"z":{"p":1}},"c":)";
    const std::string all = json(base + "c: " + value + "\n");
    return all.starts_with(head) ? all.substr(head.size(), all.size() - head.size() - 1) : all;
  };
  CHECK(merged("{<<: *b, x: 9}") == R"({"x":9,"z":{"p":1}})");
  CHECK(merged("{x: 9, <<: *b}") == R"({"x":1,"z":{"p":1}})");
  CHECK(merged("{<<: *b, z: {q: 2}}") == R"({"x":1,"z":{"q":2}})");
  CHECK(merged("{<<: [*b, {x: 5, w: 3}]}") == R"({"x":1,"w":3,"z":{"p":1}})");
  CHECK(merged("{<<: {q: 1}}") == R"({"q":1})");
  CHECK(merged(R"({"<<": 3})") == R"({"<<":3})");
  CHECK(merged("{<<: x}") == "f.yaml:2: \"<<\" takes a map or a list of maps");
  CHECK(json("- &c {name: a, image: i}\n- <<: *c\n  image: j\n") ==
        R"([{"name":"a","image":"i"},{"name":"a","image":"j"}])");
  CHECK(json("&a {<<: *a}").find("f.yaml:1: ") == 0);
}

TEST_CASE("documents are read one by one with the lines of the file") {
  CHECK(json("a: 1\n---\n# nothing\n---\nb: 2\n") == R"({"a":1} {"b":2})");
  CHECK(json("--- {a: 1}\n--- {b: 2}\n...\n") == R"({"a":1} {"b":2})");
  CHECK(json("a: 1\n---\nb: 1\nb: 2\n") == "f.yaml:4: key \"b\" occurs twice");
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
