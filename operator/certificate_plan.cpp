#include "operator/certificate_plan.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "net/certificates.h"

namespace trainyard::operator_ {
namespace {

using base::Result;
using base::WallTime;
using net::Identity;

// Clocks of other machines may be behind ours.
constexpr std::chrono::hours kBackdate{1};
constexpr std::string_view kServerName = "trainyard-extender";
constexpr std::string_view kClientName = "trainyard-extender-client";
constexpr std::string_view kAuthorityName = "trainyard-extender-ca";

std::string textOf(const SecretData& data, const std::string& key) {
  const auto found = data.find(key);
  return found == data.end() ? std::string{} : found->second;
}

Identity identityOf(const SecretData& data, const std::string& name) {
  return {textOf(data, name + ".crt"), textOf(data, name + ".key")};
}

std::optional<net::Validity> validityOf(const std::string& certificatePem) {
  const auto facts = net::inspectCertificate(certificatePem);
  return facts ? std::optional(facts->validity) : std::nullopt;
}

bool isOver(const std::string& certificatePem, WallTime now) {
  const auto validity = validityOf(certificatePem);
  return !validity || now >= validity->until;
}

bool canSign(const Identity& authority, WallTime now) {
  return !isOver(authority.certificatePem, now) && net::isIssuedBy(authority, authority.certificatePem);
}

// True if `numerator`/`denominator` of the validity period has passed.
bool isPast(const net::Validity& validity, int numerator, int denominator, WallTime now) {
  return now >= validity.from + (validity.until - validity.from) * numerator / denominator;
}

// The authorities, rotated to the state that they should have now.
struct Authorities {
  Identity active;
  Identity next;         // empty texts: none
  std::string previous;  // certificate only

  // All trusted certificates, concatenated.
  [[nodiscard]] std::string bundle() const { return active.certificatePem + next.certificatePem + previous; }

  [[nodiscard]] SecretData data() const {
    return {{"ca.crt", active.certificatePem},
            {"ca.key", active.privateKeyPem},
            {"next.crt", next.certificatePem},
            {"next.key", next.privateKeyPem},
            {"previous.crt", previous}};
  }
};

class Planner {
 public:
  Planner(const CertificateState& state, const CertificateOptions& options, WallTime now)
      : state_(state), options_(options), now_(now) {}

  Result<CertificatePlan> plan() {
    if (auto moved = moveAuthorities(); !moved) return base::fail(moved.error());
    CertificatePlan plan;
    plan.authority = changed(state_.authority, authorities_.data());
    auto server = leaf(state_.server, serverRequest(), state_.renewServer);
    if (!server) return base::fail(server.error());
    auto client = leaf(state_.client, clientRequest(), state_.renewClient);
    if (!client) return base::fail(client.error());
    plan.server = std::move(*server);
    plan.client = std::move(*client);
    return plan;
  }

 private:
  Result<void> moveAuthorities() {
    authorities_ = {identityOf(state_.authority, "ca"), identityOf(state_.authority, "next"),
                    textOf(state_.authority, "previous.crt")};
    if (isOver(authorities_.previous, now_)) authorities_.previous.clear();
    if (!canSign(authorities_.next, now_)) authorities_.next = {};
    const bool lost = !canSign(authorities_.active, now_);
    if (lost || mayTakeOver()) return takeOver();
    const auto validity = validityOf(authorities_.active.certificatePem);
    const bool due = state_.renewAuthority || !validity || isPast(*validity, 4, 5, now_);
    if (!due || !authorities_.next.certificatePem.empty()) return {};
    auto made = makeAuthority();
    if (!made) return base::fail(made.error());
    authorities_.next = std::move(*made);
    return {};
  }

  [[nodiscard]] bool mayTakeOver() const {
    const auto validity = validityOf(authorities_.next.certificatePem);
    return validity && now_ >= validity->from + kBackdate + options_.overlap;
  }

  Result<void> takeOver() {
    Identity heir = std::exchange(authorities_.next, {});
    if (heir.certificatePem.empty()) {
      auto made = makeAuthority();
      if (!made) return base::fail(made.error());
      heir = std::move(*made);
    }
    // An authority without its key stays trusted, because certificates that it signed are in use.
    const std::string before = std::exchange(authorities_.active, std::move(heir)).certificatePem;
    if (!isOver(before, now_)) authorities_.previous = before;
    return {};
  }

  [[nodiscard]] Result<Identity> makeAuthority() const {
    return net::makeAuthority(std::string(kAuthorityName), {now_ - kBackdate, now_ + options_.authorityLife});
  }

  [[nodiscard]] net::CertificateRequest serverRequest() const {
    const std::string inNamespace = options_.service + "." + options_.ns;
    return {
        .commonName = std::string(kServerName),
        .use = net::CertificateUse::kServer,
        .dnsNames = {options_.service, inNamespace, inNamespace + ".svc", inNamespace + ".svc.cluster.local"},
        .validity = leafValidity()};
  }
  [[nodiscard]] net::CertificateRequest clientRequest() const {
    return {.commonName = std::string(kClientName),
            .use = net::CertificateUse::kClient,
            .validity = leafValidity()};
  }
  [[nodiscard]] net::Validity leafValidity() const { return {now_ - kBackdate, now_ + options_.leafLife}; }

  // Returns the keys to set in the Secret of one certificate.
  [[nodiscard]] Result<SecretData> leaf(const SecretData& have, const net::CertificateRequest& request,
                                        bool renew) const {
    SecretData want{{"ca.crt", authorities_.bundle()}};
    if (renew || !isGood(identityOf(have, "tls"), request)) {
      auto issued = net::issueCertificate(authorities_.active, request);
      if (!issued) return base::fail(issued.error());
      want["tls.crt"] = std::move(issued->certificatePem);
      want["tls.key"] = std::move(issued->privateKeyPem);
    }
    return changed(have, want);
  }

  [[nodiscard]] bool isGood(const Identity& identity, const net::CertificateRequest& request) const {
    const auto facts = net::inspectCertificate(identity.certificatePem);
    return facts && facts->commonName == request.commonName && facts->dnsNames == request.dnsNames &&
           now_ >= facts->validity.from && !isPast(facts->validity, 2, 3, now_) &&
           net::isIssuedBy(identity, authorities_.active.certificatePem);
  }

  static SecretData changed(const SecretData& have, const SecretData& want) {
    SecretData changes;
    for (const auto& [key, text] : want) {
      if (textOf(have, key) != text) changes.emplace(key, text);
    }
    return changes;
  }

  const CertificateState& state_;
  const CertificateOptions& options_;
  WallTime now_;
  Authorities authorities_;
};

}  // namespace

Result<CertificatePlan> planCertificates(const CertificateState& state, const CertificateOptions& options,
                                         WallTime now) {
  return Planner(state, options, now).plan();
}

}  // namespace trainyard::operator_
