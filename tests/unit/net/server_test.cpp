#include <catch2/catch.hpp>

#include <atomic>

#include "tests/unit/net/harness.h"
#include "tests/unit/net/pki.h"
#include "tests/unit/net/raw_socket.h"

namespace trainyard::net::test {
namespace {

using namespace std::chrono_literals;

ServerHandler answerWith(std::string body) {
  return [body = std::move(body)](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    exchange->reply({.status = 200, .body = body});
  };
}

const std::string kGet = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

TEST_CASE("A handler sees the request as it was sent") {
  std::promise<ServerRequest> seen;
  const auto server = startServer([&](ServerRequest request, std::shared_ptr<Exchange> exchange) {
    seen.set_value(std::move(request));
    exchange->reply({.status = 200});
  });
  auto raw = RawConnection::connect(server->port());
  raw.send(
      "PATCH /a%20b?c=d HTTP/1.1\r\nHost: h\r\nX-Two: 1\r\nx-two: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n");
  const ServerRequest request = await(seen.get_future());
  CHECK(request.method == Method::kPatch);
  CHECK(request.target == "/a%20b?c=d");
  CHECK(findHeader(request.headers, "X-TWO") == "1");
  CHECK(request.body == "abcdefg");
  CHECK(request.body.capacity() >= request.body.size() + kBodyPadding);
  CHECK(request.clientCommonName.empty());
}

TEST_CASE("A body of known length has capacity for a parser's padding") {
  std::promise<ServerRequest> seen;
  const auto server = startServer([&](ServerRequest request, std::shared_ptr<Exchange> exchange) {
    seen.set_value(std::move(request));
    exchange->reply({.status = 200});
  });
  TestClient client({.url = urlOf(*server)});
  REQUIRE(await(client.send({.method = Method::kPost, .target = "/", .body = std::string(300'000, 'x')})));
  const ServerRequest request = await(seen.get_future());
  CHECK(request.body == std::string(300'000, 'x'));
  CHECK(request.body.capacity() >= request.body.size() + kBodyPadding);
}

TEST_CASE("A connection serves requests in order and also pipelined ones") {
  std::atomic<int> count = 0;
  const auto server = startServer([&](const ServerRequest& request, std::shared_ptr<Exchange> exchange) {
    ++count;
    exchange->reply({.status = 200, .body = request.target});
  });
  auto raw = RawConnection::connect(server->port());
  for (int i = 0; i < 3; ++i) {
    raw.send(kGet);
    CHECK_THAT(raw.readUntil("\r\n\r\n/"), Catch::Contains("Connection: keep-alive"));
  }
  raw.send(
      "GET /a HTTP/1.1\r\nHost: h\r\n\r\nPOST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
      "GET /c HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const std::string answers = raw.readToEnd();
  CHECK(answers.find("\r\n\r\n/a") < answers.find("\r\n\r\n/b"));
  CHECK(answers.find("\r\n\r\n/b") < answers.find("\r\n\r\n/c"));
  CHECK_THAT(answers, Catch::EndsWith("/c"));
  CHECK(count == 6);
}

TEST_CASE("HTTP/1.0 clients get an answer they understand") {
  const auto server = startServer([](const ServerRequest& request, std::shared_ptr<Exchange> exchange) {
    if (request.target == "/plain") {
      exchange->reply({.status = 200, .body = "plain"});
      return;
    }
    exchange->startStream({.status = 200});
    exchange->write("streamed");
    exchange->end();
  });
  for (const std::string word : {"plain", "streamed"}) {
    auto raw = RawConnection::connect(server->port());
    raw.send("GET /" + word + " HTTP/1.0\r\n\r\n");
    const std::string answer = raw.readToEnd();
    CHECK_THAT(answer, Catch::EndsWith("\r\n\r\n" + word));
    CHECK_THAT(answer, !Catch::Contains("chunked"));
  }
}

TEST_CASE("A client that sends Expect is answered with 100 or refused") {
  const auto server = startServer(answerWith("thanks"), {.limits = {.maxBodyBytes = 10}});
  SECTION("continue") {
    auto raw = RawConnection::connect(server->port());
    raw.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    CHECK(raw.readUntil("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    raw.send("abc");
    CHECK_THAT(raw.readUntil("thanks"), Catch::StartsWith("HTTP/1.1 200 OK"));
    raw.send(kGet);
    CHECK_THAT(raw.readUntil("thanks"), Catch::StartsWith("HTTP/1.1 200 OK"));
  }
  SECTION("the body is too large") {
    auto raw = RawConnection::connect(server->port());
    raw.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
    CHECK_THAT(raw.readToEnd(), Catch::StartsWith("HTTP/1.1 413"));
  }
  SECTION("something else") {
    auto raw = RawConnection::connect(server->port());
    raw.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\nContent-Length: 3\r\n\r\n");
    CHECK_THAT(raw.readToEnd(), Catch::StartsWith("HTTP/1.1 417"));
  }
}

TEST_CASE("An answer may come later and from any thread") {
  std::promise<std::shared_ptr<Exchange>> asked;
  const auto server = startServer([&](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    asked.set_value(std::move(exchange));
  });
  TestClient client({.url = urlOf(*server)});
  auto answer = client.send({.target = "/"});
  auto exchange = await(asked.get_future());
  CHECK_FALSE(exchange->clientGone());
  exchange->reply({.status = 201, .body = "first"});
  exchange->reply({.status = 500, .body = "second"});
  exchange->write("ignored");
  exchange->end();
  const auto got = await(std::move(answer));
  REQUIRE(got);
  CHECK(got->status == 201);
  CHECK(got->body == "first");
}

TEST_CASE("A handler that throws or forgets to answer gives 500") {
  const auto server = startServer([](const ServerRequest& request, const std::shared_ptr<Exchange>&) {
    if (request.target == "/throw") throw std::runtime_error("oops");
    if (request.target == "/throw-int") throw 7;
  });
  TestClient client({.url = urlOf(*server)});
  for (const std::string target : {"/throw", "/throw-int", "/forget"}) {
    const auto answer = client.get(target);
    REQUIRE(answer);
    CHECK(answer->status == 500);
  }
}

TEST_CASE("A stream that its handler drops is visibly cut") {
  const auto server = startServer([](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    exchange->startStream({.status = 200});
    exchange->write("one\n");
  });
  TestClient client({.url = urlOf(*server)});
  StreamLog log;
  auto handle = client.client().stream({.target = "/"}, log.callbacks());
  CHECK_FALSE(log.awaitEnd());
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("Pieces written by one thread arrive in order and whole") {
  const auto server = startServer([](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    std::thread([exchange = std::move(exchange)] {
      exchange->startStream({.status = 200});
      for (int i = 0; i < 20'000; ++i) exchange->write(std::to_string(i) + "\n");
      exchange->end();
    }).detach();
  });
  TestClient client({.url = urlOf(*server)});
  StreamLog log;
  auto handle = client.client().stream({.target = "/"}, log.callbacks());
  REQUIRE(log.awaitEnd());
  const auto lines = log.awaitLines(20'000);
  bool inOrder = true;
  for (std::size_t i = 0; i < lines.size(); ++i) inOrder = inOrder && lines[i] == std::to_string(i);
  CHECK(inOrder);
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("A connection continues after a stream that ended") {
  const auto server = startServer([](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    exchange->startStream({.status = 200});
    exchange->write("x");
    exchange->end();
  });
  auto raw = RawConnection::connect(server->port());
  for (int i = 0; i < 3; ++i) {
    raw.send(kGet);
    CHECK_THAT(raw.readUntil("0\r\n\r\n"), Catch::EndsWith("\r\n\r\n1\r\nx\r\n0\r\n\r\n"));
  }
}

TEST_CASE("A client that does not read loses its stream instead of filling memory") {
  std::promise<std::shared_ptr<Exchange>> opened;
  const auto server = startServer(
      [&](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
        exchange->startStream({.status = 200});
        opened.set_value(std::move(exchange));
      },
      {.limits = {.writeTimeout = 60s}});
  auto raw = RawConnection::connect(server->port());
  raw.send(kGet);
  const auto exchange = await(opened.get_future());
  const std::string megabyte(1u << 20, 'x');
  int written = 0;
  for (; written < 1000 && !exchange->clientGone(); ++written) exchange->write(megabyte);
  CHECK(exchange->clientGone());
  CHECK(written >= 64);
  CHECK(written < 200);
}

TEST_CASE("A client that reads no more is dropped after the write timeout") {
  std::promise<std::shared_ptr<Exchange>> opened;
  const auto server = startServer(
      [&](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
        exchange->startStream({.status = 200});
        exchange->write(std::string(32u << 20, 'x'));
        opened.set_value(std::move(exchange));
      },
      {.limits = {.writeTimeout = 100ms}});
  auto raw = RawConnection::connect(server->port());
  raw.send(kGet);
  const auto exchange = await(opened.get_future());
  const auto start = std::chrono::steady_clock::now();
  while (!exchange->clientGone() && std::chrono::steady_clock::now() - start < kPatience) {
    std::this_thread::sleep_for(5ms);
  }
  CHECK(exchange->clientGone());
}

TEST_CASE("A client that leaves is noticed while its answer is being made") {
  std::promise<std::shared_ptr<Exchange>> asked;
  const auto server = startServer([&](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    asked.set_value(std::move(exchange));
  });
  std::shared_ptr<Exchange> exchange;
  {
    auto raw = RawConnection::connect(server->port());
    raw.send(kGet);
    exchange = await(asked.get_future());
    CHECK_FALSE(exchange->clientGone());
  }
  const auto start = std::chrono::steady_clock::now();
  while (!exchange->clientGone() && std::chrono::steady_clock::now() - start < kPatience)
    std::this_thread::yield();
  CHECK(exchange->clientGone());
  exchange->reply({.status = 200});
}

TEST_CASE("A client that only closes its sending side still gets its answer") {
  std::promise<std::shared_ptr<Exchange>> asked;
  const auto server = startServer([&](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    asked.set_value(std::move(exchange));
  });
  auto raw = RawConnection::connect(server->port());
  raw.send(kGet);
  raw.closeSending();
  await(asked.get_future())->reply({.status = 200, .body = "late"});
  CHECK_THAT(raw.readToEnd(), Catch::EndsWith("late"));
}

TEST_CASE("Addresses and ports") {
  CHECK(startHttpServer({.address = "0.0.0.0"}, answerWith("")));
  CHECK(startHttpServer({.address = "[::1]"}, answerWith("")));
  CHECK(startHttpServer({.address = "[::]"}, answerWith("")));
  const auto nonsense = startHttpServer({.address = "localhost"}, answerWith(""));
  REQUIRE_FALSE(nonsense);
  CHECK(nonsense.error().code == base::ErrorCode::kInvalid);
  const auto first = startServer(answerWith(""));
  const auto taken = startHttpServer({.port = first->port()}, answerWith(""));
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == base::ErrorCode::kUnavailable);
  CHECK_THAT(taken.error().message, Catch::Contains(std::to_string(first->port())));
}

TEST_CASE("A server with open connections shuts down within a second") {
  const bool tls = GENERATE(false, true);
  const Pki pki;
  std::promise<std::shared_ptr<Exchange>> streaming;
  std::promise<std::shared_ptr<Exchange>> asked;
  ServerOptions options;
  if (tls) options.tls = serverTls(pki.issue("server"));
  auto server = startServer(
      [&](const ServerRequest& request, std::shared_ptr<Exchange> exchange) {
        if (request.target == "/stream") {
          exchange->startStream({.status = 200});
          streaming.set_value(std::move(exchange));
        } else if (request.target == "/never") {
          asked.set_value(std::move(exchange));
        } else {
          exchange->reply({.status = 200});
        }
      },
      options);
  ClientOptions clientOptions{.url = urlOf(*server, tls ? "https" : "http")};
  if (tls) clientOptions.tls = TlsClientConfig{.caPem = pki.caPem()};
  TestClient client(clientOptions);
  CHECK(client.get("/"));
  StreamLog log;
  auto handle = client.client().stream({.target = "/stream"}, log.callbacks());
  auto never = client.send({.target = "/never"});
  const auto held = await(asked.get_future());
  const auto stream = await(streaming.get_future());
  auto silent = RawConnection::connect(server->port());
  auto half = RawConnection::connect(server->port());
  half.send("GET / HT");

  const auto start = std::chrono::steady_clock::now();
  server.reset();
  CHECK(std::chrono::steady_clock::now() - start < 1s);
  CHECK_FALSE(await(std::move(never)));
  CHECK_FALSE(log.awaitEnd());
  held->reply({.status = 200});
  stream->write("not received");
  CHECK(held->clientGone());
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("A server that shuts down finishes a short answer") {
  std::promise<void> asked;
  auto server = startServer([&](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
    std::thread([exchange = std::move(exchange)] {
      std::this_thread::sleep_for(100ms);
      exchange->reply({.status = 200, .body = "just in time"});
    }).detach();
    asked.set_value();
  });
  TestClient client({.url = urlOf(*server)});
  auto answer = client.send({.target = "/"});
  asked.get_future().wait();
  server.reset();
  const auto got = await(std::move(answer));
  REQUIRE(got);
  CHECK(got->body == "just in time");
}

}  // namespace
}  // namespace trainyard::net::test
