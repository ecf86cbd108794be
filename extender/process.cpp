#include "extender/process.h"

#include <atomic>
#include <memory>
#include <optional>

#include "base/allocator.h"
#include "base/event_loop.h"
#include "base/file.h"
#include "base/stop_signal.h"
#include "codec/policy.h"
#include "extender/guard_server.h"
#include "extender/guard_service.h"
#include "extender/view_feed.h"
#include "kube/config.h"
#include "kube/connection.h"
#include "model/gpu_resources.h"
#include "telemetry/monitoring.h"

namespace trainyard::extender {
namespace {

constexpr std::chrono::seconds kHousekeeping{1};
// A loop that has been stuck for this long does not recover.
constexpr std::chrono::seconds kLoopStuck{30};
// Readiness is off, but clients that have not noticed yet still get answers.
constexpr std::chrono::milliseconds kLinger{1'000};
constexpr std::chrono::milliseconds kDrainPoll{50};
constexpr std::chrono::milliseconds kDrainMost{3'500};

constexpr int kReturnedBytes = 256 << 10;

class Process {
 public:
  explicit Process(const ProcessOptions& options)
      : options_(options),
        sink_(base::makeStderrSink()),
        log_(*sink_, options.logLevel, "extender", options.logFormat),
        monitoring_(loop_),
        metrics_(monitoring_.registry()),
        service_(loop_, metrics_, log_),
        server_(options_, service_) {}
  ~Process() { monitoring_.stopServing(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

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
    auto connection = kube::makeApiClient(*config, loop_, rng.split(), log_,
                                          {.userAgent = "trainyard-extender/" TRAINYARD_VERSION,
                                           .observe = [this](std::string_view verb, int status, auto took) {
                                             monitoring_.noteRequest(verb, status, took);
                                           }});
    if (!connection) return base::fail(connection.error());
    connection_ = std::move(*connection);
    feed_ = std::make_unique<ViewFeed>(connection_->api(), loop_, rng.split(), log_, metrics_, service_);
    if (auto listening = listen(); !listening) return listening;
    feed_->start();
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

  base::Result<void> listen() {
    monitoring_.start(TRAINYARD_VERSION);
    addHealthChecks();
    if (auto started = server_.start(loop_, log_); !started) return started;
    if (options_.metricsListen.empty()) return {};
    return monitoring_.serve(
        {.listen = options_.metricsListen,
         .secure = options_.metricsSecure,
         .tls = {.certificate = options_.tls.certificate, .privateKey = options_.tls.privateKey}},
        connection_->api(), log_);
  }

  void addHealthChecks() {
    monitoring_.health().addReadinessCheck("caches", [this]() -> base::Result<void> {
      if (service_.view()) return {};
      return base::fail(base::ErrorCode::kUnavailable,
                        feed_->isStale() ? "the API server cannot be reached or its watches are silent, and "
                                           "the caches are too old"
                                         : "the first lists have not been read yet");
    });
    monitoring_.health().addReadinessCheck("stopping", [this]() -> base::Result<void> {
      if (!draining_) return {};
      return base::fail(base::ErrorCode::kUnavailable, "the program is stopping");
    });
    monitoring_.requireBeats(kLoopStuck, {base::ErrorCode::kUnavailable, "the event loop is blocked"});
  }

  void housekeeping() {
    monitoring_.beat();
    service_.expireHolds();
    metrics_.holds.set(static_cast<double>(service_.holds()));
    feed_->reportMetrics();
    server_.reportExpiry(monitoring_.registry());
    loop_.postAfter(kHousekeeping, [this] { housekeeping(); });
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
      server_.stop();
      monitoring_.stopServing();
      if (feed_) feed_->stop();
      loop_.stop();
    });
  }

  ProcessOptions options_;
  std::unique_ptr<base::LogSink> sink_;
  base::Logger log_;
  base::EventLoop loop_;
  telemetry::Monitoring monitoring_;
  ExtenderMetrics metrics_;
  GuardService service_;
  std::atomic<bool> draining_ = false;
  std::unique_ptr<kube::ApiConnection> connection_;
  std::unique_ptr<ViewFeed> feed_;
  GuardServer server_;
};

}  // namespace

int runProcess(const ProcessOptions& options) { return Process(options).run(); }

}  // namespace trainyard::extender
