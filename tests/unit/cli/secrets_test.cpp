#include "cli/secrets.h"

#include <string>

#include <catch2/catch.hpp>

namespace trainyard::cli {
namespace {

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
     "status":{"lastFailure":{"message":"403 for token=SECRET8"}}}]})",
                                    Arguments::kKeep);
  REQUIRE(clean);
  for (const char digit : std::string("1234567890abcdefgh"))
    CHECK(clean->find(std::string("SECRET") + digit) == std::string::npos);
  for (const char* kept :
       {"kept", "kept-too", "kept-name", "check", "--epochs=3", "FROM", "AWS_SECRET_ACCESS_KEY"}) {
    CHECK(clean->find(kept) != std::string::npos);
  }
}

TEST_CASE("By default only needed arguments and annotations remain") {
  const auto clean = withoutSecrets(R"({"metadata":{"annotations":{"team/note":"SECRET1",
      "deployment.kubernetes.io/revision":"kept-7"}},
    "spec":{"containers":[{"name":"kept-main","command":["/usr/bin/kept-python","SECRET2","-c","SECRET3"],
      "args":["SECRET4","-pSECRET5","--kept-epochs=SECRET6","-SECRET7","--","SECRET8","-----BEGIN PRIVATE KEY-----"],
      "lifecycle":{"preStop":{"exec":{"command":["SECRET9 SECRETa","b"]}}}}],
      "run":{"command":["sh","-c","curl SECRETb"]}}})");
  REQUIRE(clean);
  CHECK(clean->find("SECRET") == std::string::npos);
  CHECK(clean->find("PRIVATE") == std::string::npos);
  for (const char* kept :
       {"kept-7", "kept-main", "/usr/bin/kept-python", "--kept-epochs=(removed)", "-p(removed)"})
    CHECK(clean->find(kept) != std::string::npos);
}

TEST_CASE("Private keys and tokens are recognized by their form at any position and cut anywhere") {
  const std::string line(64, 'A');
  const std::string key =
      "-----BEGIN RSA PRIVATE KEY-----\n" + line + "\n" + line + "\n-----END RSA PRIVATE KEY-----";
  for (const std::string& text :
       {key, key.substr(0, 120), key.substr(60), "x " + key + " y",
        std::string("LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0t") + line, std::string("b3BlbnNzaC1rZXktdjE") + line,
        "eyJhbGciOiJSUzI1." + line + "." + line, "hf_" + line, "ghp_" + line, "sk-" + line}) {
    const std::string clean = textWithoutSecrets(text);
    CAPTURE(text, clean);
    CHECK(clean.find("AAAA") == std::string::npos);
    CHECK(clean.find("(removed)") != std::string::npos);
  }
  CHECK(textWithoutSecrets("step 1\n" + key + "\nstep 2") == "step 1\n(removed)\nstep 2");
  CHECK(withoutSecrets("{\"message\":\"-----BEGIN PRIVATE KEY-----\\n" + line + "\"}")->find("AAAA") ==
        std::string::npos);
}

TEST_CASE("Nothing that may be secret is left in a line of a log") {
  for (const char* line :
       {"Authorization: Bearer abcdefgh.ijklmnop", "password = 'hunter22'", "HF_TOKEN=hf_abcdefgh loading",
        R"({"apiKey": "abcdefgh"})", "git clone https://me:abcdefgh@example.com/x",
        "aws_secret_access_key: abcdefgh"}) {
    const std::string clean = textWithoutSecrets(line);
    CAPTURE(line, clean);
    CHECK(clean.find("abcdefgh") == std::string::npos);
    CHECK(clean.find("hunter22") == std::string::npos);
    CHECK(clean.find("(removed)") != std::string::npos);
  }
  CHECK(textWithoutSecrets("tokens per second: 3") == "tokens per second: 3");
  CHECK(textWithoutSecrets("epoch 3 loss 0.25") == "epoch 3 loss 0.25");
}

}  // namespace
}  // namespace trainyard::cli
