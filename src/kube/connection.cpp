#include "kube/connection.h"

#include <utility>

#include <fmt/format.h>

#include "kube/exec_credentials.h"
#include "net/client.h"

namespace trainyard::kube {
namespace {

std::unique_ptr<CredentialSource> makeCredentials(const ConnectionConfig& config, base::Executor& executor,
                                                  const base::Logger& log) {
  if (!config.tokenFile.empty()) return makeTokenFileCredentials(config.tokenFile, executor, log);
  if (config.exec && config.authorization.empty()) return makeExecCredentials(*config.exec, executor, log);
  return makeStaticCredentials(config.authorization);
}

using HttpPtr = std::unique_ptr<net::ReloadableHttpClient>;

base::Result<HttpPtr> makeHttp(const ConnectionConfig& config, std::size_t threads,
                               base::Executor& executor) {
  net::ClientOptions options{.url = config.server, .proxy = config.proxy, .threads = threads};
  if (config.server.starts_with("https://")) options.tls = config.tls;
  auto http = net::makeHttpClient(std::move(options), executor);
  if (http) return http;
  base::Error error = http.error();
  error.message = fmt::format("{}: {}", config.source, error.message);
  return base::fail(std::move(error));
}

class Connection final : public ApiConnection {
 public:
  Connection(const ConnectionConfig& config, base::Executor& executor, base::Rng rng, const base::Logger& log,
             const ConnectionOptions& options, HttpPtr http, HttpPtr leaseHttp)
      : config_(config),
        executor_(executor),
        log_(log.named("connection")),
        tlsPoll_(options.tlsPoll),
        clock_(std::make_shared<ServerClock>(executor, log.named("clock"))),
        credentials_(makeCredentials(config, executor, log)),
        http_(std::move(http)),
        leaseHttp_(std::move(leaseHttp)),
        api_({.pathPrefix = config.pathPrefix,
              .userAgent = options.userAgent,
              .headers = config.headers,
              .rateLimit = options.rateLimit,
              .observe = options.observe,
              .clock = clock_},
             *http_, *credentials_, executor, rng.split(), log),
        leaseApi_({.pathPrefix = config.pathPrefix,
                   .userAgent = options.userAgent,
                   .headers = config.headers,
                   .rateLimit = {.perSecond = 10, .burst = 10},
                   .maxAttempts = 1,
                   .maxThrottled = 0,
                   .observe = options.observe,
                   .clock = clock_},
                  *leaseHttp_, *credentials_, executor, rng.split(), log) {
    if (config_.server.starts_with("https://")) pollTls();
  }
  ~Connection() override { executor_.cancel(tlsTimer_); }

  [[nodiscard]] HttpApiClient& api() override { return api_; }
  [[nodiscard]] ApiClient& leaseApi() override { return leaseApi_; }

 private:
  // Compares contents, not times: a mounted Secret is replaced by a symbolic link; file times may decrease.
  void pollTls() {
    tlsTimer_ = executor_.postAfter(tlsPoll_, [this] {
      if (const auto followed = followTls(); !followed) {
        log_.warning("certificates cannot be used, the old ones stay", {{"error", followed.error().message}});
      }
      pollTls();
    });
  }

  base::Result<void> followTls() {
    auto tls = rereadTls(config_);
    if (!tls) return base::fail(tls.error());
    if (*tls == config_.tls) return {};
    // The files are replaced together but read one by one: if two reads differ, they mix two versions.
    if (const auto again = rereadTls(config_); !again || *again != *tls) return {};
    if (auto taken = http_->reloadTls(*tls); !taken) return taken;
    if (auto taken = leaseHttp_->reloadTls(*tls); !taken) return taken;
    config_.tls = std::move(*tls);
    log_.info("certificates were read again", {{"source", config_.source}});
    return {};
  }

  ConnectionConfig config_;
  base::Executor& executor_;
  base::Logger log_;
  const std::chrono::milliseconds tlsPoll_;
  base::TimerId tlsTimer_{};
  std::shared_ptr<ServerClock> clock_;
  std::unique_ptr<CredentialSource> credentials_;
  HttpPtr http_;
  HttpPtr leaseHttp_;
  HttpApiClient api_;
  HttpApiClient leaseApi_;
};

}  // namespace

base::Result<std::unique_ptr<ApiConnection>> makeApiClient(const ConnectionConfig& config,
                                                           base::Executor& executor, base::Rng rng,
                                                           const base::Logger& log,
                                                           const ConnectionOptions& options) {
  auto http = makeHttp(config, options.threads, executor);
  if (!http) return base::fail(http.error());
  auto leaseHttp = makeHttp(config, 2, executor);
  if (!leaseHttp) return base::fail(leaseHttp.error());
  return std::make_unique<Connection>(config, executor, rng, log, options, std::move(*http),
                                      std::move(*leaseHttp));
}

}  // namespace trainyard::kube
