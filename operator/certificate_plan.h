#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/error.h"
#include "base/time.h"

namespace trainyard::operator_ {

struct CertificateOptions {
  std::string service;  // of the extender: its names stand in the server's certificate
  std::string ns;
  std::chrono::hours leafLife{90 * 24};
  std::chrono::hours authorityLife{10 * 365 * 24};
  // How long a new authority is only trusted before it signs. kube-scheduler reads its CA file when it starts
  // and never again, so this is the time in which it must have been started anew.
  std::chrono::hours overlap{30 * 24};
};

// The data of a Secret: decoded texts by key.
using SecretData = std::map<std::string, std::string>;

// What the Secrets hold, and whom people asked to renew.
//   authority: ca.crt and ca.key, which sign; next.crt and next.key, which will; previous.crt, which did
//   server, client: tls.crt, tls.key, and ca.crt, whom to trust
struct CertificateState {
  SecretData authority;
  SecretData server;
  SecretData client;
  bool renewAuthority = false;
  bool renewServer = false;
  bool renewClient = false;
};

// The keys to set; an empty text removes one, an empty map means that the Secret is as it should be.
struct CertificatePlan {
  SecretData authority;
  SecretData server;
  SecretData client;

  [[nodiscard]] bool empty() const { return authority.empty() && server.empty() && client.empty(); }
};

// Makes what is missing, unusable, past two thirds of its life (an authority: past four fifths) or asked for.
// Nobody who follows the Secrets, at whatever moment, meets a certificate that it does not trust: a new
// authority is trusted for the overlap before it signs, an old one for as long as it is valid. Asks for no
// state but the Secrets: every leader comes to the same plan. Keys are random, so this is no pure function.
[[nodiscard]] base::Result<CertificatePlan> planCertificates(const CertificateState& state,
                                                             const CertificateOptions& options,
                                                             base::WallTime now);

}  // namespace trainyard::operator_
