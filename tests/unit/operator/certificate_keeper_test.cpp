#include "operator/certificate_keeper.h"

#include <functional>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "codec/base64.h"
#include "codec/json_value.h"
#include "net/certificates.h"
#include "support/fake_api.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;

// An API server with three Secrets and nothing else.
class Server final : public test::FakeApi {
 public:
  explicit Server(base::VirtualLoop& loop) : test::FakeApi(loop) {
    for (const char* name : {"ext-ca", "ext-tls", "ext-client"}) secrets[pathOf(name)] = {};
  }

  struct Stored {
    int version = 1;
    bool renew = false;
    SecretData data;
  };
  std::map<std::string, Stored> secrets;
  std::vector<std::string> patched;

  static std::string pathOf(const std::string& name) { return "/api/v1/namespaces/ns/secrets/" + name; }
  Stored& at(const std::string& name) { return secrets.at(pathOf(name)); }

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    const auto found = secrets.find(request.path);
    if (found == secrets.end()) return base::fail(base::ErrorCode::kNotFound, request.path);
    Stored& stored = found->second;
    if (request.method == net::Method::kPatch) {
      CHECK(request.contentType == "application/merge-patch+json");
      const auto patch = codec::JsonDocument::parse(request.body);
      REQUIRE(patch);
      const codec::JsonValue meta = patch->root().find("metadata");
      if (meta.find("resourceVersion").string() != std::to_string(stored.version)) {
        return base::fail(base::ErrorCode::kConflict, "the object has been modified");
      }
      patch->root().find("data").forEachMember([&](std::string_view key, codec::JsonValue value) {
        stored.data.erase(std::string(key));
        if (value.present()) stored.data[std::string(key)] = *codec::decodeBase64(*value.string());
      });
      stored.renew = false;
      ++stored.version;
      patched.push_back(request.path.substr(request.path.rfind('/') + 1));
    }
    return kube::ApiResponse{200, text(stored)};
  }

  static std::string text(const Stored& stored) {
    std::string data;
    for (const auto& [key, value] : stored.data) {
      data += fmt::format(R"({}"{}":"{}")", data.empty() ? "" : ",", key, codec::encodeBase64(value));
    }
    return fmt::format(R"({{"metadata":{{"resourceVersion":"{}","annotations":{{{}}}}},"data":{{{}}}}})",
                       stored.version, stored.renew ? R"("trainyard.dev/renew":"")" : "", data);
  }
};

struct Fixture {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  telemetry::MetricsRegistry metrics;
  std::unique_ptr<CertificateKeeper> keeper = std::make_unique<CertificateKeeper>(
      CertificateOptions{.service = "ext", .ns = "ns", .leafLife = 5h}, api, loop, metrics,
      base::Logger(nowhere, base::LogLevel::kError, "certificates"));

  void run(base::Instant::duration span) { loop.runFor(span); }
};

TEST_CASE("The three Secrets are filled beginning with the authority's and then left alone") {
  Fixture fixture;
  fixture.keeper->start();
  fixture.run(1s);
  CHECK(fixture.api.patched == std::vector<std::string>{"ext-ca", "ext-tls", "ext-client"});
  CHECK(
      net::isIssuedBy({fixture.api.at("ext-tls").data["tls.crt"], fixture.api.at("ext-tls").data["tls.key"]},
                      fixture.api.at("ext-ca").data["ca.crt"]));
  CHECK_THAT(fixture.metrics.text(),
             Catch::Contains("trainyard_certificate_expiry_timestamp_seconds{certificate=\"server\"}"));
  fixture.run(1h);
  CHECK(fixture.api.patched.size() == 3);
}

TEST_CASE("An annotation renews once within a minute") {
  Fixture fixture;
  fixture.keeper->start();
  fixture.run(1s);
  const std::string before = fixture.api.at("ext-tls").data["tls.crt"];
  fixture.api.patched.clear();
  fixture.api.at("ext-tls").renew = true;
  fixture.run(61s);
  CHECK(fixture.api.patched == std::vector<std::string>{"ext-tls"});
  CHECK(fixture.api.at("ext-tls").data["tls.crt"] != before);
  fixture.run(10min);
  CHECK(fixture.api.patched.size() == 1);
}

TEST_CASE("It renews in time by itself") {
  Fixture fixture;
  fixture.keeper->start();
  fixture.run(1s);
  fixture.api.patched.clear();
  fixture.run(4h);
  CHECK(fixture.api.patched == std::vector<std::string>{"ext-tls", "ext-client"});
}

TEST_CASE("A write that the server refuses is tried again") {
  Fixture fixture;
  int left = 4;
  const auto code = GENERATE(base::ErrorCode::kNotFound, base::ErrorCode::kForbidden,
                             base::ErrorCode::kUnavailable, base::ErrorCode::kConflict);
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (left == 0 || (left % 2 == 0) != (request.method == net::Method::kGet)) return std::nullopt;
    --left;
    return base::Error{code, "no"};
  };
  fixture.keeper->start();
  fixture.run(60s);
  CHECK(left == 0);
  CHECK(fixture.api.at("ext-client").data.count("tls.crt") == 1);
  CHECK(
      net::isIssuedBy({fixture.api.at("ext-tls").data["tls.crt"], fixture.api.at("ext-tls").data["tls.key"]},
                      fixture.api.at("ext-ca").data["ca.crt"]));
}

TEST_CASE("Two keepers at a change of leaders agree") {
  Fixture fixture;
  CertificateKeeper other({.service = "ext", .ns = "ns", .leafLife = 5h}, fixture.api, fixture.loop,
                          fixture.metrics,
                          base::Logger(fixture.nowhere, base::LogLevel::kError, "certificates"));
  fixture.keeper->start();
  other.start();
  fixture.run(30s);
  CHECK(fixture.api.patched.size() == 3);
  CHECK(
      net::isIssuedBy({fixture.api.at("ext-tls").data["tls.crt"], fixture.api.at("ext-tls").data["tls.key"]},
                      fixture.api.at("ext-ca").data["ca.crt"]));
  fixture.keeper.reset();
  fixture.run(4h);
  CHECK(fixture.api.patched.size() == 5);
}

}  // namespace
}  // namespace trainyard::operator_
