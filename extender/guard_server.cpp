#include "extender/guard_server.h"

#include <cstddef>

#include "net/listen_address.h"
#include "telemetry/certificate_expiry.h"

namespace trainyard::extender {
namespace {

// Large enough for the names of 20,000 nodes, small enough to bound what a hostile client costs.
constexpr std::size_t kMaxRequestBytes = 8u << 20;
constexpr std::size_t kMaxRequestsBytes = 32u << 20;

}  // namespace

base::Result<void> GuardServer::start(base::Executor& executor, const base::Logger& log) {
  // Without a client CA, every client would get answers.
  if (options_.tls.clientCa.empty()) return base::fail(base::ErrorCode::kInvalid, "--client-ca: is empty");
  auto tls = net::readTlsFiles(options_.tls);
  if (!tls) return base::fail(tls.error());
  const auto address = net::parseListenAddress(options_.listen);
  if (!address) return base::fail(address.error());
  net::ServerOptions serverOptions{.address = address->host, .port = address->port, .tls = *tls};
  serverOptions.limits.maxBodyBytes = kMaxRequestBytes;
  serverOptions.limits.maxBodiesBytes = kMaxRequestsBytes;
  auto server = net::startHttpServer(
      std::move(serverOptions),
      [this](net::ServerRequest request, const std::shared_ptr<net::Exchange>& exchange) {
        // The CA may also sign certificates of other clients.
        if (!options_.clientName.empty() && request.clientCommonName != options_.clientName)
          return exchange->reply(
              {.status = 403, .body = "this client certificate has another common name\n"});
        exchange->reply(service_.answer(request));
      });
  if (!server) return base::fail(server.error());
  server_ = std::move(*server);
  tlsFollower_.emplace(options_.tls, std::move(*tls), *server_, executor, log);
  return {};
}

void GuardServer::stop() {
  tlsFollower_.reset();
  server_.reset();
}

void GuardServer::reportExpiry(telemetry::MetricsRegistry& registry) {
  if (!tlsFollower_) return;
  const net::TlsServerConfig& now = tlsFollower_->current();
  std::pair pems(now.certificatePem, now.clientCaPem);
  if (pems == reported_) return;
  reported_ = std::move(pems);
  telemetry::noteCertificateExpiry(registry, "server", now.certificatePem);
  telemetry::noteCertificateExpiry(registry, "authority", now.clientCaPem);
}

}  // namespace trainyard::extender
