#include "operator/console/console_server.h"

#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/event_loop.h"
#include "kube/connection.h"
#include "net/listen_address.h"
#include "net/server.h"
#include "net/tls_follower.h"
#include "operator/console/console.h"
#include "operator/console/tried_jobs.h"

namespace trainyard::operator_::console {
namespace {

constexpr kube::RateLimit kReviews{.perSecond = 50, .burst = 400};
constexpr int kNice = 10;

bool isLoopback(const std::string& host) {
  return host == "::1" || host == "localhost" || host.starts_with("127.");
}

net::TlsFiles tlsFilesOf(const ConsoleOptions& options) {
  return {.certificate = options.certificate, .privateKey = options.privateKey};
}

class Running final : public ConsoleServer {
 public:
  Running(ConsoleOptions options, base::Logger log) : options_(std::move(options)), log_(std::move(log)) {}

  ~Running() override {
    offloaded_->stop();
    loop_->stop();
    if (thread_.joinable()) thread_.join();
    tlsFollower_.reset();
    server_.reset();
  }

  base::Result<void> begin(const kube::ConnectionConfig& config, const core::Settings& settings,
                           const Source& source) {
    const auto address = net::parseListenAddress(options_.listen);
    if (!address) return base::fail(address.error());
    std::optional<net::TlsServerConfig> tls;
    if (!options_.certificate.empty() || !options_.privateKey.empty()) {
      auto read = net::readTlsFiles(tlsFilesOf(options_));
      if (!read) return base::fail(read.error());
      tls = std::move(*read);
    }
    if (!tls && !isLoopback(address->host)) {
      return base::fail(
          base::ErrorCode::kInvalid,
          fmt::format("--console {}: must be a loopback address, as tokens travel in its requests; "
                      "others need --console-tls-cert and --console-tls-key",
                      options_.listen));
    }
    auto connection = kube::makeApiClient(config, *loop_, base::Rng(base::entropySeed()), log_,
                                          {.userAgent = "trainyard-operator/" TRAINYARD_VERSION " console",
                                           .rateLimit = kReviews,
                                           .threads = 2});
    if (!connection) return base::fail(connection.error());
    connection_ = std::move(*connection);
    console_ = std::make_unique<Console>(Console::Dependencies{.api = connection_->api(),
                                                               .executor = *loop_,
                                                               .snapshot = onLoop(source),
                                                               .offload = offload(),
                                                               .settings = settings});
    if (auto listening = listen(*address, tls); !listening) return listening;
    thread_ = std::thread([this] { loop_->run(); });
    // Detached: a computation may take longer than the process has at shutdown.
    std::thread([loop = offloaded_] {
      // On Linux, nice() affects the calling thread only.
      if (::nice(kNice) == -1) return loop->run();
      loop->run();
    }).detach();
    return {};
  }

 private:
  // Moves the answers from the operator's loop to the console's.
  [[nodiscard]] Source onLoop(const Source& source) const {
    return [source, loop = loop_](std::function<void(std::optional<model::Snapshot>)> then) {
      source([loop, then = std::move(then)](std::optional<model::Snapshot> snapshot) {
        loop->post([then, snapshot = std::move(snapshot)]() mutable { then(std::move(snapshot)); });
      });
    };
  }

  [[nodiscard]] std::function<void(std::function<base::Task()>)> offload() const {
    return [worker = offloaded_, loop = loop_](std::function<base::Task()> work) {
      worker->post([work = std::move(work), loop] { loop->post(work()); });
    };
  }

  base::Result<void> listen(const net::ListenAddress& address,
                            const std::optional<net::TlsServerConfig>& tls) {
    net::ServerOptions options{.address = address.host, .port = address.port, .tls = tls};
    options.limits.maxConnections = 128;
    // Bodies hold jobs to try. The server reads them before the caller is authenticated.
    options.limits.maxBodyBytes = kMaxTriedBytes;
    options.limits.maxBodiesBytes = 8 * kMaxTriedBytes;
    auto server = net::startHttpServer(
        std::move(options), [console = console_.get(), loop = loop_](
                                net::ServerRequest request, std::shared_ptr<net::Exchange> exchange) {
          loop->post([console, request = std::move(request), exchange = std::move(exchange)]() mutable {
            console->answer(std::move(request), std::move(exchange));
          });
        });
    if (!server) return base::fail(server.error());
    server_ = std::move(*server);
    log_.info("the console is served", {{"address", options_.listen}, {"https", tls ? "yes" : "no"}});
    if (tls) tlsFollower_.emplace(tlsFilesOf(options_), *tls, *server_, *loop_, log_);
    return {};
  }

  ConsoleOptions options_;
  base::Logger log_;
  // Shared with tasks that may still be posted when this object is destroyed.
  std::shared_ptr<base::EventLoop> loop_ = std::make_shared<base::EventLoop>();
  std::shared_ptr<base::EventLoop> offloaded_ = std::make_shared<base::EventLoop>();
  std::unique_ptr<kube::ApiConnection> connection_;
  std::unique_ptr<Console> console_;
  std::unique_ptr<net::HttpServer> server_;
  std::optional<net::TlsFollower> tlsFollower_;
  std::thread thread_;
};

}  // namespace

base::Result<std::unique_ptr<ConsoleServer>> ConsoleServer::start(const ConsoleOptions& options,
                                                                  const kube::ConnectionConfig& config,
                                                                  const core::Settings& settings,
                                                                  Source source, const base::Logger& log) {
  auto running = std::make_unique<Running>(options, log);
  if (auto begun = running->begin(config, settings, source); !begun) return base::fail(begun.error());
  return running;
}

}  // namespace trainyard::operator_::console
