#include "tests/unit/net/pki.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace trainyard::net::test {
namespace {

struct Free {
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using CertPtr = std::unique_ptr<X509, Free>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
using BioPtr = std::unique_ptr<BIO, Free>;

void need(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("test certificates: ") + what);
}

template <typename Write>
std::string toPem(Write write) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  need(write(bio.get()) == 1, "cannot write PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

CertPtr readCertificate(const std::string& pem) {
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return CertPtr(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

KeyPtr readKey(const std::string& pem) {
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return KeyPtr(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
}

void addExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  need(extension != nullptr, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Makes a certificate signed by `issuer`, or a self-signed one if that is null.
Certificate make(const std::string& commonName, const std::vector<std::string>& alternativeNames,
                 const Certificate* issuer) {
  static std::atomic<long> serial{1};
  const KeyPtr key(EVP_EC_gen("P-256"));
  const CertPtr certificate(X509_new());
  need(key && certificate, "out of memory");
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86400);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(commonName.data()),
                             static_cast<int>(commonName.size()), -1, 0);
  const CertPtr issuerCertificate = issuer ? readCertificate(issuer->certificatePem) : nullptr;
  const KeyPtr issuerKey = issuer ? readKey(issuer->keyPem) : nullptr;
  X509* signer = issuer ? issuerCertificate.get() : certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  addExtension(certificate.get(), signer, NID_basic_constraints, issuer ? "CA:FALSE" : "critical,CA:TRUE");
  if (!alternativeNames.empty()) {
    std::string joined;
    for (const auto& name : alternativeNames) joined += (joined.empty() ? "" : ",") + name;
    addExtension(certificate.get(), signer, NID_subject_alt_name, joined);
  }
  need(X509_sign(certificate.get(), issuer ? issuerKey.get() : key.get(), EVP_sha256()) > 0, "cannot sign");
  return {.certificatePem = toPem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); }),
          .keyPem = toPem([&](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace

Pki::Pki(const std::string& name) : ca_(make(name, {}, nullptr)) {}

Certificate Pki::issue(const std::string& commonName,
                       const std::vector<std::string>& alternativeNames) const {
  return make(commonName, alternativeNames, &ca_);
}

}  // namespace trainyard::net::test
