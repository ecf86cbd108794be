#include "agent/process.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "agent/agent_metrics.h"
#include "agent/kernel.h"
#include "agent/link_keeper.h"
#include "agent/node_traffic.h"
#include "agent/pod_cache.h"
#include "agent/uplink.h"
#include "base/allocator.h"
#include "base/event_loop.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/stop_signal.h"
#include "codec/traffic_pod.h"
#include "kube/config.h"
#include "kube/connection.h"
#include "kube/reflector.h"
#include "model/names.h"
#include "telemetry/api_metrics.h"
#include "telemetry/health.h"
#include "telemetry/loop_watch.h"
#include "telemetry/metrics_server.h"
#include "telemetry/process_metrics.h"

namespace trainyard::agent {
namespace {

constexpr std::chrono::seconds kHousekeeping{5};
constexpr std::chrono::milliseconds kSyncPoll{50};
constexpr std::chrono::milliseconds kGather{100};
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
        metrics_(registry_),
        pods_(codec::decodeTrafficPod, log_) {}

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
    if (auto good = openLink(); !good) return good;
    if (options_.removeOnly) {
      drain();
      return {};
    }
    if (auto good = connect(); !good) return good;
    if (auto good = listenForMetrics(); !good) return good;
    keeper_->start();
    reflector_->start();
    awaitSync();
    housekeeping();
    return {};
  }

  base::Result<void> openLink() {
    auto kernel = openKernel();
    if (!kernel) return base::fail(kernel.error());
    kernel_ = std::move(*kernel);
    LinkOptions link{
        .device = options_.device, .settings = {}, .policy = options_.policy, .turn = options_.turn};
    if (link.device.empty()) {
      auto device = findDevice();
      if (!device) return base::fail(device.error());
      link.device = std::move(*device);
    }
    // An invalid --rate is the administrator's mistake and ends the program. If a driver
    // reports no speed, nothing is ordered on this node.
    base::Result<std::uint64_t> rate = std::uint64_t{0};
    if (!options_.removeOnly) {
      rate = readRate(link.device);
      if (!rate && !options_.rate.empty()) return base::fail(rate.error());
      link.settings = {rate.value_or(0), options_.othersPermille};
      log_.info("starting", {{"node", options_.node},
                             {"device", link.device},
                             {"bytes_per_second", fmt::to_string(rate.value_or(0))}});
    }
    device_ = link.device;
    keeper_ = std::make_unique<LinkKeeper>(*kernel_, loop_, log_, metrics_, std::move(link));
    if (!options_.removeOnly) probeKernel();
    rateKnown_ = rate.has_value();
    if (!rate) log_.warning("traffic is not ordered on this node", {{"error", rate.error().message}});
    return {};
  }

  static base::Result<std::string> findDevice() {
    const auto routes = base::readFile("/proc/net/route");
    if (!routes) return base::fail(routes.error());
    auto device = defaultDevice(*routes);
    if (device) return device;
    const auto routes6 = base::readFile("/proc/net/ipv6_route");
    return routes6 ? defaultDevice6(*routes6) : device;
  }

  [[nodiscard]] base::Result<std::uint64_t> readRate(const std::string& device) const {
    if (!options_.rate.empty()) return parseRate(options_.rate);
    const auto speed = base::readFile(fmt::format("/sys/class/net/{}/speed", device));
    return linkRate(speed ? *speed : std::string());
  }

  void probeKernel() {
    const KernelFeatures features = kernel_->probe();
    for (const char* each : {"NET_SCHED", "NET_SCH_HTB", "NET_CLS_U32"}) metrics_.setMissing(each, false);
    if (!features.missing.empty()) {
      keeper_->setMissing(features.missing.front(), features.message);
    } else if (!features.tried) {
      log_.info("kernel features are not known before they are needed", {{"error", features.message}});
    }
  }

  base::Result<void> connect() {
    const auto config = kube::loadConnectionConfig(
        {.kubeconfig = options_.kubeconfig.empty() ? std::nullopt : std::optional(options_.kubeconfig)});
    if (!config) return base::fail(config.error());
    base::Rng rng(base::entropySeed());
    auto connection =
        kube::makeApiClient(*config, loop_, rng.split(), log_,
                            {.userAgent = "trainyard-agent/" TRAINYARD_VERSION,
                             .threads = kClientThreads,
                             .observe = [this](std::string_view verb, int status, auto took) {
                               apiMetrics_.note(verb, status, std::chrono::duration<double>(took).count());
                             }});
    if (!connection) return base::fail(connection.error());
    connection_ = std::move(*connection);
    reflector_ = std::make_unique<kube::Reflector>(
        kube::ReflectorOptions{.type = kube::kPods,
                               .selectors = {{"fieldSelector", "spec.nodeName=" + options_.node},
                                             {"labelSelector", std::string(model::names::kJobUidLabel)}},
                               .pageSize = 50,
                               .pageBytes = std::size_t{2} << 20},
        connection_->api(), loop_, rng.split(), log_, pods_);
    pods_.onChange([this](const auto&, const auto&) { gather(); });
    return {};
  }

  // A restarted agent keeps the classes that it finds until the pods are listed.
  void awaitSync() {
    if (!reflector_->synced()) {
      loop_.postAfter(kSyncPoll, [this] { awaitSync(); });
      return;
    }
    synced_ = true;
    log_.info("pods are listed", {{"pods", fmt::to_string(pods_.size())}});
    handOver();
  }

  void gather() {
    if (!synced_ || std::exchange(gathering_, true)) return;
    loop_.postAfter(kGather, [this] { handOver(); });
  }

  void handOver() {
    gathering_ = false;
    if (draining_) return;
    std::vector<std::shared_ptr<const model::TrafficPod>> pods;
    for (const auto& pod : pods_.all()) pods.push_back(pod);
    keeper_->setTraffic(nodeTraffic(pods));
  }

  base::Result<void> listenForMetrics() {
    registry_.setBuildInfo(TRAINYARD_VERSION);
    telemetry::addProcessMetrics(registry_);
    loopWatch_ = std::make_unique<telemetry::LoopWatch>(registry_, loop_, kLoopBeat);
    health_.addReadinessCheck("pods", [this]() -> base::Result<void> {
      if (synced_) return {};
      return base::fail(base::ErrorCode::kUnavailable, "the node's pods have not been read yet");
    });
    health_.addLivenessCheck("loop", [this]() -> base::Result<void> {
      if (loop_.now() - lastTurn_.load() < kLoopStuck) return {};
      return base::fail(base::ErrorCode::kUnavailable, "the event loop is blocked");
    });
    if (options_.metrics.listen.empty()) return {};
    auto server = telemetry::MetricsServer::start(
        options_.metrics, {registry_, health_, connection_->api(), loop_, log_.named("metrics")});
    if (!server) return base::fail(server.error());
    server_ = std::move(*server);
    return {};
  }

  // A device that was down, or still negotiates its speed, reports the rate later.
  void askForRate() {
    if (rateKnown_) return;
    const auto rate = readRate(device_);
    if (!rate) return;
    rateKnown_ = true;
    log_.info("the link's rate is known now", {{"bytes_per_second", fmt::to_string(*rate)}});
    keeper_->setRate(*rate);
  }

  void housekeeping() {
    lastTurn_ = loop_.now();
    askForRate();
    if (reflector_->synced())
      metrics_.silence.set(std::chrono::duration<double>(loop_.now() - reflector_->lastHeard()).count());
    loop_.postAfter(kHousekeeping, [this] { housekeeping(); });
  }

  void drain() {
    if (draining_.exchange(true)) return loop_.stop();
    if (reflector_) reflector_->stop();
    takeDown(loop_.now() + kDrainMost);
  }

  void takeDown(base::Instant latest) {
    const bool force = loop_.now() >= latest;
    if (!keeper_->takeDown(force)) {
      loop_.postAfter(kDrainPoll, [this, latest] { takeDown(latest); });
      return;
    }
    server_.reset();
    loop_.stop();
  }

  ProcessOptions options_;
  std::unique_ptr<base::LogSink> sink_;
  base::Logger log_;
  base::EventLoop loop_;
  telemetry::MetricsRegistry registry_;
  telemetry::ApiMetrics apiMetrics_{registry_};
  std::unique_ptr<telemetry::LoopWatch> loopWatch_;
  telemetry::Health health_;
  AgentMetrics metrics_;
  kube::ObjectCache<model::TrafficPod> pods_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<LinkKeeper> keeper_;
  std::string device_;
  bool rateKnown_ = true;
  std::unique_ptr<kube::ApiConnection> connection_;
  std::unique_ptr<kube::Reflector> reflector_;
  std::unique_ptr<telemetry::MetricsServer> server_;
  std::atomic<bool> synced_ = false;
  std::atomic<bool> draining_ = false;
  std::atomic<base::Instant> lastTurn_ = base::Instant{};
  bool gathering_ = false;
};

}  // namespace

int runProcess(const ProcessOptions& options) { return Process(options).run(); }

}  // namespace trainyard::agent
