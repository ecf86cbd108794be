#include "kube/connection.h"

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

base::Result<std::unique_ptr<net::HttpClient>> makeHttp(const ConnectionConfig& config, std::size_t threads,
                                                        base::Executor& executor) {
  net::ClientOptions options{.url = config.server, .threads = threads};
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
             const ConnectionOptions& options, std::unique_ptr<net::HttpClient> http,
             std::unique_ptr<net::HttpClient> leaseHttp)
      : credentials_(makeCredentials(config, executor, log)),
        http_(std::move(http)),
        leaseHttp_(std::move(leaseHttp)),
        api_({.pathPrefix = config.pathPrefix,
              .userAgent = options.userAgent,
              .headers = config.headers,
              .rateLimit = options.rateLimit},
             *http_, *credentials_, executor, rng.split(), log),
        leaseApi_({.pathPrefix = config.pathPrefix,
                   .userAgent = options.userAgent,
                   .headers = config.headers,
                   .rateLimit = {.perSecond = 10, .burst = 10},
                   .maxAttempts = 1,
                   .maxThrottled = 0},
                  *leaseHttp_, *credentials_, executor, rng.split(), log) {}

  [[nodiscard]] HttpApiClient& api() override { return api_; }
  [[nodiscard]] ApiClient& leaseApi() override { return leaseApi_; }

 private:
  std::unique_ptr<CredentialSource> credentials_;
  std::unique_ptr<net::HttpClient> http_;
  std::unique_ptr<net::HttpClient> leaseHttp_;
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
