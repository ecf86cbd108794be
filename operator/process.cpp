#include "operator/process.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/allocator.h"
#include "base/event_loop.h"
#include "base/file.h"
#include "base/stop_signal.h"
#include "kube/config.h"
#include "kube/connection.h"
#include "model/gpu_resources.h"
#include "net/client.h"
#include "operator/installation_check.h"
#include "operator/jobs_ender.h"
#include "operator/operator.h"
#include "operator/policy_keeper.h"
#include "operator/worker_thread.h"
#include "telemetry/monitoring.h"

namespace trainyard::operator_ {
namespace {

constexpr base::Instant::duration kStuck = std::chrono::seconds(60);
// With thousands of nodes, a cycle allocates its temporary memory in many pieces. Returning smaller pieces
// would cost the cycle more than it frees.
constexpr int kReturnedBytes = 1 << 20;

class Process {
 public:
  explicit Process(const ProcessOptions& options)
      : options_(options),
        sink_(base::makeStderrSink()),
        log_(*sink_, options.logLevel, "operator", options.logFormat),
        monitoring_(loop_) {
    base::returnFreedMemory(kReturnedBytes);
    base::onStopSignal(loop_, [this] { stop(0); });
    worker_.emplace(loop_);
  }
  ~Process() { monitoring_.stopServing(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int run() {
    if (const auto started = start(); !started) {
      log_.error("cannot start", {{"error", started.error().message}});
      return 1;
    }
    loop_.run();
    return exitCode_.value_or(0);
  }

 private:
  base::Result<void> start() {
    base::Rng rng(base::entropySeed());
    if (auto opened = openPolicy(); !opened) return opened;
    const auto config = kube::loadConnectionConfig(
        {.kubeconfig = options_.kubeconfig.empty() ? std::nullopt : std::optional(options_.kubeconfig)});
    if (!config) return base::fail(config.error());
    log_.info("starting",
              {{"server", config->server}, {"source", config->source}, {"identity", options_.identity}});
    auto connection = kube::makeApiClient(*config, loop_, rng.split(), log_,
                                          {.userAgent = "trainyard-operator/" TRAINYARD_VERSION,
                                           .rateLimit = {.perSecond = options_.qps, .burst = options_.burst},
                                           .observe = [this](std::string_view verb, int status, auto took) {
                                             monitoring_.noteRequest(verb, status, took);
                                           }});
    if (!connection) return base::fail(connection.error());
    connection_ = std::move(*connection);
    operator_ = std::make_unique<Operator>(
        OperatorOptions{.identity = options_.identity,
                        .leaseNamespace = options_.leaseNamespace,
                        .workloadKinds = options_.workloadKinds,
                        .kueue = options_.kueue,
                        .policyConfigMap = options_.policyConfigMap,
                        .schedulerName = options_.schedulerName,
                        .launcherImage = options_.launcherImage,
                        .certificates = options_.certificates,
                        .policy = policy_ ? policy_->policy() : model::Policy(),
                        .provisioning = policy_ ? policy_->file().provisioning : model::ProvisioningPolicy()},
        Operator::Dependencies{.api = connection_->api(),
                               .leaseApi = connection_->leaseApi(),
                               .executor = loop_,
                               .metrics = monitoring_.registry(),
                               .rng = rng.split(),
                               .log = log_,
                               .offload = worker_->offload()});
    connection_->api().guardWrites([this] { return operator_->leading(); });
    operator_->onLeadershipLost([this] {
      exitCode_ = 1;
      loop_.stop();
    });
    if (auto served = serve(); !served) return served;
    if (auto served = serveConsole(*config); !served) return served;
    operator_->start();
    if (policy_) {
      policy_->follow({.taken =
                           [this](const codec::PolicyFile& file) {
                             operator_->setPolicy(file.policy);
                             operator_->setProvisioning(file.provisioning);
                           },
                       .refused = [this](const std::string& why) { operator_->reportPolicy(why); }});
    }
    publishReadiness();
    return {};
  }

  base::Result<void> openPolicy() {
    if (options_.policyFile.empty()) return {};
    auto opened =
        PolicyKeeper::open(options_.policyFile, loop_, monitoring_.registry(), log_.named("policy"));
    if (!opened) return base::fail(opened.error());
    policy_ = std::move(*opened);
    // Must be set before anything is decoded.
    model::setGpuResources(codec::gpuNamesOf(policy_->policy()));
    return {};
  }

  base::Result<void> serve() {
    monitoring_.start(TRAINYARD_VERSION);
    monitoring_.health().addReadinessCheck("caches", [this]() -> base::Result<void> {
      if (ready_.load()) return {};
      return base::fail(base::ErrorCode::kUnavailable, "the first lists have not been read yet");
    });
    monitoring_.requireBeats(kStuck,
                             {base::ErrorCode::kInternal, "the event loop has been blocked for a long time"});
    return monitoring_.serve(options_.metrics, connection_->api(), log_);
  }

  base::Result<void> serveConsole(const kube::ConnectionConfig& config) {
    if (options_.console.listen.empty()) return {};
    auto served = console::ConsoleServer::start(
        options_.console, config, core::Settings(),
        [this](auto then) {
          loop_.post([this, then = std::move(then)] {
            then(operator_->synced() ? std::optional(operator_->snapshot()) : std::nullopt);
          });
        },
        log_.named("console"));
    if (!served) return base::fail(served.error());
    console_ = std::move(*served);
    return {};
  }

  // Server threads must not touch the operator, so the loop publishes its state to them.
  void publishReadiness() {
    ready_.store(operator_->synced());
    monitoring_.beat();
    loop_.postAfter(std::chrono::milliseconds(100), [this] { publishReadiness(); });
  }

  void stop(int code) {
    if (exitCode_ || !operator_) return loop_.stop();
    exitCode_ = code;
    log_.info("stopping");
    operator_->shutDown([this] { loop_.stop(); });
  }

  ProcessOptions options_;
  std::unique_ptr<base::LogSink> sink_;
  base::Logger log_;
  base::EventLoop loop_;
  telemetry::Monitoring monitoring_;
  std::optional<WorkerThread> worker_;  // created after the stop signals are blocked
  std::atomic<bool> ready_ = false;
  std::unique_ptr<kube::ApiConnection> connection_;
  std::unique_ptr<PolicyKeeper> policy_;  // null without a file
  std::unique_ptr<Operator> operator_;
  std::unique_ptr<console::ConsoleServer> console_;  // null unless requested
  std::optional<int> exitCode_ = std::nullopt;       // set once the program is stopping
};

// For commands that make a few requests and exit.
base::Result<std::unique_ptr<kube::ApiConnection>> connectOnce(const ProcessOptions& options,
                                                               base::EventLoop& loop,
                                                               const base::Logger& log) {
  const auto config = kube::loadConnectionConfig(
      {.kubeconfig = options.kubeconfig.empty() ? std::nullopt : std::optional(options.kubeconfig)});
  if (!config) return base::fail(config.error());
  return kube::makeApiClient(*config, loop, base::Rng(base::entropySeed()), log,
                             {.userAgent = "trainyard-operator/" TRAINYARD_VERSION});
}

}  // namespace

int runProcess(const ProcessOptions& options) { return Process(options).run(); }

int checkInstallation(const ProcessOptions& options, const CheckOptions& check,
                      std::chrono::seconds patience) {
  const auto sink = base::makeStderrSink();
  const base::Logger log(*sink, options.logLevel, "check", options.logFormat);
  base::EventLoop loop;
  const auto failed = [&](const base::Error& error) {
    log.error("the installation does not work", {{"error", error.message}});
    return 1;
  };
  const auto connection = connectOnce(options, loop, log);
  if (!connection) return failed(connection.error());
  std::unique_ptr<net::ReloadableHttpClient> extender;
  if (!check.extenderUrl.empty()) {
    net::TlsClientConfig tls{.serverName = check.serverName};
    for (const auto& [file, text] :
         {std::pair{"tls.crt", &tls.certificatePem}, std::pair{"tls.key", &tls.privateKeyPem},
          std::pair{"ca.crt", &tls.caPem}}) {
      auto read = base::readFile(check.tlsFolder + "/" + file);
      if (!read) return failed(read.error());
      *text = std::move(*read);
    }
    auto made = net::makeHttpClient({.url = check.extenderUrl, .tls = std::move(tls)}, loop);
    if (!made) return failed(made.error());
    extender = std::move(*made);
  }
  base::Result<void> result;
  InstallationCheck asks({.leaseNamespace = options.leaseNamespace}, (*connection)->api(), extender.get(),
                         loop, log, patience, [&](base::Result<void> end) {
                           result = std::move(end);
                           loop.stop();
                         });
  asks.start();
  loop.run();
  if (!result) return failed(result.error());
  log.info("the installation works");
  return 0;
}

int endAllJobs(const ProcessOptions& options, std::chrono::seconds patience) {
  const auto sink = base::makeStderrSink();
  const base::Logger log(*sink, options.logLevel, "operator", options.logFormat);
  base::EventLoop loop;
  const auto failed = [&](const base::Error& error) {
    log.error("jobs not ended", {{"error", error.message}});
    return 1;
  };
  const auto connection = connectOnce(options, loop, log);
  if (!connection) return failed(connection.error());
  base::Result<void> result;
  JobsEnder ender((*connection)->api(), loop, log, patience, [&](base::Result<void> end) {
    result = std::move(end);
    loop.stop();
  });
  ender.start();
  loop.run();
  if (!result) return failed(result.error());
  log.info("no TrainingJob is left");
  return 0;
}

}  // namespace trainyard::operator_
