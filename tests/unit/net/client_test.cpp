#include <catch2/catch.hpp>

#include <atomic>

#include <fmt/format.h>

#include "tests/unit/net/harness.h"
#include "tests/unit/net/raw_socket.h"

namespace trainyard::net::test {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

ServerHandler mirror() {
  return [](ServerRequest request, std::shared_ptr<Exchange> exchange) {
    HttpResponse response{.status = 200};
    response.headers = {{"X-Method", std::string(toString(request.method))},
                        {"X-Target", request.target},
                        {"X-Type", std::string(findHeader(request.headers, "content-type"))},
                        {"X-Authorization", std::string(findHeader(request.headers, "authorization"))}};
    response.body = std::move(request.body);
    exchange->reply(std::move(response));
  };
}

const std::string kEmptyOk = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

TEST_CASE("Method and target and headers and body arrive as given") {
  const auto server = startServer(mirror());
  TestClient client({.url = urlOf(*server) + "/"});
  const auto method = GENERATE(Method::kGet, Method::kPost, Method::kPut, Method::kPatch, Method::kDelete);
  const std::string target = "/api/v1/pods?fieldSelector=metadata.name%3Da%2Cb&limit=5&empty=";
  const auto answer = await(client.send(
      {.method = method,
       .target = target,
       .headers = {{"Content-Type", "application/merge-patch+json"}, {"Authorization", "Bearer t"}},
       .body = method == Method::kGet ? "" : "{\"a\":1}"}));
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(findHeader(answer->headers, "x-method") == toString(method));
  CHECK(findHeader(answer->headers, "x-target") == target);
  CHECK(findHeader(answer->headers, "x-type") == "application/merge-patch+json");
  CHECK(findHeader(answer->headers, "x-authorization") == "Bearer t");
  CHECK(answer->body == (method == Method::kGet ? "" : "{\"a\":1}"));
}

TEST_CASE("A write without a body is sent with length 0 and no content type") {
  RawServer server([](RawConnection& connection) {
    for (std::string request = connection.readRequest(); !request.empty();
         request = connection.readRequest()) {
      connection.send(
          fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", request.size(), request));
    }
  });
  TestClient client({.url = server.url()});
  for (const Method method : {Method::kPost, Method::kPut, Method::kPatch, Method::kDelete}) {
    const auto answer = await(client.send({.method = method, .target = "/x"}));
    REQUIRE(answer);
    CHECK_THAT(answer->body,
               Catch::Contains("Content-Length:0\r\n") && Catch::Contains("User-Agent:trainyard\r\n"));
    CHECK_THAT(answer->body, !Catch::Contains("Content-Type"));
    CHECK_THAT(answer->body, !Catch::Contains("Transfer-Encoding"));
  }
}

TEST_CASE("Big bodies are sent and received") {
  const auto server = startServer(mirror(), {.limits = {.maxBodyBytes = 64u << 20}});
  TestClient client({.url = urlOf(*server)});
  std::string body(20u << 20, 'x');
  for (std::size_t i = 0; i < body.size(); i += 997) body[i] = static_cast<char>('a' + i % 26);
  const auto answer = await(client.send({.method = Method::kPost, .target = "/", .body = body}));
  REQUIRE(answer);
  CHECK(answer->body == body);
}

TEST_CASE("Statuses that are not 200 are answers and redirects are not followed") {
  const auto server = startServer([](ServerRequest request, std::shared_ptr<Exchange> exchange) {
    const int status = std::stoi(request.target.substr(1));
    exchange->reply({.status = status, .headers = {{"Location", "http://127.0.0.1:1/"}}, .body = "b"});
  });
  TestClient client({.url = urlOf(*server)});
  const int status = GENERATE(201, 204, 302, 307, 401, 404, 409, 410, 422, 429, 500, 503);
  const auto answer = client.get("/" + std::to_string(status));
  REQUIRE(answer);
  CHECK(answer->status == status);
  CHECK(answer->body == (status == 204 ? "" : "b"));
}

TEST_CASE("A refused connection is kUnavailable for every method") {
  TestClient client({.url = "http://127.0.0.1:" + std::to_string(unusedPort())});
  for (const Method method : {Method::kGet, Method::kPost, Method::kDelete}) {
    const auto answer = await(client.send({.method = method, .target = "/x"}));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == ErrorCode::kUnavailable);
    CHECK_THAT(answer.error().message, Catch::Contains("/x: Failed to connect"));
  }
}

TEST_CASE("A name that does not resolve is kUnavailable") {
  TestClient client({.url = "http://no-such-host.invalid:1"});
  const auto answer = client.get("/");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::kUnavailable);
}

TEST_CASE("A connection that breaks after the request was sent leaves the outcome unknown") {
  const auto answerOf = [](std::function<void(RawConnection&)> script) {
    RawServer server([&](RawConnection& connection) {
      connection.readRequest();
      script(connection);
    });
    TestClient client({.url = server.url()});
    const auto answer = await(client.send({.method = Method::kPost, .target = "/", .body = "{}"}));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == ErrorCode::kOutcomeUnknown);
    CHECK(server.connections() == 1);
  };
  SECTION("closed without an answer") {
    answerOf([](RawConnection&) {});
  }
  SECTION("reset") {
    answerOf([](RawConnection& connection) { connection.reset(); });
  }
  SECTION("closed within the body") {
    answerOf([](RawConnection& c) { c.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"); });
  }
  SECTION("closed between chunks") {
    answerOf([](RawConnection& c) {
      c.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
    });
  }
  SECTION("nonsense") {
    answerOf([](RawConnection& c) { c.send("SSH-2.0-OpenSSH_9.2\r\n\r\n"); });
  }
  SECTION("a chunk size that is no number") {
    answerOf([](RawConnection& c) { c.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"); });
  }
}

TEST_CASE("A write on a reused connection that the server closes is not sent twice") {
  std::atomic<int> writes = 0;
  std::promise<void> idle;
  RawServer server([&](RawConnection& connection) {
    if (connection.readRequest().starts_with("GET")) {
      connection.send(kEmptyOk);
      if (connection.readRequest().starts_with("POST")) ++writes;
    } else {
      ++writes;
    }
  });
  TestClient client({.url = server.url()});
  // cpprestsdk returns a connection to its pool shortly after it has delivered the answer.
  bool reused = false;
  for (int attempt = 0; attempt < 50 && !reused; ++attempt) {
    REQUIRE(client.get("/"));
    std::this_thread::sleep_for(5ms);
    const int before = server.connections();
    const int writesBefore = writes;
    const auto answer = await(client.send({.method = Method::kPost, .target = "/", .body = "{}"}));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == ErrorCode::kOutcomeUnknown);
    CHECK(writes == writesBefore + 1);
    reused = server.connections() == before;
  }
  CHECK(reused);
}

TEST_CASE("A GET on a reused connection that the server closes is repeated and answered") {
  RawServer server([](RawConnection& connection) {
    connection.readRequest();
    connection.send(kEmptyOk);
    connection.readRequest();
  });
  TestClient client({.url = server.url()});
  for (int i = 0; i < 50; ++i) CHECK(client.get("/"));
}

TEST_CASE("The deadline covers the whole answer even if it drips steadily") {
  RawServer server([](RawConnection& connection) {
    connection.readRequest();
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (connection.send("1\r\nx\r\n")) std::this_thread::sleep_for(10ms);
  });
  TestClient client({.url = server.url()});
  const auto start = std::chrono::steady_clock::now();
  const auto answer =
      await(client.send({.method = Method::kPost, .target = "/", .body = "{}", .timeout = 200ms}));
  const auto took = std::chrono::steady_clock::now() - start;
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::kOutcomeUnknown);
  CHECK_THAT(answer.error().message, Catch::Contains("no whole answer within 200 ms"));
  CHECK(took >= 200ms);
  CHECK(took < 5s);
}

TEST_CASE("A request that was never started was surely not sent") {
  std::promise<void> release;
  const auto released = release.get_future().share();
  RawServer server([&](RawConnection& connection) {
    connection.readRequest();
    released.wait();
    connection.send(kEmptyOk);
    connection.readRequest();
    connection.send(kEmptyOk);
  });
  TestClient client({.url = server.url(), .maxActive = 1});
  auto first = client.send({.target = "/first"});
  auto second = client.send({.method = Method::kPost, .target = "/second", .body = "{}", .timeout = 100ms});
  const auto late = await(std::move(second));
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::kUnavailable);
  auto third = client.send({.target = "/third"});
  release.set_value();
  CHECK(await(std::move(first)));
  CHECK(await(std::move(third)));
}

TEST_CASE("No more requests run at once than allowed and all are answered") {
  std::atomic<int> active = 0;
  std::atomic<int> most = 0;
  RawServer server([&](RawConnection& connection) {
    while (!connection.readRequest().empty()) {
      const int now = ++active;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(1ms);
      --active;
      connection.send(kEmptyOk);
    }
  });
  {
    TestClient client({.url = server.url(), .maxActive = 4});
    std::vector<std::future<base::Result<HttpResponse>>> answers;
    for (int i = 0; i < 100; ++i) answers.push_back(client.send({.target = "/"}));
    for (auto& answer : answers) CHECK(await(std::move(answer)));
  }
  CHECK(most <= 4);
  CHECK(most >= 2);
}

TEST_CASE("An answer beyond the limit is refused") {
  const auto server = startServer([](ServerRequest, std::shared_ptr<Exchange> exchange) {
    exchange->reply({.status = 200, .body = std::string(1u << 20, 'x')});
  });
  TestClient client({.url = urlOf(*server), .maxBodyBytes = 100'000});
  const auto answer = client.get("/");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::kTooLarge);
  CHECK_THAT(answer.error().message, Catch::Contains("larger than 100000 bytes"));
}

TEST_CASE("Callbacks run on the loop") {
  const auto server = startServer(mirror());
  TestClient client({.url = urlOf(*server)});
  std::thread::id loopThread;
  client.loop().run([&] { loopThread = std::this_thread::get_id(); });
  std::promise<std::thread::id> ran;
  client.client().send({.target = "/"}, [&](const auto&) { ran.set_value(std::this_thread::get_id()); });
  CHECK(await(ran.get_future()) == loopThread);
}

TEST_CASE("A client that is destroyed drops what is under way") {
  std::atomic<int> called = 0;
  RawServer server([](RawConnection& connection) {
    connection.readRequest();
    connection.readToEnd();
  });
  TestClient client({.url = server.url(), .maxActive = 2});
  const auto held = std::make_shared<int>(1);
  for (int i = 0; i < 5; ++i)
    client.client().send({.target = "/"}, [&called, held](const auto&) { ++called; });
  CHECK(held.use_count() == 6);
  client.destroy();
  CHECK(held.use_count() == 1);
  client.loop().run([] {});
  CHECK(called == 0);
}

TEST_CASE("Requests that cannot be sent are refused before they are") {
  RawServer server([](RawConnection& connection) { connection.readRequest(); });
  TestClient client({.url = server.url()});
  const auto codeOf = [&](HttpRequest request) {
    const auto answer = await(client.send(std::move(request)));
    REQUIRE_FALSE(answer);
    return answer.error().code;
  };
  CHECK(codeOf({.target = "no-slash"}) == ErrorCode::kInvalid);
  CHECK(codeOf({.target = "/with blank"}) == ErrorCode::kInvalid);
  CHECK(codeOf({.target = "/", .headers = {{"X-A", "1\r\nX-B: 2"}}}) == ErrorCode::kInvalid);
  CHECK(codeOf({.target = "/", .headers = {{"X A", "1"}}}) == ErrorCode::kInvalid);
  CHECK(server.connections() == 0);
}

TEST_CASE("An IPv6 address is dialled as such and named in brackets") {
  const auto server = startServer(
      [](const ServerRequest& request, std::shared_ptr<Exchange> exchange) {
        exchange->reply({.status = 200, .body = std::string(findHeader(request.headers, "host"))});
      },
      {.address = "[::1]"});
  TestClient client({.url = fmt::format("http://[::1]:{}", server->port())});
  const auto answer = client.get("/");
  REQUIRE(answer);
  CHECK(answer->body == fmt::format("[::1]:{}", server->port()));
}

TEST_CASE("A proxy gets requests without TLS and with the whole URL") {
  RawServer proxy([](RawConnection& connection) {
    const std::string request = connection.readRequest();
    const std::string line = request.substr(0, request.find('\r'));
    connection.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", line.size(), line));
  });
  TestClient client({.url = "http://api.example:8080", .proxy = proxy.url()});
  const auto answer = client.get("/api/v1/pods?limit=5");
  REQUIRE(answer);
  CHECK(answer->body == "GET http://api.example:8080/api/v1/pods?limit=5 HTTP/1.1");
}

TEST_CASE("Proxies that cannot be used are refused with the reason") {
  LoopThread loop;
  const auto messageOf = [&](std::string proxy) {
    auto made = makeClientUnderTest({.url = "http://host", .proxy = std::move(proxy)}, loop.loop());
    REQUIRE_FALSE(made);
    CHECK(made.error().code == ErrorCode::kInvalid);
    return made.error().message;
  };
  CHECK_THAT(messageOf("https://proxy:3128"), Catch::Contains("must be http"));
  CHECK_THAT(messageOf("socks5://proxy:1080"), Catch::Contains("must be http"));
  CHECK_THAT(messageOf("http://user:secret@proxy:3128"), Catch::Contains("credentials"));
  CHECK_THAT(messageOf("http://user:secret@proxy:3128"), !Catch::Contains("secret"));
  CHECK_THAT(messageOf("socks5://user:secret@proxy:1080"), !Catch::Contains("secret"));
  CHECK_THAT(messageOf("http://proxy:3128/path"), Catch::Contains("path"));
  CHECK_THAT(messageOf("http://[fd00::1]:3128"), Catch::Contains("IPv6"));
}

TEST_CASE("URLs that cannot work are refused with the reason") {
  LoopThread loop;
  const auto messageOf = [&](std::string url) {
    auto made = makeClientUnderTest({.url = std::move(url)}, loop.loop());
    REQUIRE_FALSE(made);
    CHECK(made.error().code == ErrorCode::kInvalid);
    return made.error().message;
  };
  CHECK_THAT(messageOf("https://127.0.0.1:6443"), Catch::Contains("TLS configuration"));
  CHECK_THAT(messageOf("ftp://host"), Catch::Contains("http or https"));
  CHECK_THAT(messageOf("http://user:pw@host"), Catch::Contains("credentials"));
  CHECK_THAT(messageOf("http://host/k8s"), Catch::Contains("path"));
  CHECK_THAT(messageOf("not a url"), Catch::Contains("not a URL"));
  CHECK_THAT(messageOf("127.0.0.1:8080"), Catch::Contains("server URL \"127.0.0.1:8080\""));
  CHECK_THAT(messageOf(""), Catch::Contains("server URL"));
}

}  // namespace
}  // namespace trainyard::net::test
