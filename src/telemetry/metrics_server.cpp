#include "telemetry/metrics_server.h"

#include <chrono>
#include <optional>
#include <utility>

#include "net/certificates.h"
#include "net/listen_address.h"
#include "net/tls_follower.h"
#include "telemetry/guarded_metrics.h"
#include "telemetry/http_endpoints.h"

namespace trainyard::telemetry {
namespace {

constexpr const char* kMadeFor = "trainyard-metrics";
// Longer than any process lives: each process creates a new one.
constexpr std::chrono::hours kMadeLife{10 * 365 * 24};

// Clients cannot verify this certificate, but it hides tokens from passive listeners.
base::Result<net::TlsServerConfig> madeCertificate(base::WallTime now) {
  const net::Validity validity{now - std::chrono::hours(1), now + kMadeLife};
  const auto authority = net::makeAuthority(kMadeFor, validity);
  if (!authority) return base::fail(authority.error());
  auto made = net::issueCertificate(
      *authority, {.commonName = kMadeFor, .use = net::CertificateUse::kServer, .validity = validity});
  if (!made) return base::fail(made.error());
  return net::TlsServerConfig{.certificatePem = std::move(made->certificatePem),
                              .privateKeyPem = std::move(made->privateKeyPem)};
}

class Running final : public MetricsServer {
 public:
  Running(MetricsServerOptions options, Dependencies deps)
      : options_(std::move(options)), deps_(std::move(deps)) {}

  base::Result<void> begin() {
    const auto address = net::parseListenAddress(options_.listen);
    if (!address) return base::fail(address.error());
    net::ServerOptions serverOptions{.address = address->host,
                                     .port = address->port,
                                     .threads = options_.threads,
                                     .limits = endpointLimits()};
    net::ServerHandler handler = makeEndpoints(deps_.metrics, deps_.health);
    if (options_.secure) {
      auto tls = certificate();
      if (!tls) return base::fail(tls.error());
      serverOptions.tls = std::move(*tls);
      handler = guarded(std::move(handler));
    }
    auto server = net::startHttpServer(serverOptions, std::move(handler));
    if (!server) return base::fail(server.error());
    server_ = std::move(*server);
    if (options_.secure && hasFiles())
      follower_.emplace(options_.tls, *serverOptions.tls, *server_, deps_.executor, deps_.log);
    return {};
  }

  [[nodiscard]] std::uint16_t port() const override { return server_->port(); }

 private:
  [[nodiscard]] bool hasFiles() const {
    return !options_.tls.certificate.empty() || !options_.tls.privateKey.empty();
  }

  // The files may appear after the start: the operator itself creates those that the chart configures.
  [[nodiscard]] base::Result<net::TlsServerConfig> certificate() const {
    if (hasFiles()) {
      auto read = net::readTlsFiles(options_.tls);
      if (read) return read;
      deps_.log.warning("a certificate is made, until the files can be read",
                        {{"error", read.error().message}});
    }
    return madeCertificate(deps_.executor.wallNow());
  }

  [[nodiscard]] net::ServerHandler guarded(net::ServerHandler inner) {
    guard_ = std::make_shared<GuardedMetrics>(std::move(inner), deps_.api, deps_.executor, deps_.log);
    return [guard = guard_.get()](const net::ServerRequest& request,
                                  const std::shared_ptr<net::Exchange>& exchange) {
      guard->answer(request, exchange);
    };
  }

  MetricsServerOptions options_;
  Dependencies deps_;
  std::shared_ptr<GuardedMetrics> guard_;  // null if every client may read the metrics
  std::unique_ptr<net::HttpServer> server_;
  std::optional<net::TlsFollower> follower_;
};

}  // namespace

base::Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const MetricsServerOptions& options,
                                                                  Dependencies dependencies) {
  auto running = std::make_unique<Running>(options, std::move(dependencies));
  if (auto begun = running->begin(); !begun) return base::fail(begun.error());
  return running;
}

}  // namespace trainyard::telemetry
