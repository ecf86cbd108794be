#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/credentials.h"
#include "kube/rate_limiter.h"
#include "kube/server_clock.h"
#include "net/http.h"

namespace trainyard::kube {

// Told of every attempt: the verb of RBAC, the answer's status (0: none came), how long it took. On the
// executor.
using RequestObserver = std::function<void(std::string_view verb, int status, base::Instant::duration took)>;

struct HttpApiClientOptions {
  std::string pathPrefix = {};  // of the server URL, where the API is not at the root
  std::string userAgent = "trainyard";
  net::Headers headers = {};  // sent with every request, e.g. impersonation
  RateLimit rateLimit = {};
  // Tries of one request where another one does no harm; 1 for callers that repeat by their own clock.
  int maxAttempts = 5;
  int maxThrottled = 10;  // answers 429 with Retry-After to wait for, then the caller gets kThrottled
  std::chrono::milliseconds maxRetryAfter{60'000};
  RequestObserver observe = {};
  std::shared_ptr<ServerClock> clock = nullptr;  // learns from the answers; absent: nothing does
};

// ApiClient over HTTP. What it repeats by itself: anything that surely did not reach the server or was
// answered 429 with Retry-After; reads also after an unknown outcome or a 5xx; everything once after a 401,
// with fresh credentials. A write whose outcome is unknown is never repeated: the caller gets
// kOutcomeUnknown. Destroying it forgets pending requests without calling back.
class HttpApiClient final : public ApiClient {
 public:
  HttpApiClient(HttpApiClientOptions options, net::HttpClient& http, CredentialSource& credentials,
                base::Executor& executor, base::Rng rng, base::Logger log);
  ~HttpApiClient() override;

  // Asked immediately before each write (no review is one) is sent; false ends it as kCancelled. A write may
  // have waited for its token or a Retry-After since its caller looked at the lease.
  void guardWrites(std::function<bool()> mayWrite);

  void request(ApiRequest request, ApiCallback done) override;
  [[nodiscard]] std::unique_ptr<net::StreamHandle> watch(
      ApiRequest request, std::function<void(std::string line)> lines,
      std::function<void(base::Result<void>)> end) override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainyard::kube
