#include "agent/process.h"

#include <memory>
#include <optional>
#include <utility>

#include "agent/agent_metrics.h"
#include "agent/node_link.h"
#include "agent/pod_watch.h"
#include "base/allocator.h"
#include "base/event_loop.h"
#include "base/rng.h"
#include "base/stop_signal.h"
#include "kube/config.h"
#include "kube/connection.h"
#include "telemetry/monitoring.h"

namespace trainyard::agent {
namespace {

constexpr std::chrono::seconds kHousekeeping{5};
constexpr std::chrono::seconds kLoopBeat{2};
// An event loop that makes no progress for this long is considered stuck.
constexpr std::chrono::seconds kLoopStuck{30};
constexpr std::chrono::milliseconds kDrainPoll{50};
constexpr std::chrono::milliseconds kDrainMost{3'000};
// Two connections: the list and the watch of one small collection. The node's memory belongs to its jobs.
constexpr std::size_t kClientThreads = 2;
constexpr int kReturnedBytes = 64 << 10;

class Process {
 public:
  explicit Process(const ProcessOptions& options)
      : options_(options),
        sink_(base::makeStderrSink()),
        log_(*sink_, options.logLevel, "agent", options.logFormat),
        monitoring_(loop_),
        metrics_(monitoring_.registry()),
        link_(options_, loop_, log_, metrics_) {}
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
    base::useOneArena();
    base::onStopSignal(loop_, [this] { drain(); });
    if (auto good = link_.open(); !good) return good;
    if (options_.removeOnly) {
      drain();
      return {};
    }
    if (auto good = connect(); !good) return good;
    if (auto good = listenForMetrics(); !good) return good;
    link_.keeper().start();
    pods_->start();
    housekeeping();
    return {};
  }

  base::Result<void> connect() {
    const auto config = kube::loadConnectionConfig(
        {.kubeconfig = options_.kubeconfig.empty() ? std::nullopt : std::optional(options_.kubeconfig)});
    if (!config) return base::fail(config.error());
    base::Rng rng(base::entropySeed());
    auto connection = kube::makeApiClient(*config, loop_, rng.split(), log_,
                                          {.userAgent = "trainyard-agent/" TRAINYARD_VERSION,
                                           .threads = kClientThreads,
                                           .observe = [this](std::string_view verb, int status, auto took) {
                                             monitoring_.noteRequest(verb, status, took);
                                           }});
    if (!connection) return base::fail(connection.error());
    connection_ = std::move(*connection);
    pods_ = std::make_unique<PodWatch>(
        options_.node, connection_->api(), loop_, rng.split(), log_,
        [this](NodeTraffic traffic) { link_.keeper().setTraffic(std::move(traffic)); });
    return {};
  }

  base::Result<void> listenForMetrics() {
    monitoring_.start(TRAINYARD_VERSION, kLoopBeat);
    monitoring_.health().addReadinessCheck("pods", [this]() -> base::Result<void> {
      if (pods_->synced()) return {};
      return base::fail(base::ErrorCode::kUnavailable, "the node's pods have not been read yet");
    });
    monitoring_.requireBeats(kLoopStuck, {base::ErrorCode::kUnavailable, "the event loop is blocked"});
    if (options_.metrics.listen.empty()) return {};
    return monitoring_.serve(options_.metrics, connection_->api(), log_);
  }

  void housekeeping() {
    monitoring_.beat();
    link_.askForRate();
    if (const auto heard = pods_->lastHeard())
      metrics_.silence.set(std::chrono::duration<double>(loop_.now() - *heard).count());
    loop_.postAfter(kHousekeeping, [this] { housekeeping(); });
  }

  void drain() {
    if (std::exchange(draining_, true)) return loop_.stop();
    if (pods_) pods_->stop();
    takeDown(loop_.now() + kDrainMost);
  }

  void takeDown(base::Instant latest) {
    const bool force = loop_.now() >= latest;
    if (!link_.keeper().takeDown(force)) {
      loop_.postAfter(kDrainPoll, [this, latest] { takeDown(latest); });
      return;
    }
    monitoring_.stopServing();
    loop_.stop();
  }

  ProcessOptions options_;
  std::unique_ptr<base::LogSink> sink_;
  base::Logger log_;
  base::EventLoop loop_;
  telemetry::Monitoring monitoring_;
  AgentMetrics metrics_;
  NodeLink link_;
  std::unique_ptr<kube::ApiConnection> connection_;
  std::unique_ptr<PodWatch> pods_;
  bool draining_ = false;
};

}  // namespace

int runProcess(const ProcessOptions& options) { return Process(options).run(); }

}  // namespace trainyard::agent
