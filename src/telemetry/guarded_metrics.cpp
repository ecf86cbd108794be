#include "telemetry/guarded_metrics.h"

#include <utility>

#include <fmt/format.h>

namespace trainyard::telemetry {
namespace {

constexpr const char* kPath = "/metrics";

net::HttpResponse refusal(int status, std::string_view why) {
  net::HttpResponse response{.status = status,
                             .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                             .body = fmt::format("{}\n", why)};
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 429) response.headers.emplace_back("Retry-After", "1");
  return response;
}

int statusOf(const base::Error& error) {
  switch (error.code) {
    case base::ErrorCode::kUnauthorized: return 401;
    case base::ErrorCode::kForbidden: return 403;
    case base::ErrorCode::kThrottled: return 429;
    default: return 503;
  }
}

}  // namespace

GuardedMetrics::GuardedMetrics(net::ServerHandler inner, kube::ApiClient& api, base::Executor& executor,
                               base::Logger log)
    : inner_(std::move(inner)), executor_(executor), log_(std::move(log)), access_(api, executor, kPath) {}

void GuardedMetrics::answer(const net::ServerRequest& request,
                            const std::shared_ptr<net::Exchange>& exchange) {
  if (request.path() != kPath || request.method != net::Method::kGet) return inner_(request, exchange);
  const std::string token = net::bearerToken(request.headers);
  if (token.empty()) return exchange->reply(refusal(401, "a token is required: Authorization: Bearer TOKEN"));
  if (const auto known = access_.remembered(token)) return take(request, exchange, *known);
  const auto place = capacity_->enter(request.clientAddress);
  if (!place) return exchange->reply(refusal(429, "too many tokens are being checked"));
  executor_.post([weak = weak_from_this(), request, exchange, token, place] {
    const auto self = weak.lock();
    if (!self) return;
    self->access_.check(
        token, [exchange] { return exchange->clientGone(); },
        [weak, request, exchange, place](const kube::PathAccess::Verdict& verdict) {
          const auto still = weak.lock();
          if (!still) return;
          if (!verdict) still->logOnce(verdict.error());
          still->take(request, exchange, verdict);
        });
  });
}

void GuardedMetrics::take(const net::ServerRequest& request, const std::shared_ptr<net::Exchange>& exchange,
                          const kube::PathAccess::Verdict& verdict) {
  if (verdict) return inner_(request, exchange);
  const int status = statusOf(verdict.error());
  // The caller must not see an error between this program and the API server.
  exchange->reply(refusal(status, status == 503 ? "the API server cannot check permissions now"
                                                : std::string_view(verdict.error().message)));
}

// Without this log line, a right that this program lacks would stay unnoticed.
void GuardedMetrics::logOnce(const base::Error& error) {
  if (statusOf(error) != 503 || std::exchange(lastError_, error.message) == error.message) return;
  log_.warning("tokens of clients that ask for metrics cannot be checked", {{"error", error.message}});
}

}  // namespace trainyard::telemetry
