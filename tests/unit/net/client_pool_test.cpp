#include <catch2/catch.hpp>

#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "tests/unit/net/harness.h"
#include "tests/unit/net/raw_socket.h"

namespace trainyard::net::test {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

auto threadsOfProcess() { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); }

TEST_CASE("Hundreds of streams are served by the existing threads") {
  constexpr std::size_t kStreams = 200;
  std::mutex mutex;
  std::vector<std::shared_ptr<Exchange>> exchanges;
  const auto server = startServer([&](const ServerRequest& request, std::shared_ptr<Exchange> exchange) {
    if (request.target == "/plain") return exchange->reply({.status = 200});
    exchange->startStream({.status = 200});
    exchange->write("hello\n");
    const std::lock_guard lock(mutex);
    exchanges.push_back(std::move(exchange));
  });
  TestClient client({.url = urlOf(*server)});
  REQUIRE(client.get("/plain"));
  const auto before = threadsOfProcess();
  std::vector<StreamLog> logs(kStreams);
  std::vector<std::unique_ptr<StreamHandle>> handles;
  for (auto& log : logs) handles.push_back(client.client().stream({.target = "/watch"}, log.callbacks()));
  for (auto& log : logs) CHECK(log.awaitLines(1)[0] == "hello");
  CHECK(threadsOfProcess() == before);
  // No request waits for the end of another one.
  for (std::size_t i = 0; i < 20; ++i) CHECK(client.get("/plain"));
  {
    const std::lock_guard lock(mutex);
    for (const auto& exchange : exchanges) exchange->write("again\n");
  }
  for (auto& log : logs) CHECK(log.awaitLines(2)[1] == "again");
  client.loop().run([&] { handles.clear(); });
}

TEST_CASE("A server that closes after each answer is contacted on new connections") {
  RawServer server([](RawConnection& connection) {
    const std::string request = connection.readRequest();
    connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  });
  TestClient client({.url = server.url()});
  for (int i = 0; i < 20; ++i) {
    const auto answer = await(client.send({.method = i % 2 == 0 ? Method::kGet : Method::kPost,
                                           .target = "/",
                                           .body = i % 2 == 0 ? "" : "{}"}));
    REQUIRE(answer);
    CHECK(answer->body == "ok");
  }
  CHECK(server.connections() == 20);
}

TEST_CASE("An answer and its head may arrive in any pieces") {
  RawServer server([](RawConnection& connection) {
    connection.readRequest();
    for (const char each : std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
                                       "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"))
      connection.send(std::string(1, each));
    connection.readToEnd();
  });
  TestClient client({.url = server.url()});
  const auto answer = client.get("/");
  REQUIRE(answer);
  CHECK(answer->body == "abcde");
  CHECK(findHeader(answer->headers, "x-a") == "b");
}

TEST_CASE("An answer that is cut in its head leaves the outcome unknown") {
  RawServer server([](RawConnection& connection) {
    connection.readRequest();
    connection.send("HTTP/1.1 200 OK\r\nContent-Le");
  });
  TestClient client({.url = server.url()});
  const auto answer = await(client.send({.method = Method::kPost, .target = "/", .body = "{}"}));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::kOutcomeUnknown);
}

TEST_CASE("A request may have a smaller limit than the client for plain and for chunked answers") {
  const std::string body(2'000, 'x');
  const std::string text =
      GENERATE_COPY("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + body,
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + body + "\r\n0\r\n\r\n");
  RawServer server([&](RawConnection& connection) {
    while (!connection.readRequest().empty()) connection.send(text);
  });
  TestClient client({.url = server.url()});
  CHECK(await(client.send({.target = "/", .maxAnswerBytes = 2'000})));
  const auto answer = await(client.send({.target = "/", .maxAnswerBytes = 1'999}));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace trainyard::net::test
