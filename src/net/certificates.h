#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace trainyard::net {

// A certificate with its private key, PEM. Keys are EC P-256, signatures SHA-256.
struct Identity {
  std::string certificatePem;
  std::string privateKeyPem;
};

struct Validity {
  base::WallTime from;
  base::WallTime until;
};

enum class CertificateUse { kServer, kClient };

struct CertificateRequest {
  std::string commonName;  // at most 64 bytes
  CertificateUse use = CertificateUse::kServer;
  std::vector<std::string> dnsNames = {};  // of a server
  Validity validity;
};

// What is to be known of a certificate before it is used or renewed.
struct CertificateFacts {
  std::string commonName;
  std::vector<std::string> dnsNames;
  Validity validity;
};

// A self-signed authority that may sign certificates, but no further authorities. kInternal with OpenSSL's
// words.
[[nodiscard]] base::Result<Identity> makeAuthority(const std::string& commonName, Validity validity);

// kInvalid when the authority's texts cannot be used, kInternal when OpenSSL refuses.
[[nodiscard]] base::Result<Identity> issueCertificate(const Identity& authority,
                                                      const CertificateRequest& request);

// Of the first certificate in the text; kInvalid when there is none.
[[nodiscard]] base::Result<CertificateFacts> inspectCertificate(const std::string& certificatePem);

// The certificate and the key can be read and belong together, and the certificate was signed by the
// authority.
[[nodiscard]] bool isIssuedBy(const Identity& identity, const std::string& authorityPem);

}  // namespace trainyard::net
