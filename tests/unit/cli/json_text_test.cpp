#include "cli/json_text.h"

#include <catch2/catch.hpp>

#include "codec/yaml_json.h"
#include "codec/yaml_value.h"

namespace trainyard::cli {
namespace {

TEST_CASE("JSON as YAML reads as people write it, and means the same") {
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

TEST_CASE("Names are told as kubectl tells them") {
  CHECK(namesOfJson(R"({"items":[{"name":"a"},{"metadata":{"name":"b"}}]})", "trainingjob.trainyard.dev")
            .value() == "trainingjob.trainyard.dev/a\ntrainingjob.trainyard.dev/b\n");
  CHECK(namesOfJson(R"({"name":"a"})", "queue.trainyard.dev").value() == "queue.trainyard.dev/a\n");
}

TEST_CASE("Nothing that may be secret is left in an object") {
  const auto clean = withoutSecrets(R"({"items":[
    {"kind":"Secret","data":{"k":"SECRET1"},"stringData":{"k":"SECRET2"}},
    {"metadata":{"managedFields":[{"x":"SECRET3"}],
      "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"SECRET4","note":"kept"}},
     "spec":{"template":{"containers":[{"env":[{"name":"AWS_SECRET_ACCESS_KEY","value":"SECRET5"},
       {"name":"FROM","valueFrom":{"secretKeyRef":{"name":"kept-too"}}}],
       "command":["train","--password=SECRET6","--epochs=3"],"args":["--api-key: SECRET7","--token","SECRET9",
       "login --password SECRET0 --tokens-per-step 3"],
       "readinessProbe":{"httpGet":{"httpHeaders":[{"name":"Authorization","value":"SECRETa"}]}}}]}},
     "csi":{"volumeAttributes":{"share":"SECRETb","user":"SECRETc"}},
     "data":{"policy.yaml":"checks:\n- command: [check, --token, SECRETd]\n  password: SECRETe\n"},
     "more":["curl -u me:SECRETf https://x","ok"],"run":{"command":["curl","-u","me:SECRETg"]},
     "labels":{"x/password":"SECRETh"},"volume":{"secretName":"kept-name"},
     "status":{"lastFailure":{"message":"403 for token=SECRET8"}}}]})");
  REQUIRE(clean);
  for (const char digit : std::string("1234567890abcdefgh"))
    CHECK(clean->find(std::string("SECRET") + digit) == std::string::npos);
  for (const char* kept :
       {"kept", "kept-too", "kept-name", "check", "--epochs=3", "FROM", "AWS_SECRET_ACCESS_KEY"}) {
    CHECK(clean->find(kept) != std::string::npos);
  }
}

TEST_CASE("Nothing that may be secret is left in a line of a log") {
  for (const char* line :
       {"Authorization: Bearer abcdefgh.ijklmnop", "password = 'hunter22'", "HF_TOKEN=hf_abcdefgh loading",
        R"({"apiKey": "abcdefgh"})", "git clone https://me:abcdefgh@example.com/x",
        "aws_secret_access_key: abcdefgh"}) {
    const std::string clean = lineWithoutSecrets(line);
    CAPTURE(line, clean);
    CHECK(clean.find("abcdefgh") == std::string::npos);
    CHECK(clean.find("hunter22") == std::string::npos);
    CHECK(clean.find("(removed)") != std::string::npos);
  }
  CHECK(lineWithoutSecrets("tokens per second: 3") == "tokens per second: 3");
  CHECK(lineWithoutSecrets("epoch 3 loss 0.25") == "epoch 3 loss 0.25");
}

}  // namespace
}  // namespace trainyard::cli
