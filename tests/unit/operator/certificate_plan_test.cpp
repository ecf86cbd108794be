#include "operator/certificate_plan.h"

#include <catch2/catch.hpp>

#include "net/certificates.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

const CertificateOptions kOptions{.service = "trainyard-extender", .ns = "trainyard-system"};

// Secrets that follow each plan, and a clock that the test moves.
struct Secrets {
  CertificateState state = {};
  base::WallTime now = base::WallTime(1'800'000'000s);
  CertificateOptions options = kOptions;

  CertificatePlan step() {
    const auto plan = planCertificates(state, options, now);
    REQUIRE(plan);
    take(state.authority, plan->authority);
    take(state.server, plan->server);
    take(state.client, plan->client);
    state.renewAuthority = state.renewServer = state.renewClient = false;
    checkTrust();
    return *plan;
  }

  static void take(SecretData& data, const SecretData& changes) {
    for (const auto& [key, text] : changes) {
      if (text.empty()) {
        data.erase(key);
      } else {
        data[key] = text;
      }
    }
  }

  // Each side trusts the certificate of the other, and both certificates are valid now.
  void checkTrust() const {
    for (const SecretData* leaf : {&state.server, &state.client}) {
      const net::Identity identity{leaf->at("tls.crt"), leaf->at("tls.key")};
      CHECK(net::isIssuedBy(identity, state.authority.at("ca.crt")));
      const auto facts = net::inspectCertificate(identity.certificatePem);
      REQUIRE(facts);
      CHECK(facts->validity.from <= now);
      CHECK(facts->validity.until > now);
    }
    CHECK(state.server.at("ca.crt") == state.client.at("ca.crt"));
    CHECK(trusts(state.authority.at("ca.crt")));
  }

  [[nodiscard]] bool trusts(const std::string& authority) const {
    return state.client.at("ca.crt").find(authority) != std::string::npos;
  }
};

TEST_CASE("From nothing everything is made once") {
  Secrets secrets;
  CHECK_FALSE(secrets.step().empty());
  CHECK(secrets.step().empty());
  const auto server = net::inspectCertificate(secrets.state.server.at("tls.crt"));
  REQUIRE(server);
  CHECK(server->dnsNames ==
        std::vector<std::string>{"trainyard-extender", "trainyard-extender.trainyard-system",
                                 "trainyard-extender.trainyard-system.svc",
                                 "trainyard-extender.trainyard-system.svc.cluster.local"});
  CHECK(server->validity.until == secrets.now + days(90));
  CHECK(secrets.state.authority.count("next.crt") == 0);
  // The authority's key is only in its own Secret.
  CHECK(secrets.state.server.count("ca.key") == 0);
}

TEST_CASE("Certificates are renewed after two thirds of their life and the authority stays") {
  Secrets secrets;
  secrets.step();
  const SecretData authority = secrets.state.authority;
  secrets.now += days(59);
  CHECK(secrets.step().empty());
  secrets.now += days(2);
  const CertificatePlan plan = secrets.step();
  CHECK(plan.server.count("tls.crt") == 1);
  CHECK(plan.client.count("tls.crt") == 1);
  CHECK(secrets.state.authority == authority);
  CHECK(secrets.step().empty());
}

TEST_CASE("A request renews only the one certificate that it is for") {
  Secrets secrets;
  secrets.step();
  secrets.state.renewClient = true;
  const CertificatePlan plan = secrets.step();
  CHECK(plan.client.count("tls.crt") == 1);
  CHECK(plan.server.empty());
  CHECK(plan.authority.empty());
}

TEST_CASE("A new authority is trusted for the overlap before it signs and the old one until its end") {
  Secrets secrets;
  secrets.step();
  const std::string first = secrets.state.authority.at("ca.crt");
  secrets.state.renewAuthority = true;
  secrets.step();
  const std::string second = secrets.state.authority.at("next.crt");
  CHECK(secrets.state.authority.at("ca.crt") == first);
  CHECK(secrets.trusts(second));
  // A repeated request creates only one successor.
  secrets.state.renewAuthority = true;
  CHECK(secrets.step().authority.empty());

  secrets.now += days(29);
  CHECK(secrets.step().empty());
  secrets.now += days(1);
  const CertificatePlan plan = secrets.step();
  CHECK(secrets.state.authority.at("ca.crt") == second);
  CHECK(plan.server.count("tls.crt") == 1);
  CHECK(secrets.trusts(first));
  CHECK(secrets.step().empty());
}

TEST_CASE("Weekly looks for five years never break trust though an authority lives for two") {
  Secrets secrets;
  secrets.options.authorityLife = days(2 * 365);
  secrets.step();
  const std::string first = secrets.state.authority.at("ca.crt");
  // A client that reads its CAs four weeks late, such as a kube-scheduler restarted every four weeks, trusts
  // the signer.
  std::string lateBundle = secrets.state.client.at("ca.crt");
  for (int week = 1; week < 5 * 52; ++week) {
    secrets.now += days(7);
    secrets.step();
    CHECK(lateBundle.find(secrets.state.authority.at("ca.crt")) != std::string::npos);
    if (week % 4 == 0) lateBundle = secrets.state.client.at("ca.crt");
  }
  CHECK(secrets.state.authority.at("ca.crt") != first);
  CHECK_FALSE(secrets.trusts(first));
}

TEST_CASE("Damaged parts are made again and what the lost authority signed stays trusted") {
  Secrets secrets;
  secrets.step();
  const std::string first = secrets.state.authority.at("ca.crt");
  SECTION("a certificate") {
    secrets.state.server["tls.key"] = "torn";
    const CertificatePlan plan = secrets.step();
    CHECK(plan.server.count("tls.crt") == 1);
    CHECK(plan.client.empty());
  }
  SECTION("the authority's key") {
    secrets.state.authority.erase("ca.key");
    secrets.step();
    CHECK(secrets.state.authority.at("ca.crt") != first);
    CHECK(secrets.trusts(first));
  }
  SECTION("everything the authority has") {
    secrets.state.authority.clear();
    secrets.step();
    CHECK(secrets.state.authority.at("ca.crt") != first);
  }
  SECTION("the list of trusted authorities") {
    secrets.state.client["ca.crt"] = "x";
    const CertificatePlan plan = secrets.step();
    CHECK(plan.client.size() == 1);
  }
  CHECK(secrets.step().empty());
}

TEST_CASE("A Service of another name gets a certificate of its own") {
  Secrets secrets;
  secrets.step();
  secrets.options.service = "another";
  const CertificatePlan plan = secrets.step();
  CHECK(plan.server.count("tls.crt") == 1);
  CHECK(plan.client.empty());
}

}  // namespace
}  // namespace trainyard::operator_
