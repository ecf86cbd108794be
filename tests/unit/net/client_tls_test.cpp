#include <catch2/catch.hpp>

#include "tests/unit/net/harness.h"
#include "tests/unit/net/pki.h"
#include "tests/unit/net/raw_socket.h"

namespace trainyard::net::test {
namespace {

ServerHandler echoName() {
  return [](ServerRequest request, std::shared_ptr<Exchange> exchange) {
    exchange->reply({.status = 200, .body = request.clientCommonName});
  };
}

TlsClientConfig trusting(const Pki& pki) { return {.caPem = pki.caPem()}; }

TlsClientConfig withIdentity(const Pki& pki, const Certificate& identity) {
  return {.caPem = pki.caPem(), .certificatePem = identity.certificatePem, .privateKeyPem = identity.keyPem};
}

TEST_CASE("A request over TLS is answered") {
  const Pki pki;
  const auto server = startServer(echoName(), {.tls = serverTls(pki.issue("server"))});
  TestClient client({.url = urlOf(*server, "https"), .tls = trusting(pki)});
  const auto answer = client.get("/");
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body.empty());
}

TEST_CASE("A client certificate is asked for and its common name handed on") {
  const Pki pki;
  const auto server = startServer(echoName(), {.tls = serverTls(pki.issue("server"), pki.caPem())});
  TestClient client({.url = urlOf(*server, "https"), .tls = withIdentity(pki, pki.issue("scheduler"))});
  const auto answer = client.get("/");
  REQUIRE(answer);
  CHECK(answer->body == "scheduler");
}

TEST_CASE("A client without a certificate or with one of another CA is refused") {
  const Pki pki;
  const Pki other("other CA");
  const auto server = startServer(echoName(), {.tls = serverTls(pki.issue("server"), pki.caPem())});
  SECTION("none") {
    TestClient client({.url = urlOf(*server, "https"), .tls = trusting(pki)});
    CHECK_FALSE(client.get("/"));
  }
  SECTION("of another CA") {
    TestClient client({.url = urlOf(*server, "https"), .tls = withIdentity(pki, other.issue("scheduler"))});
    CHECK_FALSE(client.get("/"));
  }
}

TEST_CASE("A server whose certificate another CA signed is not trusted and nothing is sent to it") {
  const Pki pki;
  const Pki other("other CA");
  const auto server = startServer(echoName(), {.tls = serverTls(pki.issue("server"))});
  TestClient client({.url = urlOf(*server, "https"), .tls = trusting(other)});
  const auto answer = client.get("/");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == base::ErrorCode::kUnavailable);
  CHECK_THAT(answer.error().message, Catch::Contains("unable to get local issuer certificate"));
}

TEST_CASE("A certificate for another host is not accepted") {
  const Pki pki;
  const auto server =
      startServer(echoName(), {.tls = serverTls(pki.issue("server", {"DNS:elsewhere.example"}))});
  TestClient client({.url = urlOf(*server, "https"), .tls = trusting(pki)});
  const auto answer = client.get("/");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == base::ErrorCode::kUnavailable);
  CHECK_THAT(answer.error().message, Catch::Contains("not for this name"));
}

TEST_CASE("An IPv6 address is verified like every other host") {
  const Pki pki;
  const auto answerOf = [&](const std::string& name) {
    const auto server =
        startServer(echoName(), {.address = "[::1]", .tls = serverTls(pki.issue("server", {name}))});
    TestClient client({.url = "https://[::1]:" + std::to_string(server->port()), .tls = trusting(pki)});
    return client.get("/");
  };
  CHECK(answerOf("IP:::1"));
  const auto other = answerOf("IP:::2");
  REQUIRE_FALSE(other);
  CHECK_THAT(other.error().message, Catch::Contains("not for this name"));
}

TEST_CASE("TLS through a proxy reaches the server itself or fails") {
  const Pki pki;
  std::promise<std::string> asked;
  RawServer proxy([&](RawConnection& connection) {
    asked.set_value(connection.readRequest());
    connection.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  });
  TestClient client({.url = "https://api.example:6443", .proxy = proxy.url(), .tls = trusting(pki)});
  const auto answer = client.get("/secret");
  const std::string request = await(asked.get_future());
  CHECK_THAT(request, Catch::StartsWith("CONNECT api.example:6443 HTTP/1.1\r\n"));
  CHECK_THAT(request, !Catch::Contains("secret"));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == base::ErrorCode::kUnavailable);
  CHECK_THAT(answer.error().message, Catch::Contains("403"));
}

TEST_CASE("The contents of a tunnel are for the server alone and its name is verified") {
  const Pki pki;
  const auto server = startServer(echoName(), {.tls = serverTls(pki.issue("server", {"DNS:api.example"}))});
  std::mutex mutex;
  std::vector<std::string> asked;
  RawServer proxy([&](RawConnection& client) {
    {
      const std::string request = client.readRequest();
      const std::lock_guard lock(mutex);
      asked.push_back(request.substr(0, request.find('\r')));
    }
    client.send("HTTP/1.1 200 Connection established\r\n\r\n");
    auto there = RawConnection::connect(server->port());
    RawConnection::relay(client, there);
  });
  for (const auto& [name, good] :
       {std::pair("https://api.example:6443", true), {"https://other.example", false}}) {
    TestClient client({.url = name, .proxy = proxy.url(), .tls = trusting(pki)});
    const auto answer = client.get("/secret");
    CHECK(answer.has_value() == good);
    if (!answer) CHECK_THAT(answer.error().message, Catch::Contains("not for this name"));
  }
  const std::lock_guard lock(mutex);
  REQUIRE(asked.size() >= 2);
  CHECK(asked.front() == "CONNECT api.example:6443 HTTP/1.1");
  CHECK(asked.back() == "CONNECT other.example:443 HTTP/1.1");
}

TEST_CASE("The name to verify can differ from the host") {
  const Pki pki;
  const auto server = startServer(echoName(), {.tls = serverTls(pki.issue("server", {"DNS:api.example"}))});
  TlsClientConfig tls = trusting(pki);
  tls.serverName = "api.example";
  TestClient client({.url = urlOf(*server, "https"), .tls = tls});
  CHECK(client.get("/"));
}

TEST_CASE("Verification is skipped only where it is asked for") {
  const Pki pki;
  const auto server =
      startServer(echoName(), {.tls = serverTls(pki.issue("server", {"DNS:elsewhere.example"}))});
  TestClient client({.url = urlOf(*server, "https"), .tls = TlsClientConfig{.insecureSkipVerify = true}});
  CHECK(client.get("/"));
}

TEST_CASE("The system's CAs are neither trusted nor needed when a CA is given") {
  const Pki pki;
  const auto server = startServer(echoName(), {.tls = serverTls(pki.issue("server"))});
  TestClient client({.url = urlOf(*server, "https"), .tls = TlsClientConfig{}});
  const auto answer = client.get("/");
  REQUIRE_FALSE(answer);
  CHECK_THAT(answer.error().message, Catch::Contains("TLS handshake failed"));
}

TEST_CASE("Unusable PEM texts are named") {
  const Pki pki;
  const Certificate one = pki.issue("one");
  const Certificate two = pki.issue("two");
  LoopThread loop;
  const auto messageOf = [&](TlsClientConfig tls) {
    auto made = makeClientUnderTest({.url = "https://127.0.0.1:1", .tls = std::move(tls)}, loop.loop());
    REQUIRE_FALSE(made);
    CHECK(made.error().code == base::ErrorCode::kInvalid);
    return made.error().message;
  };
  CHECK_THAT(messageOf({.caPem = "nonsense"}), Catch::Contains("CA bundle: holds no PEM certificate"));
  std::string torn = pki.caPem();
  torn[torn.size() / 2] = '!';
  CHECK_THAT(messageOf({.caPem = torn}), Catch::Contains("CA bundle: certificate 1 is unreadable"));
  CHECK_THAT(messageOf({.caPem = pki.caPem(), .certificatePem = one.certificatePem}),
             Catch::Contains("must be given together"));
  CHECK_THAT(messageOf({.caPem = pki.caPem(), .certificatePem = one.certificatePem, .privateKeyPem = "x"}),
             Catch::Contains("client private key: unreadable"));
  CHECK_THAT(
      messageOf({.caPem = pki.caPem(), .certificatePem = one.certificatePem, .privateKeyPem = two.keyPem}),
      Catch::Contains("do not belong together"));
}

TEST_CASE("A client's next request uses a reloaded certificate and its open stream continues") {
  const Pki pki;
  std::promise<std::shared_ptr<Exchange>> opened;
  const auto server = startServer(
      [&](const ServerRequest& request, std::shared_ptr<Exchange> exchange) {
        if (request.target != "/watch") {
          exchange->reply({.status = 200, .body = request.clientCommonName});
          return;
        }
        exchange->startStream({.status = 200});
        opened.set_value(std::move(exchange));
      },
      {.tls = serverTls(pki.issue("server"), pki.caPem())});
  TestClient client({.url = urlOf(*server, "https"), .tls = withIdentity(pki, pki.issue("first"))});
  StreamLog log;
  auto handle = client.client().stream({.target = "/watch"}, log.callbacks());
  const auto exchange = await(opened.get_future());
  REQUIRE(client.get("/"));

  REQUIRE(client.client().reloadTls(withIdentity(pki, pki.issue("second"))));
  const auto answer = client.get("/");
  REQUIRE(answer);
  CHECK(answer->body == "second");
  exchange->write("still here\n");
  CHECK(log.awaitLines(1)[0] == "still here");
  client.loop().run([&] { handle.reset(); });

  const auto refused = client.client().reloadTls({.caPem = "nonsense"});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains("CA bundle"));
  CHECK(client.get("/"));
}

TEST_CASE("A client follows its server to another CA") {
  const Pki pki;
  const Pki renewed("renewed CA");
  const auto server = startServer(echoName(), {.tls = serverTls(pki.issue("server"))});
  TestClient client({.url = urlOf(*server, "https"), .tls = trusting(pki)});
  REQUIRE(client.get("/"));
  REQUIRE(server->reloadTls(serverTls(renewed.issue("server"))));
  REQUIRE(client.client().reloadTls({.caPem = pki.caPem() + renewed.caPem()}));
  CHECK(client.get("/"));
  REQUIRE(client.client().reloadTls(trusting(pki)));
  CHECK_FALSE(client.get("/"));
}

TEST_CASE("A client without TLS cannot reload it") {
  const Pki pki;
  const auto server = startServer(echoName());
  TestClient client({.url = urlOf(*server)});
  CHECK_FALSE(client.client().reloadTls(trusting(pki)));
}

}  // namespace
}  // namespace trainyard::net::test
