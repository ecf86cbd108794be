#include "net/certificates.h"

#include <catch2/catch.hpp>

#include "tests/unit/net/harness.h"

namespace trainyard::net::test {
namespace {

using namespace std::chrono_literals;

base::WallTime now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

Validity aDay() { return {now() - 1h, now() + 24h}; }

Identity authority(const std::string& name = "authority") {
  auto made = makeAuthority(name, aDay());
  REQUIRE(made);
  return *made;
}

Identity issue(const Identity& by, CertificateRequest request) {
  auto issued = issueCertificate(by, request);
  REQUIRE(issued);
  return *issued;
}

TEST_CASE("A certificate has the requested names and validity and names its signer") {
  const Identity ca = authority();
  const base::WallTime from = base::WallTime(1'800'000'000s);
  const Identity leaf = issue(ca, {.commonName = "extender",
                                   .dnsNames = {"extender.ns.svc", "a,DNS:evil.example"},
                                   .validity = {from, from + 90 * 24h}});
  const auto facts = inspectCertificate(leaf.certificatePem);
  REQUIRE(facts);
  CHECK(facts->commonName == "extender");
  CHECK(facts->dnsNames == std::vector<std::string>{"extender.ns.svc", "a,DNS:evil.example"});
  CHECK(facts->validity.from == from);
  CHECK(facts->validity.until == from + 90 * 24h);

  CHECK(isIssuedBy(leaf, ca.certificatePem));
  // An equal name does not make an equal authority.
  CHECK_FALSE(isIssuedBy(leaf, authority().certificatePem));
  CHECK_FALSE(isIssuedBy({leaf.certificatePem, ca.privateKeyPem}, ca.certificatePem));
  CHECK_FALSE(isIssuedBy({}, ca.certificatePem));
}

TEST_CASE("Two certificates never have the same serial number or key") {
  const Identity ca = authority();
  const Identity one = issue(ca, {.commonName = "one", .validity = aDay()});
  const Identity two = issue(ca, {.commonName = "one", .validity = aDay()});
  CHECK(one.certificatePem != two.certificatePem);
  CHECK(one.privateKeyPem != two.privateKeyPem);
}

TEST_CASE("Texts that are no certificate are refused") {
  CHECK(inspectCertificate("").error().code == base::ErrorCode::kInvalid);
  CHECK(inspectCertificate("nonsense").error().code == base::ErrorCode::kInvalid);
  const Identity ca = authority();
  const auto mixed = issueCertificate({ca.certificatePem, authority().privateKeyPem},
                                      {.commonName = "x", .validity = aDay()});
  REQUIRE_FALSE(mixed);
  CHECK(mixed.error().code == base::ErrorCode::kInvalid);
  const auto overlong = issueCertificate(ca, {.commonName = std::string(65, 'x'), .validity = aDay()});
  REQUIRE_FALSE(overlong);
  CHECK(overlong.error().code == base::ErrorCode::kInternal);
}

TEST_CASE("Issued certificates serve a connection on which both sides are verified") {
  const Identity ca = authority();
  const Identity server =
      issue(ca, {.commonName = "server", .dnsNames = {"server.example"}, .validity = aDay()});
  const auto listening = startServer(
      [](const ServerRequest& request, const std::shared_ptr<Exchange>& exchange) {
        exchange->reply({.status = 200, .body = request.clientCommonName});
      },
      {.tls = TlsServerConfig{server.certificatePem, server.privateKeyPem, ca.certificatePem}});
  const auto ask = [&](const Identity& client) {
    TestClient from({.url = urlOf(*listening, "https"),
                     .tls = TlsClientConfig{.caPem = ca.certificatePem,
                                            .certificatePem = client.certificatePem,
                                            .privateKeyPem = client.privateKeyPem,
                                            .serverName = "server.example"}});
    return from.get("/");
  };
  const auto answer =
      ask(issue(ca, {.commonName = "scheduler", .use = CertificateUse::kClient, .validity = aDay()}));
  REQUIRE(answer);
  CHECK(answer->body == "scheduler");
  // Neither a server's certificate nor an expired one is accepted from a client.
  CHECK_FALSE(ask(server));
  CHECK_FALSE(ask(issue(
      ca,
      {.commonName = "scheduler", .use = CertificateUse::kClient, .validity = {now() - 2h, now() - 1h}})));
}

}  // namespace
}  // namespace trainyard::net::test
