#include <catch2/catch.hpp>

#include "tests/unit/net/harness.h"
#include "tests/unit/net/pki.h"

namespace trainyard::net::test {
namespace {

TlsClientConfig trusting(const Pki& pki) { return {.caPem = pki.caPem()}; }

void answerEmpty(const ServerRequest&, const std::shared_ptr<Exchange>& exchange) {
  exchange->reply({.status = 200});
}

TEST_CASE("A server's certificate and key must belong together") {
  const Pki pki;
  const auto server = startHttpServer(
      {.tls = TlsServerConfig{pki.issue("one").certificatePem, pki.issue("two").keyPem}}, answerEmpty);
  REQUIRE_FALSE(server);
  CHECK_THAT(server.error().message,
             Catch::Contains("server certificate and private key do not belong together"));
}

TEST_CASE("New connections get a reloaded certificate and open ones continue") {
  const Pki pki;
  const Pki renewed("renewed CA");
  std::promise<std::shared_ptr<Exchange>> opened;
  const auto server = startServer(
      [&](const ServerRequest& request, std::shared_ptr<Exchange> exchange) {
        if (request.target != "/watch") {
          exchange->reply({.status = 200});
          return;
        }
        exchange->startStream({.status = 200});
        opened.set_value(std::move(exchange));
      },
      {.tls = serverTls(pki.issue("server"))});
  TestClient early({.url = urlOf(*server, "https"), .tls = trusting(pki)});
  StreamLog log;
  auto handle = early.client().stream({.target = "/watch"}, log.callbacks());
  const auto exchange = await(opened.get_future());

  REQUIRE(server->reloadTls(serverTls(renewed.issue("server"))));
  TestClient late({.url = urlOf(*server, "https"), .tls = trusting(renewed)});
  CHECK(late.get("/"));
  TestClient stale({.url = urlOf(*server, "https"), .tls = trusting(pki)});
  CHECK_FALSE(stale.get("/"));
  exchange->write("still here\n");
  CHECK(log.awaitLines(1)[0] == "still here");
  early.loop().run([&] { handle.reset(); });

  CHECK_FALSE(server->reloadTls({"nonsense", "nonsense"}));
  CHECK(late.get("/"));
}

TEST_CASE("A server without TLS cannot reload it") {
  const Pki pki;
  const auto server = startServer(answerEmpty);
  CHECK_FALSE(server->reloadTls(serverTls(pki.issue("server"))));
}

}  // namespace
}  // namespace trainyard::net::test
