#include "net/client_tls_verdict.h"

#include <utility>

#include <openssl/x509_vfy.h>

namespace trainyard::net {

int TlsVerdict::verify(X509_STORE_CTX* context, void* self) {
  const int good = X509_verify_cert(context);
  if (good != 1) {
    const int error = X509_STORE_CTX_get_error(context);
    // cpprestsdk's check of the name refuses without a reason.
    const bool unnamed = error == X509_V_OK || error == X509_V_ERR_UNSPECIFIED;
    static_cast<TlsVerdict*>(self)->set(unnamed ? "the certificate is not for this name"
                                                : X509_verify_cert_error_string(error));
  }
  return good;
}

std::string TlsVerdict::get() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

void TlsVerdict::set(std::string text) {
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
}

}  // namespace trainyard::net
