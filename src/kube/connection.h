#pragma once

#include <chrono>
#include <memory>

#include "base/error.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/config.h"
#include "kube/http_api_client.h"

namespace trainyard::kube {

struct ConnectionOptions {
  std::string userAgent = "trainyard";
  RateLimit rateLimit = {};
  // Of the pool that serves all requests, whose number they do not bound. Each takes its turn at waking up:
  // 32 of them cost the operator a third of its CPU time, with 1,500 jobs at once.
  std::size_t threads = 4;
  RequestObserver observe = {};  // of both clients
  // How often the files of the TLS configuration are looked at for other contents.
  std::chrono::milliseconds tlsPoll{10'000};
};

// The clients of one API server with what they need. They follow certificate files that others rotate: later
// requests use the new contents; while those cannot be used, the old ones go on serving.
class ApiConnection {
 public:
  ApiConnection() = default;
  ApiConnection(const ApiConnection&) = delete;
  ApiConnection& operator=(const ApiConnection&) = delete;
  virtual ~ApiConnection() = default;

  [[nodiscard]] virtual HttpApiClient& api() = 0;
  // For the Lease only: connections and a token bucket of its own, so that a flood of other requests cannot
  // delay a renewal, and no repeats, since the election repeats by its own clock.
  [[nodiscard]] virtual ApiClient& leaseApi() = 0;
};

// `executor` must outlive the connection. kInvalid when the configuration cannot be used.
[[nodiscard]] base::Result<std::unique_ptr<ApiConnection>> makeApiClient(
    const ConnectionConfig& config, base::Executor& executor, base::Rng rng, const base::Logger& log,
    const ConnectionOptions& options = {});

}  // namespace trainyard::kube
