#include "net/certificates.h"

#include <ctime>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "net/openssl.h"

namespace trainyard::net {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

using BigPtr = std::unique_ptr<BIGNUM, Freer<BN_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;

tl::unexpected<base::Error> refuse(ErrorCode code, std::string_view what) {
  const std::string error = takeOpensslError();
  return fail(code, fmt::format("{}{}{}", what, error.empty() ? "" : ": ", error));
}

CertPtr readCertificate(std::string_view pem) { return readCertificate(readFrom(pem)); }

std::string textOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size <= 0 ? std::string{} : std::string(data, static_cast<std::size_t>(size));
}

std::string certificateText(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  return bio && PEM_write_bio_X509(bio.get(), certificate) == 1 ? textOf(bio.get()) : std::string{};
}

std::string keyText(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  const bool good =
      bio && PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
  return good ? textOf(bio.get()) : std::string{};
}

std::time_t secondsOf(base::WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

bool setValidity(X509* certificate, const Validity& validity) {
  return ASN1_TIME_set(X509_getm_notBefore(certificate), secondsOf(validity.from)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), secondsOf(validity.until)) != nullptr;
}

bool setSerial(X509* certificate) {
  const BigPtr number(BN_new());
  return number && BN_rand(number.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool setName(X509* certificate, const std::string& commonName) {
  return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(commonName.data()),
                                    static_cast<int>(commonName.size()), -1, 0) == 1;
}

bool addExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// Adds name by name, because in one text a comma would start another name.
bool addDnsNames(X509* certificate, const std::vector<std::string>& dnsNames) {
  if (dnsNames.empty()) return true;
  const NamesPtr names(GENERAL_NAMES_new());
  for (const std::string& dnsName : dnsNames) {
    GENERAL_NAME* name = GENERAL_NAME_new();
    ASN1_IA5STRING* text = ASN1_IA5STRING_new();
    const bool good = names && name != nullptr && text != nullptr &&
                      ASN1_STRING_set(text, dnsName.data(), static_cast<int>(dnsName.size())) == 1;
    if (!good) {
      ASN1_IA5STRING_free(text);
      GENERAL_NAME_free(name);
      return false;
    }
    GENERAL_NAME_set0_value(name, GEN_DNS, text);
    if (sk_GENERAL_NAME_push(names.get(), name) <= 0) {
      GENERAL_NAME_free(name);
      return false;
    }
  }
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) == 1;
}

// Sets subject, validity, key and serial number; the caller adds the rest and signs.
CertPtr begin(const std::string& commonName, const Validity& validity, EVP_PKEY* key) {
  CertPtr certificate(X509_new());
  const bool good = certificate && key != nullptr &&
                    X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
                    setSerial(certificate.get()) && setValidity(certificate.get(), validity) &&
                    setName(certificate.get(), commonName) && X509_set_pubkey(certificate.get(), key) == 1;
  return good ? std::move(certificate) : nullptr;
}

Result<Identity> finish(X509* certificate, EVP_PKEY* key, EVP_PKEY* signer) {
  if (X509_sign(certificate, signer, EVP_sha256()) <= 0) return refuse(ErrorCode::kInternal, "cannot sign");
  Identity identity{certificateText(certificate), keyText(key)};
  if (identity.certificatePem.empty() || identity.privateKeyPem.empty()) {
    return refuse(ErrorCode::kInternal, "cannot write PEM");
  }
  return identity;
}

std::optional<base::WallTime> timeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return base::WallTime(std::chrono::seconds(timegm(&parts)));
}

std::string toText(const ASN1_STRING* value) {
  unsigned char* text = nullptr;
  const int length = ASN1_STRING_to_UTF8(&text, value);
  if (length < 0) return {};
  std::string copy(reinterpret_cast<const char*>(text), static_cast<std::size_t>(length));
  OPENSSL_free(text);
  return copy;
}

std::string commonNameOf(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  return index < 0 ? std::string{} : toText(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)));
}

std::vector<std::string> dnsNamesOf(const X509* certificate) {
  std::vector<std::string> found;
  const NamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int type = 0;
    const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type);
    if (type == GEN_DNS) found.push_back(toText(static_cast<const ASN1_STRING*>(value)));
  }
  return found;
}

}  // namespace

Result<Identity> makeAuthority(const std::string& commonName, Validity validity) {
  ERR_clear_error();
  const KeyPtr key(EVP_EC_gen("P-256"));
  const CertPtr certificate = begin(commonName, validity, key.get());
  if (!certificate) return refuse(ErrorCode::kInternal, "cannot make an authority");
  X509* self = certificate.get();
  const bool good = X509_set_issuer_name(self, X509_get_subject_name(self)) == 1 &&
                    addExtension(self, self, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    addExtension(self, self, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                    addExtension(self, self, NID_subject_key_identifier, "hash");
  if (!good) return refuse(ErrorCode::kInternal, "cannot make an authority");
  return finish(self, key.get(), key.get());
}

Result<Identity> issueCertificate(const Identity& authority, const CertificateRequest& request) {
  ERR_clear_error();
  const CertPtr issuer = readCertificate(authority.certificatePem);
  const KeyPtr issuerKey = readKey(authority.privateKeyPem);
  if (!issuer || !issuerKey || X509_check_private_key(issuer.get(), issuerKey.get()) != 1) {
    return refuse(ErrorCode::kInvalid, "the authority's certificate and key cannot be used");
  }
  const KeyPtr key(EVP_EC_gen("P-256"));
  const CertPtr certificate = begin(request.commonName, request.validity, key.get());
  if (!certificate) return refuse(ErrorCode::kInternal, "cannot make a certificate");
  X509* leaf = certificate.get();
  const char* use = request.use == CertificateUse::kServer ? "serverAuth" : "clientAuth";
  const bool good = X509_set_issuer_name(leaf, X509_get_subject_name(issuer.get())) == 1 &&
                    addExtension(leaf, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                    addExtension(leaf, issuer.get(), NID_key_usage, "critical,digitalSignature") &&
                    addExtension(leaf, issuer.get(), NID_ext_key_usage, use) &&
                    addExtension(leaf, issuer.get(), NID_authority_key_identifier, "keyid") &&
                    addDnsNames(leaf, request.dnsNames);
  if (!good) return refuse(ErrorCode::kInternal, "cannot make a certificate");
  return finish(leaf, key.get(), issuerKey.get());
}

Result<CertificateFacts> inspectCertificate(const std::string& certificatePem) {
  ERR_clear_error();
  const CertPtr certificate = readCertificate(certificatePem);
  if (!certificate) return refuse(ErrorCode::kInvalid, "no PEM certificate");
  const auto from = timeOf(X509_get0_notBefore(certificate.get()));
  const auto until = timeOf(X509_get0_notAfter(certificate.get()));
  if (!from || !until) return refuse(ErrorCode::kInvalid, "a certificate without times");
  return CertificateFacts{commonNameOf(certificate.get()), dnsNamesOf(certificate.get()), {*from, *until}};
}

bool isIssuedBy(const Identity& identity, const std::string& authorityPem) {
  const CertPtr certificate = readCertificate(identity.certificatePem);
  const KeyPtr key = readKey(identity.privateKeyPem);
  const CertPtr authority = readCertificate(authorityPem);
  const bool good = certificate && key && authority &&
                    X509_check_private_key(certificate.get(), key.get()) == 1 &&
                    X509_verify(certificate.get(), X509_get0_pubkey(authority.get())) == 1;
  ERR_clear_error();
  return good;
}

}  // namespace trainyard::net
