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
  // Threads of the pool that serves all requests; they do not limit the number of requests. Each adds the
  // cost of its wake-ups: 32 threads took a third of the operator's CPU time, with 1,500 jobs at once.
  std::size_t threads = 4;
  RequestObserver observe = {};  // of both clients
  // The interval at which the TLS files are checked for changed contents.
  std::chrono::milliseconds tlsPoll{10'000};
};

// The clients of one API server. They follow rotated certificate files: later requests use the new contents.
// While new contents are invalid, the old ones stay in use.
class ApiConnection {
 public:
  ApiConnection() = default;
  ApiConnection(const ApiConnection&) = delete;
  ApiConnection& operator=(const ApiConnection&) = delete;
  virtual ~ApiConnection() = default;

  [[nodiscard]] virtual HttpApiClient& api() = 0;
  // For the Lease only. It has its own connections and token bucket, so that a flood of other requests cannot
  // delay a renewal. It does not repeat requests, because the election repeats them on its own schedule.
  [[nodiscard]] virtual ApiClient& leaseApi() = 0;
};

// `executor` must outlive the connection. kInvalid if the configuration is unusable.
[[nodiscard]] base::Result<std::unique_ptr<ApiConnection>> makeApiClient(
    const ConnectionConfig& config, base::Executor& executor, base::Rng rng, const base::Logger& log,
    const ConnectionOptions& options = {});

}  // namespace trainyard::kube
