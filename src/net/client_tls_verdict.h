#pragma once

#include <mutex>
#include <string>

// OpenSSL's name of X509_STORE_CTX, declared here so that its headers stay in .cpp files.
struct x509_store_ctx_st;

namespace trainyard::net {

// Keeps why the last certificate was refused: the handshake itself reports only the refusal. Thread-safe.
class TlsVerdict {
 public:
  // For SSL_CTX_set_cert_verify_callback(); `self`: the TlsVerdict.
  static int verify(x509_store_ctx_st* context, void* self);

  // Empty if none was refused.
  [[nodiscard]] std::string get() const;

 private:
  void set(std::string text);

  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace trainyard::net
