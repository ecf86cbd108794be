#include "net/client_transport.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "net/client_url.h"

namespace trainyard::net {
namespace {

using base::ErrorCode;

// cpprestsdk's own timeout restarts with every chunk; it must never expire before those of the operations.
constexpr std::chrono::hours kLibraryTimeout{24};
constexpr std::size_t kChunkBytes = 1u << 20;

// cpprestsdk passes the host unchanged to the resolver, which accepts an IPv6 address without brackets only.
// A proxy resolves the host itself.
web::uri dialledUrl(const ClientOptions& options) {
  const web::uri url(options.url);
  const std::string host = bareHost(options.url);
  if (!isIpv6(host) || !options.proxy.empty()) return url;
  return web::uri_builder(url).set_host(host).to_uri();
}

}  // namespace

ClientTransport::ClientTransport(const ClientOptions& options, std::shared_ptr<const TlsMaterial> tls)
    : options_(options),
      hostHeader_(hostHeader(options)),
      verdict_(std::make_shared<TlsVerdict>()),
      client_(makeClient(std::move(tls))) {}

void ClientTransport::useTls(std::shared_ptr<const TlsMaterial> tls) {
  auto fresh = makeClient(std::move(tls));
  const std::lock_guard lock(mutex_);
  client_.swap(fresh);
}

std::shared_ptr<ClientTransport::Client> ClientTransport::makeClient(
    std::shared_ptr<const TlsMaterial> tls) const {
  return std::make_shared<Client>(dialledUrl(options_), makeConfig(std::move(tls)));
}

std::shared_ptr<ClientTransport::Client> ClientTransport::client() {
  const std::lock_guard lock(mutex_);
  return client_;
}

web::http::client::http_client_config ClientTransport::makeConfig(
    std::shared_ptr<const TlsMaterial> tls) const {
  web::http::client::http_client_config config;
  config.set_timeout(kLibraryTimeout);
  config.set_chunksize(kChunkBytes);
  // Following a redirect would send the Authorization header to any host that it names.
  config.set_max_redirects(0);
  if (!options_.proxy.empty()) config.set_proxy(web::web_proxy(web::uri(options_.proxy)));
  if (!tls) return config;
  const bool verify = !options_.tls->insecureSkipVerify;
  config.set_validate_certificates(verify);
  const std::string& name = options_.tls->serverName;
  boost::system::error_code notAnAddress;
  boost::asio::ip::make_address(name.empty() ? bareHost(options_.url) : name, notAnAddress);
  config.set_tlsext_sni_enabled(notAnAddress.failed());
  config.set_ssl_context_callback(
      [tls = std::move(tls), verdict = verdict_](boost::asio::ssl::context& context) {
        if (const auto applied = tls->applyTo(context.native_handle()); !applied) {
          throw std::runtime_error(applied.error().message);
        }
        SSL_CTX_set_cert_verify_callback(context.native_handle(), TlsVerdict::verify, verdict.get());
      });
  return config;
}

pplx::task<web::http::http_response> ClientTransport::start(const HttpRequest& request,
                                                            const std::shared_ptr<BodySource>& source,
                                                            BodySink::Take take,
                                                            const pplx::cancellation_token& token) {
  try {
    web::http::http_request message{std::string(toString(request.method))};
    message.set_request_uri(web::uri(request.target));
    if (request.method != Method::kGet || source->length() > 0) {
      message.set_body(Concurrency::streams::streambuf<std::uint8_t>(source).create_istream(),
                       source->length());
      message.headers().remove("Content-Type");
    }
    for (const auto& [name, value] : request.headers) message.headers().add(name, value);
    if (!message.headers().has("User-Agent")) message.headers().add("User-Agent", "trainyard");
    if (!hostHeader_.empty()) message.headers().add("Host", hostHeader_);
    message.set_response_stream(
        Concurrency::streams::streambuf<std::uint8_t>(std::make_shared<BodySink>(std::move(take)))
            .create_ostream());
    return client()->request(message, token);
  } catch (...) {
    return pplx::task_from_exception<web::http::http_response>(std::current_exception());
  }
}

base::Error ClientTransport::errorFrom(std::exception_ptr exception, const BodySource& source) const {
  // cpprestsdk's error codes are unspecific, so its messages decide; messages that may have other causes
  // count as an unknown outcome.
  constexpr std::array<std::string_view, 4> kBeforeSending = {
      "Error resolving address", "Failed to resolve address", "Failed to connect to any resolved endpoint",
      "Error in SSL handshake"};
  base::Error error{.code = source.untouched() ? ErrorCode::kUnavailable : ErrorCode::kOutcomeUnknown,
                    .message = {}};
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const web::http::http_exception& problem) {
    error.message = problem.what();
    // Followed by the proxy's answer to CONNECT.
    const bool byProxy = error.message.starts_with("Expected a 200 response from proxy");
    if (byProxy ||
        std::find(kBeforeSending.begin(), kBeforeSending.end(), error.message) != kBeforeSending.end()) {
      error.code = ErrorCode::kUnavailable;
    }
    if (error.message == kBeforeSending.back()) {
      const char* reason = ERR_reason_error_string(static_cast<unsigned long>(problem.error_code().value()));
      const std::string verdict = verdict_->get();
      error.message = fmt::format("TLS handshake failed{}{}{}{}", reason ? ": " : "", reason ? reason : "",
                                  verdict.empty() ? "" : ": ", verdict);
    }
  } catch (const web::uri_exception& problem) {
    error = {.code = ErrorCode::kInvalid, .message = problem.what()};
  } catch (const std::exception& problem) {
    error.message = problem.what();
  } catch (...) {
    error.message = "unknown failure";
  }
  return error;
}

HttpResponse headOf(const web::http::http_response& response) {
  HttpResponse head;
  head.status = response.status_code();
  for (const auto& [name, value] : response.headers()) head.headers.emplace_back(name, value);
  return head;
}

}  // namespace trainyard::net
