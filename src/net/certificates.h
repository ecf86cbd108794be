#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace trainyard::net {

// A certificate with its private key, as PEM. Keys are EC P-256, signatures SHA-256.
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
  std::vector<std::string> dnsNames = {};  // of a server certificate
  Validity validity;
};

// The fields of a certificate that are checked before it is used or renewed.
struct CertificateFacts {
  std::string commonName;
  std::vector<std::string> dnsNames;
  Validity validity;
};

// Returns a self-signed authority that may sign certificates, but no further authorities. kInternal with
// OpenSSL's message.
[[nodiscard]] base::Result<Identity> makeAuthority(const std::string& commonName, Validity validity);

// kInvalid if the authority's texts are unusable, kInternal if OpenSSL fails.
[[nodiscard]] base::Result<Identity> issueCertificate(const Identity& authority,
                                                      const CertificateRequest& request);

// Inspects the first certificate in the text; kInvalid if there is none.
[[nodiscard]] base::Result<CertificateFacts> inspectCertificate(const std::string& certificatePem);

// Returns true if the certificate and the key are readable and match, and the authority signed the
// certificate.
[[nodiscard]] bool isIssuedBy(const Identity& identity, const std::string& authorityPem);

}  // namespace trainyard::net
