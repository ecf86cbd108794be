#include "cli/json_text.h"

#include <catch2/catch.hpp>

#include "codec/yaml_json.h"
#include "codec/yaml_value.h"

namespace trainyard::cli {
namespace {

TEST_CASE("JSON is printed as readable YAML of the same meaning") {
  const std::string json =
      R"({"kind":"TrainingJob","spec":{"roles":[{"name":"worker","replicas":4,"args":["-c","a: b # c",""]},)"
      R"({"name":"ps"}],"labels":{},"none":null,"list":[],"yes":"yes","no":true,"n":"010","t":"two\nlines"}})";
  const auto yaml = yamlOfJson(json);
  REQUIRE(yaml);
  CHECK(*yaml ==
        "kind: TrainingJob\n"
        "spec:\n"
        "  roles:\n"
        "  - name: worker\n"
        "    replicas: 4\n"
        "    args:\n"
        "    - \"-c\"\n"
        "    - \"a: b # c\"\n"
        "    - \"\"\n"
        "  - name: ps\n"
        "  labels: {}\n"
        "  none: null\n"
        "  list: []\n"
        "  \"yes\": \"yes\"\n"
        "  \"no\": true\n"
        "  \"n\": \"010\"\n"
        "  t: \"two\\nlines\"\n");
  const auto read = codec::parseYamlValue(*yaml, "test");
  REQUIRE(read);
  const auto again = codec::yamlToJson(*read, "test");
  REQUIRE(again);
  CHECK(yamlOfJson(*again).value() == *yaml);
  CHECK(yamlOfJson("no json").error().code == base::ErrorCode::kInvalid);
}

TEST_CASE("Names are printed as kubectl prints them") {
  CHECK(namesOfJson(R"({"items":[{"name":"a"},{"metadata":{"name":"b"}}]})", "trainingjob.trainyard.dev")
            .value() == "trainingjob.trainyard.dev/a\ntrainingjob.trainyard.dev/b\n");
  CHECK(namesOfJson(R"({"name":"a"})", "queue.trainyard.dev").value() == "queue.trainyard.dev/a\n");
}

}  // namespace
}  // namespace trainyard::cli
