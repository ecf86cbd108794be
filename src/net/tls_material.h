#pragma once

#include <memory>

#include "base/error.h"
#include "net/tls.h"

// OpenSSL's own name of SSL_CTX, declared here so that its headers stay in .cpp files.
struct ssl_ctx_st;

namespace trainyard::net {

// PEM texts parsed once, to be put into any number of OpenSSL contexts: a client makes a context per
// connection. Immutable, so threads may share it.
class TlsMaterial {
 public:
  // kInvalid names the text that cannot be used: CA bundle, certificate, private key, or their not matching.
  [[nodiscard]] static base::Result<std::shared_ptr<const TlsMaterial>> forClient(
      const TlsClientConfig& config);
  [[nodiscard]] static base::Result<std::shared_ptr<const TlsMaterial>> forServer(
      const TlsServerConfig& config);

  ~TlsMaterial();
  TlsMaterial(const TlsMaterial&) = delete;
  TlsMaterial& operator=(const TlsMaterial&) = delete;

  // Installs CAs, certificate and key, and TLS 1.2 as the oldest version. Whatever the context trusted before
  // is dropped. kInternal with OpenSSL's own words when it refuses.
  [[nodiscard]] base::Result<void> applyTo(ssl_ctx_st* context) const;

 private:
  struct Parts;
  explicit TlsMaterial(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::net
