#include <catch2/catch.hpp>

#include "telemetry/http_endpoints.h"

namespace trainyard::telemetry::test {
namespace {

class Recorder final : public net::Exchange {
 public:
  void reply(net::HttpResponse response) override { answer = std::move(response); }
  void startStream(net::HttpResponse) override {}
  void write(std::string) override {}
  void end() override {}
  [[nodiscard]] bool clientGone() const override { return false; }

  net::HttpResponse answer;
};

struct Fixture {
  MetricsRegistry metrics;
  Health health;

  net::HttpResponse ask(std::string target, net::Method method = net::Method::kGet) {
    const auto recorder = std::make_shared<Recorder>();
    makeEndpoints(metrics, health)({.method = method, .target = std::move(target)}, recorder);
    return recorder->answer;
  }
};

TEST_CASE_METHOD(Fixture, "Metrics are served in the format Prometheus asks for") {
  metrics.counter("x_total", "X.").increment();
  const auto answer = ask("/metrics");
  CHECK(answer.status == 200);
  CHECK_THAT(std::string(net::findHeader(answer.headers, "content-type")),
             Catch::StartsWith("text/plain; version=0.0.4"));
  CHECK_THAT(answer.body, Catch::Contains("x_total 1\n"));
}

TEST_CASE_METHOD(Fixture, "Liveness and readiness are separate") {
  health.addLivenessCheck("loop", [] { return base::Result<void>(); });
  health.addReadinessCheck("caches", []() -> base::Result<void> {
    return base::fail(base::ErrorCode::kUnavailable, "pods are not listed yet");
  });
  CHECK(ask("/healthz").status == 200);
  CHECK(ask("/healthz").body == "ok\n");
  CHECK(ask("/readyz").status == 503);
  CHECK(ask("/readyz").body == "[-] caches failed: pods are not listed yet\n");
}

TEST_CASE_METHOD(Fixture, "Details are given on request") {
  health.addLivenessCheck("loop", [] { return base::Result<void>(); });
  const std::string detailed = "[+] loop ok\nok\n";
  CHECK(ask("/healthz?verbose").body == detailed);
  CHECK(ask("/healthz?verbose=1").body == detailed);
  CHECK(ask("/healthz?timeout=1&verbose").body == detailed);
  CHECK(ask("/healthz?").body == "ok\n");
  CHECK(ask("/healthz?verbosely&&x=verbose").body == "ok\n");
}

TEST_CASE_METHOD(Fixture, "Anything else is refused") {
  CHECK(ask("/").status == 404);
  CHECK(ask("/metricsx").status == 404);
  CHECK(ask("/metrics", net::Method::kPost).status == 405);
}

}  // namespace
}  // namespace trainyard::telemetry::test
