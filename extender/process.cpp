#include "extender/process.h"

#include <atomic>
#include <memory>
#include <optional>

#include "base/allocator.h"
#include "base/event_loop.h"
#include "base/file.h"
#include "base/stop_signal.h"
#include "codec/policy.h"
#include "extender/api_contact.h"
#include "extender/cluster_watch.h"
#include "extender/guard_service.h"
#include "kube/config.h"
#include "kube/connection.h"
#include "model/gpu_resources.h"
#include "net/listen_address.h"
#include "net/server.h"
#include "net/tls_follower.h"
#include "telemetry/api_metrics.h"
#include "telemetry/certificate_expiry.h"
#include "telemetry/health.h"
#include "telemetry/loop_watch.h"
#include "telemetry/metrics.h"
#include "telemetry/metrics_server.h"
#include "telemetry/process_metrics.h"

namespace trainyard::extender {
namespace {

constexpr std::chrono::seconds kHousekeeping{1};
// A loop that has been stuck for this long does not recover.
constexpr std::chrono::seconds kLoopStuck{30};
// Readiness is off, but clients that have not noticed yet still get answers.
constexpr std::chrono::milliseconds kLinger{1'000};
constexpr std::chrono::milliseconds kDrainPoll{50};
constexpr std::chrono::milliseconds kDrainMost{3'500};
// Large enough for the names of 20,000 nodes, small enough to bound what a hostile client costs.
constexpr std::size_t kMaxRequestBytes = 8u << 20;
constexpr std::size_t kMaxRequestsBytes = 32u << 20;

constexpr int kReturnedBytes = 256 << 10;

class Process {
 public:
  explicit Process(const ProcessOptions& options)
      : options_(options),
        sink_(base::makeStderrSink()),
        log_(*sink_, options.logLevel, "extender", options.logFormat),
        metrics_(registry_),
        service_(loop_, metrics_, log_) {}

  int run() {
    if (const auto started = start(); !started) {
      log_.error("cannot start", {{"error", started.error().message}});
      return 1;
    }
    loop_.run();
    log_.info("stopped");
    return 0;
  }

 private:
  base::Result<void> start() {
    base::returnFreedMemory(kReturnedBytes);
    base::onStopSignal(loop_, [this] { drain(); });
    if (auto read = readPolicy(); !read) return read;
    const auto config = kube::loadConnectionConfig(
        {.kubeconfig = options_.kubeconfig.empty() ? std::nullopt : std::optional(options_.kubeconfig)});
    if (!config) return base::fail(config.error());
    log_.info("starting",
              {{"server", config->server}, {"source", config->source}, {"listen", options_.listen}});
    base::Rng rng(base::entropySeed());
    auto connection =
        kube::makeApiClient(*config, loop_, rng.split(), log_,
                            {.userAgent = "trainyard-extender/" TRAINYARD_VERSION,
                             .observe = [this](std::string_view verb, int status, auto took) {
                               apiMetrics_.note(verb, status, std::chrono::duration<double>(took).count());
                             }});
    if (!connection) return base::fail(connection.error());
    connection_ = std::move(*connection);
    if (auto listening = listen(); !listening) return listening;
    watch_ = std::make_unique<ClusterWatch>(connection_->api(), loop_, rng.split(), log_, metrics_,
                                            [this](auto view, auto settled) {
                                              if (!stale_) service_.publish(std::move(view), settled);
                                            });
    watch_->start();
    contact_ = std::make_unique<ApiContact>(
        connection_->api(), loop_,
        ApiContact::Listener{.lost = [this](std::string_view why) { contactLost(why); },
                             .regained = [this] { contactRegained(); },
                             .lastContact = [this] { return watch_->lastContact(); }});
    contact_->start();
    housekeeping();
    return {};
  }

  // Sets which resources are GPUs before anything is decoded. Reads the file at the start only:
  // kube-scheduler, too, reads at its start which pods it asks about.
  base::Result<void> readPolicy() {
    if (options_.policyFile.empty()) return {};
    const auto text = base::readFile(options_.policyFile);
    if (!text) return base::fail(text.error());
    auto resources = codec::decodeGpuResources(*text, options_.policyFile);
    if (!resources) return base::fail(resources.error());
    model::setGpuResources(std::move(*resources));
    return {};
  }

  // Another replica may still have contact: kube-scheduler's pods wait, or are checked there.
  void contactLost(std::string_view why) {
    log_.error("requests are not answered while the caches are too old", {{"error", why}});
    service_.withdraw();
    stale_ = true;
  }

  void contactRegained() {
    log_.info("the API server is in contact again");
    stale_ = false;
    watch_->publishAgain();
  }

  base::Result<void> listen() {
    registry_.setBuildInfo(TRAINYARD_VERSION);
    telemetry::addProcessMetrics(registry_);
    loopWatch_ = std::make_unique<telemetry::LoopWatch>(registry_, loop_);
    addHealthChecks();
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
    tlsFollower_.emplace(options_.tls, std::move(*tls), *server_, loop_, log_);
    return options_.metricsListen.empty() ? base::Result<void>() : listenForMetrics();
  }

  base::Result<void> listenForMetrics() {
    auto server = telemetry::MetricsServer::start(
        {.listen = options_.metricsListen,
         .secure = options_.metricsSecure,
         .tls = {.certificate = options_.tls.certificate, .privateKey = options_.tls.privateKey}},
        {registry_, health_, connection_->api(), loop_, log_.named("metrics")});
    if (!server) return base::fail(server.error());
    metricsServer_ = std::move(*server);
    return {};
  }

  void addHealthChecks() {
    health_.addReadinessCheck("caches", [this]() -> base::Result<void> {
      if (service_.view()) return {};
      return base::fail(
          base::ErrorCode::kUnavailable,
          stale_ ? "the API server cannot be reached or its watches are silent, and the caches are too old"
                 : "the first lists have not been read yet");
    });
    health_.addReadinessCheck("stopping", [this]() -> base::Result<void> {
      if (!draining_) return {};
      return base::fail(base::ErrorCode::kUnavailable, "the program is stopping");
    });
    health_.addLivenessCheck("loop", [this]() -> base::Result<void> {
      if (loop_.now() - lastTurn_.load() < kLoopStuck) return {};
      return base::fail(base::ErrorCode::kUnavailable, "the event loop is blocked");
    });
  }

  void housekeeping() {
    lastTurn_ = loop_.now();
    service_.expireHolds();
    metrics_.holds.set(static_cast<double>(service_.holds()));
    watch_->reportMetrics();
    reportExpiry();
    loop_.postAfter(kHousekeeping, [this] { housekeeping(); });
  }

  // Covers certificates of any origin. kube-scheduler's client certificate is not available here.
  void reportExpiry() {
    if (!tlsFollower_) return;
    const net::TlsServerConfig& now = tlsFollower_->current();
    std::pair pems(now.certificatePem, now.clientCaPem);
    if (pems == reported_) return;
    reported_ = std::move(pems);
    telemetry::noteCertificateExpiry(registry_, "server", now.certificatePem);
    telemetry::noteCertificateExpiry(registry_, "authority", now.clientCaPem);
  }

  void drain() {
    if (draining_.exchange(true)) return loop_.stop();
    log_.info("stopping");
    const base::Instant latest = loop_.now() + kDrainMost;
    loop_.postAfter(kLinger, [this, latest] { awaitIdle(latest); });
  }

  void awaitIdle(base::Instant latest) {
    if (service_.inFlight() > 0 && loop_.now() < latest) {
      loop_.postAfter(kDrainPoll, [this, latest] { awaitIdle(latest); });
      return;
    }
    // The last answer may still be on its way to the socket.
    loop_.postAfter(kDrainPoll, [this] {
      tlsFollower_.reset();
      server_.reset();
      metricsServer_.reset();
      if (watch_) watch_->stop();
      loop_.stop();
    });
  }

  ProcessOptions options_;
  std::unique_ptr<base::LogSink> sink_;
  base::Logger log_;
  base::EventLoop loop_;
  telemetry::MetricsRegistry registry_;
  telemetry::ApiMetrics apiMetrics_{registry_};
  std::unique_ptr<telemetry::LoopWatch> loopWatch_;
  telemetry::Health health_;
  ExtenderMetrics metrics_;
  GuardService service_;
  std::atomic<bool> draining_ = false;
  std::atomic<base::Instant> lastTurn_ = base::Instant{};
  std::unique_ptr<kube::ApiConnection> connection_;
  std::unique_ptr<ClusterWatch> watch_;
  std::unique_ptr<ApiContact> contact_;
  std::atomic<bool> stale_ = false;
  std::unique_ptr<net::HttpServer> server_;
  std::optional<net::TlsFollower> tlsFollower_;
  std::pair<std::string, std::string> reported_;  // certificates that the expiry metrics describe
  std::unique_ptr<telemetry::MetricsServer> metricsServer_;
};

}  // namespace

int runProcess(const ProcessOptions& options) { return Process(options).run(); }

}  // namespace trainyard::extender
