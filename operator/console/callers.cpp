#include "operator/console/callers.h"

#include <utility>

#include "operator/console/answers.h"

namespace trainyard::operator_::console {
namespace {

constexpr const char* kNotRead = "the operator has not read the cluster yet";

}  // namespace

void Callers::identify(const ExchangePtr& exchange, const std::string& token, Names namespaces,
                       std::function<void(const Viewer&)> then) {
  facts_.refresh(
      [this, exchange, token, namespaces = std::move(namespaces), then = std::move(then)](bool known) {
        if (!known) return exchange->reply(refusal(503, kNotRead));
        review(exchange, token, namespaces, then);
      });
}

void Callers::identifyForAllJobs(const ExchangePtr& exchange, const std::string& token,
                                 std::function<void(const Viewer&)> then) {
  facts_.refresh([this, exchange, token, then = std::move(then)](bool known) {
    if (!known) return exchange->reply(refusal(503, kNotRead));
    review(exchange, token, facts_.current().jobNamespaces, then);
  });
}

void Callers::review(const ExchangePtr& exchange, const std::string& token, const Names& namespaces,
                     std::function<void(const Viewer&)> then) {
  access_.viewerOf(token, namespaces, goneOf(exchange),
                   [exchange, then = std::move(then)](base::Result<Viewer> viewer) {
                     if (!viewer)
                       return exchange->reply(refusal(statusOf(viewer.error()), messageOf(viewer.error())));
                     then(*viewer);
                   });
}

Access::Gone goneOf(const ExchangePtr& exchange) {
  return [exchange] { return exchange->clientGone(); };
}

int statusOf(const base::Error& error) {
  if (error.code == base::ErrorCode::kUnauthorized) return 401;
  return error.code == base::ErrorCode::kThrottled ? 429 : 503;
}

std::string_view messageOf(const base::Error& error) {
  switch (statusOf(error)) {
    case 401: return "no token, or one that the API server does not accept";
    case 429: return "too many requests at once; try again in a moment";
    default: return "the API server cannot check permissions now; try again in a moment";
  }
}

}  // namespace trainyard::operator_::console
