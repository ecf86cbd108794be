#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "tests/unit/net/harness.h"
#include "tests/unit/net/pki.h"
#include "tests/unit/net/raw_socket.h"

namespace trainyard::net::test {
namespace {

using namespace std::chrono_literals;

// Counts the handled requests, so that a test can verify that there were none.
struct Counting {
  std::atomic<int> handled = 0;
  [[nodiscard]] ServerHandler handler() {
    return [this](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
      ++handled;
      exchange->reply({.status = 200, .body = "fine"});
    };
  }
};

bool serves(const HttpServer& server) {
  auto raw = RawConnection::connect(server.port());
  raw.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  return raw.readUntil("fine").starts_with("HTTP/1.1 200");
}

TEST_CASE("Malformed requests are refused with 400 and the connection closed") {
  Counting counting;
  const auto server = startServer(counting.handler());
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\n";
  const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
  const auto request = GENERATE_COPY(
      as<std::string>{}, chunked + "-1\r\nabc\r\n0\r\n\r\n", chunked + "zz\r\nabc\r\n0\r\n\r\n",
      chunked + "ffffffffffffffffff\r\nabc", chunked + "3\r\nabcdef\r\n0\r\n\r\n",
      head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
      head + "Content-Length: -5\r\n\r\nabcde", head + "Content-Length: five\r\n\r\nabcde",
      head + "Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde", "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/3.7\r\nHost: h\r\n\r\n", "GET\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nBad Name: x\r\n\r\n", "GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n",
      "\x16\x03\x01\x02\x01\x01\xfc\x03\x03 this is a TLS hello\r\n\r\n");
  auto raw = RawConnection::connect(server->port());
  raw.send(request);
  const std::string answer = raw.readToEnd();
  CAPTURE(request);
  CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 400 ") && Catch::Contains("Connection: close"));
  CHECK(counting.handled == 0);
  CHECK(serves(*server));
}

TEST_CASE("Methods we do not speak are answered with 405") {
  Counting counting;
  const auto server = startServer(counting.handler());
  const std::string method = GENERATE("HEAD", "OPTIONS", "TRACE", "CONNECT", "BREW");
  auto raw = RawConnection::connect(server->port());
  raw.send(method + " / HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK_THAT(raw.readToEnd(), Catch::StartsWith("HTTP/1.1 405 ") && Catch::Contains("Allow: GET"));
  CHECK(counting.handled == 0);
}

TEST_CASE("A header beyond the limit is answered with 431 in any form") {
  Counting counting;
  const auto server = startServer(counting.handler(), {.limits = {.maxHeaderBytes = 4096}});
  auto raw = RawConnection::connect(server->port());
  raw.send("GET / HTTP/1.1\r\nHost: h\r\n");
  SECTION("one huge field") {
    raw.send("X-Big: ");
    const std::string piece(4096, 'x');
    for (int i = 0; i < 256 && raw.send(piece); ++i) {
    }
  }
  SECTION("many fields") {
    for (int i = 0; i < 2000 && raw.send(fmt::format("X-{}: value\r\n", i)); ++i) {
    }
  }
  SECTION("complete in one go") { raw.send("X-Big: " + std::string(5000, 'x') + "\r\n\r\n"); }
  CHECK_THAT(raw.readToEnd(), Catch::StartsWith("HTTP/1.1 431 "));
  CHECK(counting.handled == 0);
}

TEST_CASE("A body beyond the limit is answered with 413 even while the client continues to send") {
  Counting counting;
  const auto server = startServer(counting.handler(), {.limits = {.maxBodyBytes = 100'000}});
  auto raw = RawConnection::connect(server->port());
  SECTION("by its length") {
    raw.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n");
    const std::string piece(10'000, 'x');
    for (int i = 0; i < 200 && raw.send(piece); ++i) {
    }
  }
  SECTION("99 GB") { raw.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99000000000\r\n\r\n"); }
  SECTION("in chunks") {
    raw.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string piece = fmt::format("{:x}\r\n{}\r\n", 10'000, std::string(10'000, 'x'));
    for (int i = 0; i < 200 && raw.send(piece); ++i) {
    }
  }
  CHECK_THAT(raw.readToEnd(), Catch::StartsWith("HTTP/1.1 413 "));
  CHECK(counting.handled == 0);
}

TEST_CASE("An endless chunk extension or trailer is refused") {
  Counting counting;
  const auto server = startServer(counting.handler());
  auto raw = RawConnection::connect(server->port());
  raw.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  raw.send(GENERATE("3;x=", "0\r\nX-Trailer: "));
  const std::string piece(10'000, 'x');
  for (int i = 0; i < 100 && raw.send(piece); ++i) {
  }
  CHECK_THAT(raw.readToEnd(), Catch::StartsWith("HTTP/1.1 4"));
  CHECK(counting.handled == 0);
}

TEST_CASE("Half a request and then silence is answered with 408 after the read timeout") {
  Counting counting;
  const auto server = startServer(counting.handler(), {.limits = {.readTimeout = 200ms}});
  const std::string half = GENERATE("G", "GET / HTTP/1.1\r\nHost: h\r\n",
                                    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  auto raw = RawConnection::connect(server->port());
  const auto start = std::chrono::steady_clock::now();
  raw.send(half);
  CHECK_THAT(raw.readToEnd(), Catch::StartsWith("HTTP/1.1 408 "));
  const auto took = std::chrono::steady_clock::now() - start;
  CHECK(took >= 200ms);
  CHECK(took < 5s);
  CHECK(counting.handled == 0);
}

TEST_CASE("A request that drips byte by byte does not outlive the read timeout") {
  Counting counting;
  const auto server = startServer(counting.handler(), {.limits = {.readTimeout = 300ms}});
  auto raw = RawConnection::connect(server->port());
  const auto start = std::chrono::steady_clock::now();
  raw.send("GET / HTTP/1.1\r\nX-Slow: ");
  while (raw.send("x") && std::chrono::steady_clock::now() - start < 600ms) std::this_thread::sleep_for(20ms);
  CHECK_THAT(raw.readToEnd(), Catch::StartsWith("HTTP/1.1 408 "));
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("Silence instead of a TLS handshake ends after the read timeout") {
  const Pki pki;
  Counting counting;
  const auto server = startServer(counting.handler(),
                                  {.tls = serverTls(pki.issue("server")), .limits = {.readTimeout = 200ms}});
  auto raw = RawConnection::connect(server->port());
  CHECK(raw.readToEnd().empty());
}

TEST_CASE("An idle connection is closed after the idle timeout") {
  Counting counting;
  const auto server = startServer(counting.handler(), {.limits = {.idleTimeout = 200ms}});
  auto raw = RawConnection::connect(server->port());
  raw.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK_THAT(raw.readUntil("fine"), Catch::StartsWith("HTTP/1.1 200"));
  const auto start = std::chrono::steady_clock::now();
  CHECK(raw.readToEnd().empty());
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("Plain HTTP on a TLS port gets an answer that names HTTPS") {
  const Pki pki;
  Counting counting;
  const auto server = startServer(counting.handler(), {.tls = serverTls(pki.issue("server"))});
  auto raw = RawConnection::connect(server->port());
  raw.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK_THAT(raw.readToEnd(), Catch::StartsWith("HTTP/1.1 400 ") && Catch::Contains("HTTPS only"));
  auto noise = RawConnection::connect(server->port());
  noise.send("\x7f\x45\x4c\x46 this is neither");
  CHECK_THAT(noise.readToEnd(), !Catch::StartsWith("HTTP"));
  CHECK(counting.handled == 0);
  TestClient client({.url = urlOf(*server, "https"), .tls = TlsClientConfig{.caPem = pki.caPem()}});
  CHECK(client.get("/"));
}

TEST_CASE("Beyond the cap a new connection replaces the one that has waited longest without a request") {
  Counting counting;
  const auto server = startServer(counting.handler(), {.limits = {.maxConnections = 20}});
  std::vector<RawConnection> served;
  for (int i = 0; i < 10; ++i) {
    served.push_back(RawConnection::connect(server->port()));
    served.back().send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK_THAT(served.back().readUntil("fine"), Catch::StartsWith("HTTP/1.1 200"));
  }
  std::vector<RawConnection> silent;
  for (int i = 0; i < 30; ++i) silent.push_back(RawConnection::connect(server->port()));
  // Twenty of the silent ones were closed, the oldest first; none that had been served.
  for (std::size_t i = 0; i < 20; ++i) CHECK(silent[i].readToEnd().empty());
  for (RawConnection& each : served) {
    CHECK(each.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    CHECK_THAT(each.readUntil("fine"), Catch::StartsWith("HTTP/1.1 200"));
  }
  CHECK(serves(*server));
}

TEST_CASE("Beyond the cap the address with the most connections loses one and a new address does not") {
  Counting counting;
  const auto server = startServer(counting.handler(), {.limits = {.maxConnections = 10}});
  std::vector<RawConnection> many;
  for (int i = 0; i < 9; ++i) {
    many.push_back(RawConnection::connectFrom(2, server->port()));
    many.back().send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK_THAT(many.back().readUntil("fine"), Catch::StartsWith("HTTP/1.1 200"));
  }
  RawConnection probe = RawConnection::connectFrom(3, server->port());
  for (int i = 0; i < 9; ++i) many.push_back(RawConnection::connectFrom(2, server->port()));
  for (std::size_t i = 9; i < 17; ++i) CHECK(many[i].readToEnd().empty());
  // One of those that were served: the first whose answer the server has seen leave.
  int served = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    const bool isSent = many[i].send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    if (isSent && !many[i].readUntil("fine").empty()) ++served;
  }
  CHECK(served == 8);
  CHECK(probe.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  CHECK_THAT(probe.readUntil("fine"), Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE("A connection whose client does not read a large answer can be replaced") {
  const auto server = startServer(
      [](const ServerRequest& request, const std::shared_ptr<Exchange>& exchange) {
        exchange->reply(
            {.status = 200, .body = request.path() == "/large" ? std::string(32u << 20, 'x') : "fine"});
      },
      {.limits = {.maxConnections = 3}});
  std::vector<RawConnection> slow;
  for (int i = 0; i < 3; ++i) {
    slow.push_back(RawConnection::connectFrom(2, server->port()));
    slow.back().send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK_THAT(slow.back().readUntil("\r\n\r\n"), Catch::StartsWith("HTTP/1.1 200"));
  }
  RawConnection other = RawConnection::connectFrom(3, server->port());
  CHECK(other.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  CHECK_THAT(other.readUntil("fine"), Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE("Beyond the cap a connection is closed at once while all others are being answered") {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<Exchange>> asked;
  const auto server = startServer(
      [&](const ServerRequest&, std::shared_ptr<Exchange> exchange) {
        const std::lock_guard lock(mutex);
        asked.push_back(std::move(exchange));
        changed.notify_all();
      },
      {.limits = {.maxConnections = 3}});
  std::vector<RawConnection> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(RawConnection::connect(server->port()));
    waiting.back().send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, 20s, [&] { return asked.size() == 3; }));
  }
  CHECK(RawConnection::connect(server->port()).readToEnd().empty());
  for (const auto& exchange : asked) exchange->reply({.status = 200, .body = "fine"});
  for (RawConnection& each : waiting) CHECK_THAT(each.readUntil("fine"), Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE("Large bodies beyond the common limit are answered with 503 and small ones served") {
  Counting counting;
  const auto server =
      startServer(counting.handler(), {.limits = {.maxBodiesBytes = 1u << 20, .readTimeout = 1s}});
  const auto post = [](std::size_t bytes) {
    return fmt::format("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", bytes);
  };
  auto first = RawConnection::connect(server->port());
  first.send(post(2'000'000) + std::string(700'000, 'x'));
  // The second can only be refused after the first one's bytes have arrived, in whichever order they come.
  auto second = RawConnection::connect(server->port());
  second.send(post(2'000'000) + std::string(700'000, 'x'));
  const auto refused = [](RawConnection& each) { return each.readToEnd().starts_with("HTTP/1.1 503 "); };
  CHECK(serves(*server));
  auto small = RawConnection::connect(server->port());
  small.send(post(200'000) + std::string(200'000, 'x'));
  CHECK_THAT(small.readUntil("fine"), Catch::StartsWith("HTTP/1.1 200"));
  // One of the two is refused at once, the other after its timeout, because it sent only half a request.
  const int refusals = (refused(first) ? 1 : 0) + (refused(second) ? 1 : 0);
  CHECK(refusals == 1);
  auto large = RawConnection::connect(server->port());
  large.send(post(900'000) + std::string(900'000, 'x'));
  CHECK_THAT(large.readUntil("fine"), Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE("A body counts as long as a handler holds it even after its client has left") {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<ServerRequest> kept;
  const auto server = startServer(
      [&](ServerRequest request, const std::shared_ptr<Exchange>& exchange) {
        exchange->reply({.status = 200, .body = "fine"});
        const std::lock_guard lock(mutex);
        kept.push_back(std::move(request));
        changed.notify_all();
      },
      {.limits = {.maxBodiesBytes = 1u << 20}});
  const auto post = [&] {
    auto raw = RawConnection::connect(server->port());
    raw.send(fmt::format("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                         700'000) +
             std::string(700'000, 'x'));
    return raw.readToEnd();
  };
  CHECK_THAT(post(), Catch::StartsWith("HTTP/1.1 200"));
  {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, 20s, [&] { return kept.size() == 1; }));
  }
  CHECK_THAT(post(), Catch::StartsWith("HTTP/1.1 503"));
  CHECK(serves(*server));
  {
    const std::lock_guard lock(mutex);
    kept.clear();
  }
  CHECK_THAT(post(), Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE("Many idle connections do not prevent others from being served") {
  Counting counting;
  const auto server = startServer(counting.handler());
  std::vector<RawConnection> idle;
  for (int i = 0; i < 400; ++i) idle.push_back(RawConnection::connect(server->port()));
  CHECK(serves(*server));
}

TEST_CASE("Random bytes do no harm") {
  Counting counting;
  const bool tls = GENERATE(false, true);
  const Pki pki;
  ServerOptions options;
  if (tls) options.tls = serverTls(pki.issue("server"));
  const auto server = startServer(counting.handler(), options);
  const std::string valid =
      "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: "
      "close\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  std::uint64_t seed = 20261121;
  const auto next = [&seed] {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(seed >> 33);
  };
  for (int round = 0; round < 300; ++round) {
    std::string bytes = valid;
    for (std::size_t changes = next() % 4 + 1; changes > 0; --changes) {
      bytes[next() % bytes.size()] = static_cast<char>(next() % 256);
    }
    bytes.resize(next() % bytes.size() + 1);
    auto raw = RawConnection::connect(server->port());
    raw.send(bytes);
    raw.closeSending();
    static_cast<void>(raw.readToEnd());
  }
  if (!tls) CHECK(serves(*server));
}

}  // namespace
}  // namespace trainyard::net::test
