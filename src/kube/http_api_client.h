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

// Called for every attempt, on the executor, with the RBAC verb, the status of the answer (0: no answer) and
// the duration.
using RequestObserver = std::function<void(std::string_view verb, int status, base::Instant::duration took)>;

struct HttpApiClientOptions {
  std::string pathPrefix = {};  // of the server URL, if the API is not at the root
  std::string userAgent = "trainyard";
  net::Headers headers = {};  // sent with every request, e.g. impersonation
  RateLimit rateLimit = {};
  // The attempts of a repeatable request; 1 for callers that repeat it on their own schedule.
  int maxAttempts = 5;
  int maxThrottled = 10;  // answers of 429 with Retry-After before kThrottled is returned
  std::chrono::milliseconds maxRetryAfter{60'000};
  RequestObserver observe = {};
  std::shared_ptr<ServerClock> clock = nullptr;  // fed by the answers; null: unused
};

// ApiClient over HTTP. It repeats requests that surely did not reach the server or got 429 with Retry-After.
// It repeats reads after an unknown outcome or a 5xx as well, and every request once after a 401, with new
// credentials. A write with an unknown outcome is never repeated: the caller gets kOutcomeUnknown. The
// destructor drops pending requests without calling back.
class HttpApiClient final : public ApiClient {
 public:
  HttpApiClient(HttpApiClientOptions options, net::HttpClient& http, CredentialSource& credentials,
                base::Executor& executor, base::Rng rng, base::Logger log);
  ~HttpApiClient() override;

  // Called immediately before each write is sent (a review is not a write); false ends the write as
  // kCancelled. A write may have waited for its token or a Retry-After since its caller checked the lease.
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
