#pragma once

// Internal to src/net: owners of OpenSSL's objects, PEM texts and errors, for the files that call OpenSSL.

#include <array>
#include <climits>
#include <memory>
#include <string>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace trainyard::net {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using BioPtr = std::unique_ptr<BIO, Freer<BIO_free>>;
using CertPtr = std::unique_ptr<X509, Freer<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;

// Returns OpenSSL's text of its last error; "" if there was none. Clears this thread's queue, so that a later
// call does not report an old error.
inline std::string takeOpensslError() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "";
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

// A pem_password_cb that never prompts on the terminal for the password of an encrypted key.
inline int refusePassword(char*, int, int, void*) { return -1; }

// Reads the text in place; null if it is too long for OpenSSL.
inline BioPtr readFrom(std::string_view pem) {
  if (pem.size() > INT_MAX) return nullptr;
  return BioPtr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// Return the next certificate or the key of a PEM text; null if there is none.
inline CertPtr readCertificate(const BioPtr& bio) {
  return CertPtr(bio ? PEM_read_bio_X509(bio.get(), nullptr, refusePassword, nullptr) : nullptr);
}
inline KeyPtr readKey(std::string_view pem) {
  const BioPtr bio = readFrom(pem);
  return KeyPtr(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, refusePassword, nullptr) : nullptr);
}

}  // namespace trainyard::net
