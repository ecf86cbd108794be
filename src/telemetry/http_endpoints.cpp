#include "telemetry/http_endpoints.h"

namespace trainyard::telemetry {
namespace {

net::HttpResponse plain(int status, std::string body) {
  return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::move(body)};
}

net::HttpResponse fromReport(Health::Report report) {
  return plain(report.good ? 200 : 503, std::move(report.text));
}

}  // namespace

net::ServerHandler makeEndpoints(const MetricsRegistry& metrics, const Health& health) {
  return [&metrics, &health](const net::ServerRequest& request, const std::shared_ptr<net::Exchange>& exchange) {
    const bool verbose = request.query().starts_with("verbose");
    if (request.method != net::Method::kGet) return exchange->reply(plain(405, "only GET\n"));
    if (request.path() == "/metrics") {
      return exchange->reply({.status = 200,
                              .headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                              .body = metrics.text()});
    }
    if (request.path() == "/healthz") return exchange->reply(fromReport(health.liveness(verbose)));
    if (request.path() == "/readyz") return exchange->reply(fromReport(health.readiness(verbose)));
    exchange->reply(plain(404, "try /metrics, /healthz or /readyz\n"));
  };
}

}  // namespace trainyard::telemetry
