// The whole port over real HTTPS: the API server's verdicts and their effects.
#include "telemetry/metrics_server.h"

#include <future>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "telemetry/http_endpoints.h"
#include "telemetry/waiter_limit.h"
#include "tests/unit/net/harness.h"

namespace trainyard::telemetry::test {
namespace {

using net::test::await;
using net::test::TestClient;

// Answers at once, on the loop, as configured; if it is held, when it is released.
class Api final : public kube::ApiClient {
 public:
  bool away = false;
  bool held = false;
  std::vector<std::function<void()>> kept;
  std::promise<void> full;  // as many as one address may have

  void request(kube::ApiRequest request, kube::ApiCallback done) override {
    auto say = [this, request, done] { done(answer(request)); };
    if (!held) return say();
    kept.push_back(say);
    if (kept.size() == WaiterLimit::kMaxOfAddress) full.set_value();
  }
  std::unique_ptr<net::StreamHandle> watch(kube::ApiRequest, std::function<void(std::string)>,
                                           std::function<void(base::Result<void>)>) override {
    return nullptr;
  }

 private:
  [[nodiscard]] base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) const {
    const auto has = [&](const char* text) { return request.body.find(text) != std::string::npos; };
    if (away) return base::fail(base::ErrorCode::kUnavailable, "10.96.0.1: connection refused");
    if (!request.path.ends_with("tokenreviews"))
      return kube::ApiResponse{201, has("prometheus") ? R"({"status":{"allowed":true}})" : "{}"};
    if (has("forged")) return kube::ApiResponse{201, "{}"};
    return kube::ApiResponse{
        201, has("prometheus") ? R"({"status":{"authenticated":true,"user":{"username":"prometheus"}}})"
                               : R"({"status":{"authenticated":true,"user":{"username":"ann"}}})"};
  }
};

struct Fixture {
  MetricsRegistry metrics;
  Health health;
  base::SilentSink nowhere;
  Api api;
  net::test::LoopThread loop;
  std::unique_ptr<MetricsServer> server;
  std::optional<TestClient> client;

  Fixture() { metrics.counter("x_total", "X.").increment(); }
  ~Fixture() {
    client.reset();
    loop.run([this] {
      api.kept.clear();
      server.reset();
    });
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  void start(bool secure, net::TlsFiles files = {}) {
    loop.run([&] {
      auto started = MetricsServer::start(
          {.listen = "127.0.0.1:0", .secure = secure, .tls = std::move(files)},
          {metrics, health, api, loop.loop(), base::Logger(nowhere, base::LogLevel::kError, "test")});
      REQUIRE(started);
      server = std::move(*started);
    });
    client.emplace(options(secure));
  }
  [[nodiscard]] net::ClientOptions options(bool secure) const {
    net::ClientOptions options{.url =
                                   fmt::format("http{}://127.0.0.1:{}", secure ? "s" : "", server->port())};
    if (secure) options.tls = net::TlsClientConfig{.insecureSkipVerify = true};
    return options;
  }
  static net::HttpRequest request(std::string target, const std::string& token) {
    net::HttpRequest request{.target = std::move(target)};
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
    return request;
  }
  net::HttpResponse ask(std::string target, const std::string& token = "") {
    const auto answer = await(client->send(request(std::move(target), token)));
    REQUIRE(answer);
    return *answer;
  }
};

TEST_CASE_METHOD(Fixture, "Over plain HTTP every client is answered") {
  start(false);
  CHECK_THAT(ask("/metrics").body, Catch::Contains("x_total 1\n"));
  CHECK(ask("/healthz").status == 200);
}

TEST_CASE_METHOD(Fixture, "Over HTTPS metrics need a token that may get them") {
  start(true);
  CHECK_THAT(ask("/metrics", "prometheus").body, Catch::Contains("x_total 1\n"));
  CHECK(ask("/metrics", "prometheus").status == 200);
  const auto anonymous = ask("/metrics");
  CHECK(anonymous.status == 401);
  CHECK(net::findHeader(anonymous.headers, "WWW-Authenticate") == "Bearer");
  CHECK(ask("/metrics", "forged").status == 401);
  CHECK(ask("/metrics?x=y", "ann").status == 403);
}

TEST_CASE_METHOD(Fixture, "Probes need no token") {
  api.away = true;
  start(true);
  CHECK(ask("/healthz").status == 200);
  CHECK(ask("/readyz?verbose").status == 200);
}

TEST_CASE_METHOD(Fixture, "While the API server is unreachable an unknown token gets no metrics") {
  start(true);
  CHECK(ask("/metrics", "prometheus").status == 200);
  api.away = true;
  CHECK(ask("/metrics", "prometheus").status == 200);
  const auto other = ask("/metrics", "prometheus-2");
  CHECK(other.status == 503);
  CHECK_THAT(other.body, !Catch::Contains("10.96.0.1"));
}

TEST_CASE_METHOD(Fixture, "Probes are answered while many requests wait for a verdict") {
  start(true);
  CHECK(ask("/metrics", "prometheus").status == 200);
  loop.run([this] { api.held = true; });
  std::vector<std::future<base::Result<net::HttpResponse>>> waiting;
  for (std::size_t i = 0; i < WaiterLimit::kMaxOfAddress; ++i)
    waiting.push_back(client->send(request("/metrics", fmt::format("forged-{}", i))));
  await(api.full.get_future());
  // Requests beyond the limit are refused at once; cached verdicts and probes still work.
  TestClient other(options(true));
  CHECK(await(other.send(request("/metrics", "forged"))).value().status == 429);
  CHECK(await(other.send(request("/healthz", ""))).value().status == 200);
  CHECK(await(other.send(request("/metrics", "prometheus"))).value().status == 200);
  loop.run([this] {
    api.held = false;
    for (const auto& say : std::exchange(api.kept, {})) say();
  });
  for (auto& each : waiting) CHECK(await(std::move(each)).value().status == 401);
  CHECK(await(other.send(request("/metrics", "forged"))).value().status == 401);
}

TEST_CASE_METHOD(Fixture, "Missing files do not prevent the start") {
  start(true, {.certificate = "/nowhere/tls.crt", .privateKey = "/nowhere/tls.key"});
  CHECK(ask("/healthz").status == 200);
}

TEST_CASE_METHOD(Fixture, "An invalid address is named") {
  const auto started = MetricsServer::start(
      {.listen = "here"},
      {metrics, health, api, loop.loop(), base::Logger(nowhere, base::LogLevel::kError, "test")});
  REQUIRE_FALSE(started);
  CHECK(started.error().code == base::ErrorCode::kInvalid);
  CHECK_THAT(started.error().message, Catch::Contains("here"));
}

}  // namespace
}  // namespace trainyard::telemetry::test
