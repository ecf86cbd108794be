#include "net/server_tls.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include "net/tls_material.h"

namespace trainyard::net {

namespace asio = boost::asio;
using base::ErrorCode;
using base::fail;
using base::Result;

Result<std::shared_ptr<asio::ssl::context>> makeServerTlsContext(const TlsServerConfig& config) {
  const auto material = TlsMaterial::forServer(config);
  if (!material) return fail(material.error());
  try {
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    if (const auto applied = (*material)->applyTo(context->native_handle()); !applied)
      return fail(applied.error());
    SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // Idle connections keep no record buffers (34 KB each).
    SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    return context;
  } catch (const std::exception& problem) {
    return fail(ErrorCode::kInternal, fmt::format("TLS context: {}", problem.what()));
  }
}

std::string commonNameOf(SSL* ssl) {
  const X509* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return {};
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (index < 0) return {};
  unsigned char* text = nullptr;
  const int length =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)));
  if (length < 0) return {};
  std::string name(reinterpret_cast<const char*>(text), static_cast<std::size_t>(length));
  OPENSSL_free(text);
  // "admin\0.evil" must never be read as "admin".
  return name.find('\0') == std::string::npos ? name : std::string{};
}

}  // namespace trainyard::net
