#include "net/tls_material.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/ssl.h>

#include "net/openssl.h"

namespace trainyard::net {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

using StorePtr = std::unique_ptr<X509_STORE, Freer<X509_STORE_free>>;

// Returns OpenSSL's last error, or a default text.
std::string opensslReason() {
  std::string error = takeOpensslError();
  return error.empty() ? "no reason given" : error;
}

Result<std::vector<CertPtr>> parseCertificates(std::string_view pem, std::string_view what) {
  const BioPtr bio = readFrom(pem);
  std::vector<CertPtr> certificates;
  while (CertPtr certificate = readCertificate(bio)) {
    certificates.push_back(std::move(certificate));
  }
  // The loop always ends with an error; only "no more PEM blocks" means that the whole text was read.
  const bool readAll = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string reason = opensslReason();
  if (!readAll) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{}: certificate {} is unreadable: {}", what, certificates.size() + 1, reason));
  }
  if (certificates.empty())
    return fail(ErrorCode::kInvalid, fmt::format("{}: holds no PEM certificate", what));
  return certificates;
}

Result<KeyPtr> parseKey(std::string_view pem, std::string_view what) {
  KeyPtr key = readKey(pem);
  const std::string reason = opensslReason();
  if (!key) return fail(ErrorCode::kInvalid, fmt::format("{}: unreadable PEM private key: {}", what, reason));
  return key;
}

StorePtr storeOf(const std::vector<CertPtr>& certificates) {
  StorePtr store(X509_STORE_new());
  for (const auto& certificate : certificates) {
    if (store && X509_STORE_add_cert(store.get(), certificate.get()) != 1) store.reset();
  }
  return store;
}

}  // namespace

struct TlsMaterial::Parts {
  StorePtr trusted;            // may be null: the peer's certificate is not verified
  std::vector<CertPtr> cas;    // server only: the CA names that it sends to clients
  std::vector<CertPtr> chain;  // own chain, leaf first
  KeyPtr key;
  bool requireClientCertificate = false;

  [[nodiscard]] Result<void> readIdentity(std::string_view certificatePem, std::string_view keyPem,
                                          std::string_view owner) {
    auto certificates = parseCertificates(certificatePem, fmt::format("{} certificate", owner));
    if (!certificates) return fail(std::move(certificates.error()));
    auto parsedKey = parseKey(keyPem, fmt::format("{} private key", owner));
    if (!parsedKey) return fail(std::move(parsedKey.error()));
    const bool match = X509_check_private_key(certificates->front().get(), parsedKey->get()) == 1;
    ERR_clear_error();
    if (!match) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("{} certificate and private key do not belong together", owner));
    }
    chain = std::move(*certificates);
    key = std::move(*parsedKey);
    return {};
  }
};

TlsMaterial::TlsMaterial(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TlsMaterial::~TlsMaterial() = default;

Result<std::shared_ptr<const TlsMaterial>> TlsMaterial::forClient(const TlsClientConfig& config) {
  auto parts = std::make_unique<Parts>();
  if (config.caPem.empty()) {
    parts->trusted.reset(X509_STORE_new());
    // A machine without a bundle trusts no CA; the handshake then fails with that reason.
    if (parts->trusted) X509_STORE_set_default_paths(parts->trusted.get());
    ERR_clear_error();
  } else {
    auto cas = parseCertificates(config.caPem, "CA bundle");
    if (!cas) return fail(std::move(cas.error()));
    parts->trusted = storeOf(*cas);
  }
  if (!parts->trusted) return fail(ErrorCode::kInvalid, "CA bundle: " + opensslReason());
  if (config.certificatePem.empty() != config.privateKeyPem.empty()) {
    return fail(ErrorCode::kInvalid, "client certificate and private key must be given together");
  }
  if (!config.certificatePem.empty()) {
    auto read = parts->readIdentity(config.certificatePem, config.privateKeyPem, "client");
    if (!read) return fail(std::move(read.error()));
  }
  return std::shared_ptr<const TlsMaterial>(new TlsMaterial(std::move(parts)));
}

Result<std::shared_ptr<const TlsMaterial>> TlsMaterial::forServer(const TlsServerConfig& config) {
  auto parts = std::make_unique<Parts>();
  auto read = parts->readIdentity(config.certificatePem, config.privateKeyPem, "server");
  if (!read) return fail(std::move(read.error()));
  if (!config.clientCaPem.empty()) {
    auto cas = parseCertificates(config.clientCaPem, "client CA bundle");
    if (!cas) return fail(std::move(cas.error()));
    parts->trusted = storeOf(*cas);
    if (!parts->trusted) return fail(ErrorCode::kInvalid, "client CA bundle: " + opensslReason());
    parts->cas = std::move(*cas);
    parts->requireClientCertificate = true;
  }
  return std::shared_ptr<const TlsMaterial>(new TlsMaterial(std::move(parts)));
}

Result<void> TlsMaterial::applyTo(ssl_ctx_st* context) const {
  ERR_clear_error();
  bool good = SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
  if (parts_->trusted) SSL_CTX_set1_cert_store(context, parts_->trusted.get());
  if (!parts_->chain.empty()) {
    good = good && SSL_CTX_use_certificate(context, parts_->chain.front().get()) == 1;
    for (std::size_t i = 1; i < parts_->chain.size(); ++i) {
      good = good && SSL_CTX_add1_chain_cert(context, parts_->chain[i].get()) == 1;
    }
    good = good && SSL_CTX_use_PrivateKey(context, parts_->key.get()) == 1;
  }
  if (parts_->requireClientCertificate) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    for (const auto& ca : parts_->cas) good = good && SSL_CTX_add_client_CA(context, ca.get()) == 1;
    // Without an id context, OpenSSL refuses every resumed session of a client with a certificate.
    constexpr std::string_view kSessionContext = "trainyard";
    good = good && SSL_CTX_set_session_id_context(
                       context, reinterpret_cast<const unsigned char*>(kSessionContext.data()),
                       kSessionContext.size()) == 1;
  }
  if (!good) return fail(ErrorCode::kInternal, "TLS context: " + opensslReason());
  return {};
}

}  // namespace trainyard::net
