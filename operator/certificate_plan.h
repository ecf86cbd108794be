#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/error.h"
#include "base/time.h"

namespace trainyard::operator_ {

struct CertificateOptions {
  std::string service;  // of the extender; its DNS names are in the server's certificate
  std::string ns;
  std::chrono::hours leafLife{90 * 24};
  std::chrono::hours authorityLife{10 * 365 * 24};
  // How long a new authority is only trusted before it signs. kube-scheduler reads its CA file only when it
  // starts, so it must be restarted within this time.
  std::chrono::hours overlap{30 * 24};
};

// The data of a Secret: decoded texts by key.
using SecretData = std::map<std::string, std::string>;

// What the Secrets hold, and which of them users asked to renew.
//   authority: ca.crt and ca.key, which sign; next.crt and next.key, which will sign; previous.crt, which did
//   server, client: tls.crt, tls.key, and ca.crt, the trusted authorities
struct CertificateState {
  SecretData authority;
  SecretData server;
  SecretData client;
  bool renewAuthority = false;
  bool renewServer = false;
  bool renewClient = false;
};

// The keys to set. An empty text removes a key; an empty map leaves the Secret unchanged.
struct CertificatePlan {
  SecretData authority;
  SecretData server;
  SecretData client;

  [[nodiscard]] bool empty() const { return authority.empty() && server.empty() && client.empty(); }
};

// Replaces what is missing, unusable, past two thirds of its life (an authority: past four fifths) or asked
// for. A client that follows the Secrets never meets a certificate that it does not trust. A new authority is
// trusted for the overlap before it signs, an old one while it is valid. Depends on no state but the Secrets,
// so every leader reaches the same plan. Keys are random, so this is no pure function.
[[nodiscard]] base::Result<CertificatePlan> planCertificates(const CertificateState& state,
                                                             const CertificateOptions& options,
                                                             base::WallTime now);

}  // namespace trainyard::operator_
