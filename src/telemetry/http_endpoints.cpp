#include "telemetry/http_endpoints.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace trainyard::telemetry {
namespace {

net::HttpResponse plain(int status, std::string body) {
  return {
      .status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::move(body)};
}

// Matches "?verbose", with or without a value, among other parameters.
bool asksForDetail(std::string_view query) {
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    if (parameter.substr(0, parameter.find('=')) == "verbose") return true;
    query.remove_prefix(std::min(parameter.size() + 1, query.size()));
  }
  return false;
}

net::HttpResponse fromReport(Health::Report report) {
  return plain(report.good ? 200 : 503, std::move(report.text));
}

}  // namespace

net::ServerHandler makeEndpoints(const MetricsRegistry& metrics, const Health& health) {
  return
      [&metrics, &health](const net::ServerRequest& request, const std::shared_ptr<net::Exchange>& exchange) {
        const bool verbose = asksForDetail(request.query());
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

net::ServerLimits endpointLimits() {
  return {
      .maxConnections = 128, .maxHeaderBytes = 8u << 10, .maxBodyBytes = 1024, .maxBodiesBytes = 64u << 10};
}

}  // namespace trainyard::telemetry
