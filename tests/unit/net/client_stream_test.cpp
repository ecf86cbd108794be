#include <catch2/catch.hpp>

#include <atomic>

#include <fmt/format.h>

#include "tests/unit/net/harness.h"
#include "tests/unit/net/pki.h"
#include "tests/unit/net/raw_socket.h"

namespace trainyard::net::test {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

// Passes the exchange of the only stream that it serves to the test.
class OneStream {
 public:
  [[nodiscard]] ServerHandler handler() {
    return [this](ServerRequest, std::shared_ptr<Exchange> exchange) {
      exchange->startStream({.status = 200, .headers = {{"Content-Type", "application/json"}}});
      opened_.set_value(std::move(exchange));
    };
  }
  [[nodiscard]] std::shared_ptr<Exchange> await() { return test::await(opened_.get_future()); }

 private:
  std::promise<std::shared_ptr<Exchange>> opened_;
};

const std::string kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string chunk(const std::string& bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

TEST_CASE("Each line arrives before the next is written") {
  const bool tls = GENERATE(false, true);
  const Pki pki;
  OneStream stream;
  ServerOptions serverOptions;
  ClientOptions clientOptions;
  if (tls) serverOptions.tls = serverTls(pki.issue("server"));
  const auto server = startServer(stream.handler(), serverOptions);
  clientOptions.url = urlOf(*server, tls ? "https" : "http");
  if (tls) clientOptions.tls = TlsClientConfig{.caPem = pki.caPem()};
  TestClient client(clientOptions);
  StreamLog log;
  auto handle = client.client().stream({.target = "/watch"}, log.callbacks());
  const auto exchange = stream.await();
  for (std::size_t i = 0; i < 20; ++i) {
    exchange->write("line " + std::to_string(i) + "\n");
    const auto lines = log.awaitLines(i + 1);
    CHECK(lines[i] == "line " + std::to_string(i));
  }
  exchange->end();
  const auto end = log.awaitEnd();
  REQUIRE(end);
  CHECK(end->status == 200);
  CHECK(findHeader(end->headers, "content-type") == "application/json");
  client.loop().run([&] { handle.reset(); });
  CHECK(log.ends() == 1);
  CHECK(log.lineCount() == 20);
}

TEST_CASE("Lines are whole for any cuts into chunks") {
  RawServer server([](RawConnection& connection) {
    connection.readRequest();
    connection.send(kChunkedHead + chunk("al") + chunk("pha\nbeta\r\n\nga") + chunk("mma\n") + chunk("rest") +
                    "0\r\n\r\n");
    connection.readToEnd();
  });
  TestClient client({.url = server.url()});
  StreamLog log;
  auto handle = client.client().stream({.target = "/"}, log.callbacks());
  REQUIRE(log.awaitEnd());
  CHECK(log.awaitLines(5) == std::vector<std::string>{"alpha", "beta", "", "gamma", "rest"});
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("A refused stream ends with the status and body of the refusal") {
  const auto server = startServer([](ServerRequest, std::shared_ptr<Exchange> exchange) {
    exchange->reply({.status = 410, .body = "{\"reason\":\"Expired\"}\n{}\n"});
  });
  TestClient client({.url = urlOf(*server)});
  StreamLog log;
  auto handle = client.client().stream({.target = "/"}, log.callbacks());
  const auto end = log.awaitEnd();
  REQUIRE(end);
  CHECK(end->status == 410);
  CHECK(end->body == "{\"reason\":\"Expired\"}\n{}\n");
  CHECK(log.lineCount() == 0);
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("A stream that breaks is distinguished from one that ends") {
  RawServer server([](RawConnection& connection) {
    const std::string request = connection.readRequest();
    connection.send(kChunkedHead + chunk("one\n"));
    if (request.find("/middle") != std::string::npos) connection.send("ff\r\nhalf");
    if (request.find("/reset") != std::string::npos) connection.reset();
  });
  TestClient client({.url = server.url()});
  const std::string target = GENERATE("/between", "/middle", "/reset");
  StreamLog log;
  auto handle = client.client().stream({.target = target}, log.callbacks());
  const auto end = log.awaitEnd();
  REQUIRE_FALSE(end);
  CHECK(end.error().code == ErrorCode::kOutcomeUnknown);
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("A stream to a closed port is kUnavailable") {
  TestClient client({.url = "http://127.0.0.1:" + std::to_string(unusedPort())});
  StreamLog log;
  auto handle = client.client().stream({.target = "/"}, log.callbacks());
  const auto end = log.awaitEnd();
  REQUIRE_FALSE(end);
  CHECK(end.error().code == ErrorCode::kUnavailable);
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("A silent stream ends when its timeout has elapsed since the last line") {
  OneStream stream;
  const auto server = startServer(stream.handler());
  TestClient client({.url = urlOf(*server)});
  StreamLog log;
  const auto start = std::chrono::steady_clock::now();
  auto handle = client.client().stream({.target = "/", .timeout = 300ms}, log.callbacks());
  const auto exchange = stream.await();
  for (std::size_t i = 0; i < 4; ++i) {
    std::this_thread::sleep_for(150ms);
    exchange->write("tick\n");
    static_cast<void>(log.awaitLines(i + 1));
  }
  const auto end = log.awaitEnd();
  REQUIRE_FALSE(end);
  CHECK(end.error().code == ErrorCode::kOutcomeUnknown);
  CHECK_THAT(end.error().message, Catch::Contains("silent for 300 ms"));
  CHECK(std::chrono::steady_clock::now() - start >= 900ms);
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("A stream without a head counts as silent") {
  RawServer server([](RawConnection& connection) {
    connection.readRequest();
    connection.readToEnd();
  });
  TestClient client({.url = server.url()});
  StreamLog log;
  auto handle = client.client().stream({.target = "/", .timeout = 100ms}, log.callbacks());
  CHECK_FALSE(log.awaitEnd());
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("Destroying the handle ends the callbacks and closes the connection") {
  OneStream stream;
  const auto server = startServer(stream.handler());
  TestClient client({.url = urlOf(*server)});
  StreamLog log;
  auto handle = client.client().stream({.target = "/"}, log.callbacks());
  const auto exchange = stream.await();
  exchange->write("one\n");
  static_cast<void>(log.awaitLines(1));
  client.loop().run([&] { handle.reset(); });
  for (int i = 0; i < 100'000 && !exchange->clientGone(); ++i) exchange->write("two\n");
  CHECK(exchange->clientGone());
  client.loop().run([] {});
  CHECK(log.lineCount() == 1);
  CHECK(log.ends() == 0);
}

TEST_CASE("The handle may be destroyed within its own callbacks") {
  RawServer server([](RawConnection& connection) {
    connection.readRequest();
    connection.send(kChunkedHead + chunk("one\ntwo\nthree\n") + "0\r\n\r\n");
    connection.readToEnd();
  });
  TestClient client({.url = server.url()});
  std::unique_ptr<StreamHandle> handle;
  std::atomic<int> lines = 0;
  std::promise<void> done;
  SECTION("onLine") {
    client.loop().run([&] {
      handle = client.client().stream({.target = "/"}, {.onLine =
                                                            [&](const std::string&) {
                                                              ++lines;
                                                              handle.reset();
                                                              done.set_value();
                                                            },
                                                        .onEnd = [&](const auto&) { lines = 100; }});
    });
    await(done.get_future());
    client.loop().run([] {});
    CHECK(lines == 1);
  }
  SECTION("onEnd") {
    client.loop().run([&] {
      handle = client.client().stream({.target = "/"}, {.onLine = [&](const std::string&) { ++lines; },
                                                        .onEnd =
                                                            [&](const auto&) {
                                                              handle.reset();
                                                              done.set_value();
                                                            }});
    });
    await(done.get_future());
    client.loop().run([] {});
    CHECK(lines == 3);
  }
}

TEST_CASE("A line beyond the limit ends the stream") {
  OneStream stream;
  const auto server = startServer(stream.handler());
  TestClient client({.url = urlOf(*server), .maxLineBytes = 1000});
  StreamLog log;
  auto handle = client.client().stream({.target = "/"}, log.callbacks());
  const auto exchange = stream.await();
  exchange->write(std::string(1000, 'a') + "\n");
  CHECK(log.awaitLines(1)[0].size() == 1000);
  exchange->write(std::string(1001, 'a'));
  const auto end = log.awaitEnd();
  REQUIRE_FALSE(end);
  CHECK(end.error().code == ErrorCode::kInternal);
  CHECK_THAT(end.error().message, Catch::Contains("longer than 1000 bytes"));
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("A slow loop makes the server wait instead of filling memory") {
  std::atomic<std::size_t> sent = 0;
  const std::string line = std::string(100'000, 'x') + "\n";
  RawServer server([&](RawConnection& connection) {
    connection.readRequest();
    connection.send(kChunkedHead);
    for (int i = 0; i < 600 && connection.send(chunk(line)); ++i) sent += line.size();
    connection.send("0\r\n\r\n");
    connection.readToEnd();
  });
  TestClient client({.url = server.url()});
  std::promise<void> release;
  client.loop().loop().post([&] { release.get_future().wait(); });
  StreamLog log;
  auto handle = client.client().stream({.target = "/", .timeout = 500ms}, log.callbacks());
  std::size_t before = 0;
  do {
    before = sent;
    std::this_thread::sleep_for(700ms);  // longer than the timeout: a paused reader is not silence
  } while (sent != before);
  CHECK(sent < 40u << 20);
  release.set_value();
  CHECK(log.awaitLines(600).size() == 600);
  CHECK(log.awaitEnd());
  client.loop().run([&] { handle.reset(); });
}

TEST_CASE("Many streams run at once beside requests") {
  std::mutex mutex;
  std::vector<std::shared_ptr<Exchange>> exchanges;
  const auto server = startServer([&](const ServerRequest& request, std::shared_ptr<Exchange> exchange) {
    if (request.target == "/plain") {
      exchange->reply({.status = 200});
      return;
    }
    exchange->startStream({.status = 200});
    exchange->write("hello\n");
    const std::lock_guard lock(mutex);
    exchanges.push_back(std::move(exchange));
  });
  TestClient client({.url = urlOf(*server), .maxActive = 2});
  std::vector<StreamLog> logs(40);
  std::vector<std::unique_ptr<StreamHandle>> handles;
  for (auto& log : logs) handles.push_back(client.client().stream({.target = "/watch"}, log.callbacks()));
  for (auto& log : logs) CHECK(log.awaitLines(1)[0] == "hello");
  CHECK(client.get("/plain"));
  {
    const std::lock_guard lock(mutex);
    for (const auto& exchange : exchanges) exchange->end();
  }
  for (auto& log : logs) CHECK(log.awaitEnd());
  client.loop().run([&] { handles.clear(); });
}

TEST_CASE("A client that is destroyed ends its streams without a callback") {
  OneStream stream;
  const auto server = startServer(stream.handler());
  TestClient client({.url = urlOf(*server)});
  StreamLog log;
  auto handle = client.client().stream({.target = "/"}, log.callbacks());
  const auto exchange = stream.await();
  client.destroy();
  for (int i = 0; i < 100'000 && !exchange->clientGone(); ++i) exchange->write("two\n");
  CHECK(exchange->clientGone());
  client.loop().run([&] { handle.reset(); });
  CHECK(log.ends() == 0);
}

}  // namespace
}  // namespace trainyard::net::test
