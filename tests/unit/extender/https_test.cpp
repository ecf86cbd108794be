// The handler behind the real server, over TLS with client certificates, as kube-scheduler calls it.

#include <thread>

#include <catch2/catch.hpp>

#include "base/event_loop.h"
#include "base/silent_log.h"
#include "extender/guard_service.h"
#include "requests.h"
#include "support/builders.h"
#include "unit/net/harness.h"
#include "unit/net/pki.h"

namespace {

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::extender::test;
using net::test::Pki;
using net::test::TestClient;

struct Fixture {
  Pki ca;
  base::EventLoop clock;
  base::SilentSink nowhere;
  telemetry::MetricsRegistry registry;
  extender::ExtenderMetrics metrics{registry};
  extender::GuardService service{clock, metrics, base::Logger(nowhere, base::LogLevel::kError, "extender")};
  std::unique_ptr<net::HttpServer> server = net::test::startServer(
      [this](net::ServerRequest request, const std::shared_ptr<net::Exchange>& exchange) {
        exchange->reply(service.answer(request));
      },
      {.tls = net::test::serverTls(ca.issue("trainyard-extender"), ca.caPem()),
       .limits = {.maxBodyBytes = 1u << 20}});

  Fixture() {
    SnapshotBuilder snapshot = cluster();
    for (int i = 0; i < 500; ++i) snapshot.add(node(fmt::format("n{:04}", i)).gpus(8));
    service.publish({std::make_shared<const core::GuardView>(snapshot.build()), nullptr}, {});
  }

  std::unique_ptr<TestClient> client(const Pki& issuer) const {
    const auto identity = issuer.issue("kube-scheduler");
    return std::make_unique<TestClient>(
        net::ClientOptions{.url = net::test::urlOf(*server, "https"),
                           .tls = net::TlsClientConfig{.caPem = ca.caPem(),
                                                       .certificatePem = identity.certificatePem,
                                                       .privateKeyPem = identity.keyPem}});
  }
};

base::Result<net::HttpResponse> filter(TestClient& client, std::string body) {
  return net::test::await(client.send({.method = net::Method::kPost,
                                       .target = "/v1/extender/filter",
                                       .headers = {{"Content-Type", "application/json"}},
                                       .body = std::move(body)}));
}

std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(fmt::format("n{:04}", i));
  return all;
}

TEST_CASE("kube-scheduler's requests are answered over mutual TLS") {
  Fixture f;
  const auto client = f.client(f.ca);
  const auto answer = filter(*client, argsJson(foreignPodJson("a", 4), names(500)));
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body.find(R"("NodeNames":["n0000","n0001",)") != std::string::npos);
  CHECK(answer->body.ends_with(R"("Error":""})"));
}

TEST_CASE("a client of another CA is refused") {
  Fixture f;
  const Pki foreignPod("another CA");
  const auto client = f.client(foreignPod);
  CHECK_FALSE(filter(*client, argsJson(foreignPodJson("a", 4), names(1))));
  CHECK(f.registry.text().find(R"(result="ok",verb="filter"} 1)") == std::string::npos);
}

TEST_CASE("a request beyond the limit is refused and the next one answered") {
  Fixture f;
  const auto client = f.client(f.ca);
  const auto refused = filter(*client, std::string(3u << 20, ' '));
  CHECK((!refused || refused->status == 413));
  CHECK(filter(*client, argsJson(foreignPodJson("a", 4), names(2)))->status == 200);
}

TEST_CASE("requests of several connections and new views do not disturb each other") {
  Fixture f;
  constexpr int kClients = 4;
  constexpr int kRequests = 25;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&f, &good, c] {
      const auto client = f.client(f.ca);
      for (int i = 0; i < kRequests; ++i) {
        const auto answer =
            filter(*client, argsJson(foreignPodJson(fmt::format("p{}-{}", c, i), 1), names(100)));
        if (answer && answer->status == 200 && answer->body.ends_with(R"("Error":""})")) ++good;
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    f.service.publish({std::make_shared<const core::GuardView>(f.service.view()->snapshot()), nullptr},
                      {model::Uid(fmt::format("uid-p0-{}", i))});
    f.service.expireHolds();
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == kClients * kRequests);
}

}  // namespace
