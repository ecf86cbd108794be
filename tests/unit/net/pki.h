#pragma once

#include <string>
#include <vector>

#include "net/tls.h"

namespace trainyard::net::test {

struct Certificate {
  std::string certificatePem;
  std::string keyPem;
};

// A certificate authority for the duration of a test. Throws std::runtime_error if OpenSSL fails.
class Pki {
 public:
  explicit Pki(const std::string& name = "test CA");

  [[nodiscard]] const std::string& caPem() const { return ca_.certificatePem; }
  // `alternativeNames` in OpenSSL's notation: "IP:127.0.0.1", "DNS:localhost".
  [[nodiscard]] Certificate issue(const std::string& commonName,
                                  const std::vector<std::string>& alternativeNames = {"IP:127.0.0.1"}) const;

 private:
  Certificate ca_;
};

[[nodiscard]] inline TlsServerConfig serverTls(const Certificate& identity, std::string clientCaPem = {}) {
  return {.certificatePem = identity.certificatePem,
          .privateKeyPem = identity.keyPem,
          .clientCaPem = clientCaPem};
}

}  // namespace trainyard::net::test
