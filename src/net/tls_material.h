#pragma once

#include <memory>

#include "base/error.h"
#include "net/tls.h"

// OpenSSL's name of SSL_CTX, declared here so that its headers stay in .cpp files.
struct ssl_ctx_st;

namespace trainyard::net {

// PEM texts that are parsed once for any number of OpenSSL contexts, because a client makes a context per
// connection. Immutable, so threads may share it.
class TlsMaterial {
 public:
  // kInvalid names the unusable text: CA bundle, certificate, private key, or a mismatch of the latter two.
  [[nodiscard]] static base::Result<std::shared_ptr<const TlsMaterial>> forClient(
      const TlsClientConfig& config);
  [[nodiscard]] static base::Result<std::shared_ptr<const TlsMaterial>> forServer(
      const TlsServerConfig& config);

  ~TlsMaterial();
  TlsMaterial(const TlsMaterial&) = delete;
  TlsMaterial& operator=(const TlsMaterial&) = delete;

  // Installs CAs, certificate and key, and TLS 1.2 as the minimum version. The context's earlier trusted CAs
  // are dropped. kInternal with OpenSSL's message if it fails.
  [[nodiscard]] base::Result<void> applyTo(ssl_ctx_st* context) const;

 private:
  struct Parts;
  explicit TlsMaterial(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::net
