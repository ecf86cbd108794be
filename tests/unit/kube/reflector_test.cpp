#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "kube/backoff.h"
#include "kube/http_api_client.h"
#include "kube/reflector.h"
#include "tests/unit/kube/fake_http.h"

namespace trainyard::kube {
namespace {

using namespace testing;
using base::ErrorCode;

std::string object(const std::string& name, int version) {
  return fmt::format(R"({{"metadata":{{"name":"{}","resourceVersion":"{}"}}}})", name, version);
}
std::string event(const std::string& type, const std::string& name, int version) {
  return fmt::format(R"({{"type":"{}","object":{}}})", type, object(name, version));
}
Answer listOf(std::vector<std::string> names, int version, const std::string& next = "") {
  std::string items;
  for (const auto& name : names) items += (items.empty() ? "" : ",") + object(name, version);
  return answer(200, fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
                                 version, next, items));
}

struct Calls final : ReflectorSink {
  std::vector<std::string> calls;
  std::function<void()> onCall = [] {};
  void add(std::string text) {
    calls.push_back(std::move(text));
    onCall();
  }
  std::string pages;
  std::size_t largestPage = 0;
  void page(const std::vector<std::string>& objects, bool first) override {
    if (first) pages = "replace";
    for (const auto& each : objects) pages += " " + each.substr(21, each.find('"', 21) - 21);
    largestPage = std::max(largestPage, objects.size());
  }
  std::string listedAt;
  void listed(std::string_view version) override {
    listedAt = version;
    add(pages);
  }
  void upsert(std::string_view each) override { add("upsert " + std::string(each.substr(21, 1))); }
  void remove(std::string_view each) override { add("remove " + std::string(each.substr(21, 1))); }
};

struct Fixture {
  base::VirtualLoop loop;
  FakeHttp http{loop};
  LogLines logLines;
  base::Logger log{logLines, base::LogLevel::kDebug, "test"};
  std::unique_ptr<CredentialSource> credentials = makeStaticCredentials("");
  // Only one attempt, so that the tests see the reflector's own delays.
  HttpApiClient api{{.maxAttempts = 1, .maxThrottled = 0}, http, *credentials, loop, base::Rng(1), log};
  Calls sink;
  std::unique_ptr<Reflector> reflector = make(7);

  std::unique_ptr<Reflector> make(std::uint64_t seed) {
    return std::make_unique<Reflector>(
        ReflectorOptions{.type = kPods, .selectors = {{"labelSelector", "a=b"}}, .pageSize = 2}, api, loop,
        base::Rng(seed), log, sink);
  }
  // Starts with one list of `a` at version 10, then watches.
  void settle() {
    http.script = {listOf({"a"}, 10)};
    reflector->start();
    loop.runFor(10ms);
    REQUIRE(http.streams.size() == 1);
    sink.calls.clear();
  }
  [[nodiscard]] std::string target() const { return http.streams.back()->request.target; }
  // The requested duration of the watch in seconds.
  [[nodiscard]] int seconds() const { return std::stoi(target().substr(target().rfind('=') + 1)); }
  [[nodiscard]] bool watchesFrom(int version) const {
    return target().find(fmt::format("resourceVersion={}&", version)) != std::string::npos;
  }
};

TEST_CASE_METHOD(Fixture, "it lists in pages and then watches from the list's version") {
  http.script = {listOf({"a", "b"}, 10, "t1"), listOf({"c"}, 10)};
  CHECK_FALSE(reflector->synced());
  reflector->start();
  loop.runFor(10ms);
  CHECK(reflector->synced());
  CHECK(sink.calls == std::vector<std::string>{"replace a b c"});
  CHECK(sink.listedAt == "10");
  REQUIRE(http.sent.size() == 2);
  CHECK(http.sent[0].request.target == "/api/v1/pods?labelSelector=a%3Db&limit=2");
  CHECK(http.sent[1].request.target == "/api/v1/pods?labelSelector=a%3Db&limit=2&continue=t1");
  REQUIRE(http.streams.size() == 1);
  CHECK(target().starts_with(
      "/api/v1/"
      "pods?labelSelector=a%3Db&watch=1&resourceVersion=10&allowWatchBookmarks=true&timeoutSeconds="));
}

TEST_CASE_METHOD(Fixture, "a watch is long only where the one before it had a bookmark") {
  settle();
  // This kind never changes and gets no bookmarks. The watch ends before its silence would indicate a lost
  // server, and its planned end is a sign of life.
  for (int i = 0; i < 10; ++i) {
    CHECK(seconds() >= 60);
    CHECK(seconds() <= 100);
    CHECK(http.lastStream().request.timeout > std::chrono::seconds(seconds()));
    loop.runFor(std::chrono::seconds(seconds()));
    http.lastStream().end(answer(200));
    loop.runFor(0s);
    CHECK(reflector->lastHeard() == loop.now());
  }
  http.lastStream().line(event("BOOKMARK", "", 40));
  http.lastStream().end(answer(200));
  loop.runFor(2s);
  CHECK(seconds() >= 300);
  CHECK(seconds() <= 600);
  loop.runFor(30s);
  http.lastStream().end(broken(ErrorCode::kOutcomeUnknown));
  loop.runFor(2s);
  // The new watch proves soon that it works.
  CHECK(seconds() >= 5);
  CHECK(seconds() <= 10);
  loop.runFor(10s);
  http.lastStream().end(answer(200));
  loop.runFor(0s);
  CHECK(reflector->lastHeard() == loop.now());
  CHECK(seconds() >= 60);
  CHECK(seconds() <= 100);
  CHECK(http.streams.size() == 14);
  CHECK(http.sent.size() == 1);
}

TEST_CASE_METHOD(Fixture, "the silence of a kind without changes is no failure") {
  settle();
  http.lastStream().line(event("BOOKMARK", "", 40));
  http.lastStream().end(answer(200));
  loop.runFor(0s);
  REQUIRE(seconds() >= 300);
  const auto before = http.streams.size();
  loop.runFor(120s);
  http.lastStream().end(broken(ErrorCode::kOutcomeUnknown));
  loop.runFor(0s);
  // At once, and short, without a warning and without a list.
  REQUIRE(http.streams.size() == before + 1);
  CHECK(watchesFrom(40));
  CHECK(seconds() <= 10);
  CHECK(logLines.count("watch failed") == 0);
  // The planned end arrives before a client considers the watch dead (150 s in the extender).
  loop.runFor(std::chrono::seconds(seconds()));
  http.lastStream().end(answer(200));
  loop.runFor(0s);
  CHECK(reflector->lastHeard() == loop.now());
  CHECK(http.sent.size() == 1);
}

TEST_CASE_METHOD(Fixture, "silence beyond a watch's planned end is a failure") {
  settle();
  REQUIRE(seconds() <= 100);
  loop.runFor(120s);
  http.lastStream().end(broken(ErrorCode::kOutcomeUnknown));
  loop.runFor(2s);
  CHECK(logLines.count("watch failed") == 1);
}

TEST_CASE_METHOD(Fixture, "events reach the sink and bookmarks only move the version") {
  settle();
  loop.runFor(5s);
  http.lastStream().line(event("ADDED", "b", 11));
  http.lastStream().line(event("MODIFIED", "a", 12));
  http.lastStream().line(event("DELETED", "b", 13));
  http.lastStream().line(event("BOOKMARK", "", 40));
  CHECK(sink.calls == std::vector<std::string>{"upsert b", "upsert a", "remove b"});
  CHECK(reflector->lastHeard() == loop.now());
  http.lastStream().end(answer(200));
  loop.runFor(0s);
  // The server ended it as planned: continued at once, from the bookmark, without a list.
  REQUIRE(http.streams.size() == 2);
  CHECK(http.lastStream().openedAt == loop.now());
  CHECK(watchesFrom(40));
  CHECK(http.sent.size() == 1);
}

TEST_CASE_METHOD(Fixture, "delays do not exceed what the options allow") {
  reflector = std::make_unique<Reflector>(ReflectorOptions{.type = kPods, .maxDelay = 5s}, api, loop,
                                          base::Rng(7), log, sink);
  settle();
  for (int i = 0; i < 9; ++i) {
    const auto ended = loop.now();
    const auto before = http.streams.size();
    http.lastStream().end(answer(200));
    REQUIRE(loop.runUntilTrue([&] { return http.streams.size() == before + 1; }, 60s));
    CHECK(http.lastStream().openedAt - ended <= 5s);
  }
}

TEST_CASE_METHOD(Fixture, "delays of watches that die at birth grow to the cap and shrink after calm") {
  settle();
  std::vector<base::Instant::duration> delays;
  for (int i = 0; i < 9; ++i) {
    const auto ended = loop.now();
    const auto before = http.streams.size();
    http.lastStream().end(answer(200));
    REQUIRE(loop.runUntilTrue([&] { return http.streams.size() == before + 1; }, 60s));
    delays.push_back(http.lastStream().openedAt - ended);
  }
  CHECK(delays[0] >= 800ms);
  CHECK(delays[0] <= 1600ms);
  CHECK(delays[3] >= 6400ms);
  for (const auto delay : delays) CHECK(delay <= 30s);
  CHECK(delays[8] >= 15s);

  loop.runFor(3min);
  http.lastStream().line(event("ADDED", "b", 11));
  http.lastStream().end(broken(ErrorCode::kOutcomeUnknown));
  const auto ended = loop.now();
  const auto before = http.streams.size();
  REQUIRE(loop.runUntilTrue([&] { return http.streams.size() == before + 1; }, 60s));
  CHECK(http.lastStream().openedAt - ended <= 1600ms);
  CHECK(watchesFrom(11));
}

TEST_CASE_METHOD(Fixture, "410 on the watch lists again") {
  settle();
  SECTION("as status") { http.lastStream().end(refusal(410, "Expired")); }
  SECTION("as ERROR event") {
    http.lastStream().line(R"({"type":"ERROR","object":)" + statusBody(410, "Expired", "too old") + "}");
    CHECK_FALSE(http.lastStream().open);
  }
  http.script = {listOf({"a", "b"}, 50)};
  loop.runFor(2s);
  CHECK(sink.calls == std::vector<std::string>{"replace a b"});
  REQUIRE(http.sent.size() == 2);
  // Consistent: no resourceVersion.
  CHECK(http.sent[1].request.target.find("resourceVersion") == std::string::npos);
  CHECK(watchesFrom(50));
}

TEST_CASE_METHOD(Fixture, "410 after an outage lists without the delay that the outage has earned") {
  settle();
  for (int i = 0; i < 4; ++i) {
    const auto before = http.streams.size();
    http.lastStream().end(broken(ErrorCode::kUnavailable));
    REQUIRE(loop.runUntilTrue([&] { return http.streams.size() == before + 1; }, 60s));
  }
  loop.runFor(30s);
  const auto ended = loop.now();
  http.script = {listOf({"a"}, 50), listOf({"a"}, 60)};
  http.lastStream().end(refusal(410, "Expired"));
  REQUIRE(loop.runUntilTrue([&] { return http.sent.size() == 2; }, 60s));
  CHECK(loop.now() - ended <= 800ms);
  // A 410 immediately after a list is delayed.
  loop.runFor(10ms);
  const auto again = loop.now();
  http.lastStream().end(refusal(410, "Expired"));
  REQUIRE(loop.runUntilTrue([&] { return http.sent.size() == 3; }, 60s));
  CHECK(loop.now() - again >= 6s);
}

TEST_CASE_METHOD(Fixture, "410 on a page starts the list over in one piece") {
  http.script = {listOf({"a", "b"}, 10, "t1"), refusal(410, "Expired"), listOf({"a", "c"}, 20)};
  reflector->start();
  loop.runFor(10ms);
  CHECK(sink.calls == std::vector<std::string>{"replace a c"});
  REQUIRE(http.sent.size() == 3);
  CHECK(http.sent[2].request.target == "/api/v1/pods?labelSelector=a%3Db");
  CHECK(watchesFrom(20));
}

TEST_CASE_METHOD(Fixture, "the list in one piece is tried only once and then in pages again") {
  http.script = {listOf({"a", "b"}, 10, "t1"), refusal(410, "Expired"), broken(ErrorCode::kTooLarge),
                 listOf({"a", "b"}, 20, "t2"), listOf({"c"}, 20)};
  reflector->start();
  loop.runFor(10s);
  CHECK(sink.calls == std::vector<std::string>{"replace a b c"});
  REQUIRE(http.sent.size() == 5);
  CHECK(http.sent[2].request.target == "/api/v1/pods?labelSelector=a%3Db");
  CHECK(http.sent[3].request.target == "/api/v1/pods?labelSelector=a%3Db&limit=2");
}

// A collection of `objects` of `bytes` each; the transport returns as many as the request allows.
struct LargeObjects {
  int objects;
  std::size_t bytes;
  std::vector<int> limits = {};  // of the requests, in order

  std::optional<Answer> operator()(const net::HttpRequest& request) {
    const auto number = [&](const std::string& name) {
      const auto at = request.target.find(name + "=");
      return at == std::string::npos ? 0 : std::stoi(request.target.substr(at + name.size() + 1));
    };
    const int limit = number("limit");
    const int from = number("continue");
    limits.push_back(limit);
    const int to = std::min(from + limit, objects);
    if (static_cast<std::size_t>(to - from) * bytes > request.maxAnswerBytes)
      return broken(ErrorCode::kTooLarge);
    std::string items;
    for (int i = from; i < to; ++i) {
      items += fmt::format(R"({}{{"metadata":{{"name":"{}","resourceVersion":"5","note":"{}"}}}})",
                           i == from ? "" : ",", i, std::string(bytes, 'x'));
    }
    return answer(200, fmt::format(R"({{"metadata":{{"resourceVersion":"9","continue":"{}"}},"items":[{}]}})",
                                   to == objects ? "" : fmt::to_string(to), items));
  }
};

TEST_CASE_METHOD(Fixture, "pages shrink until they can be read and nothing is listed twice") {
  LargeObjects server{200, 1'400'000};
  http.otherwise = [&](const net::HttpRequest& request) { return server(request); };
  reflector = std::make_unique<Reflector>(ReflectorOptions{.type = kPods, .pageSize = 500}, api, loop,
                                          base::Rng(1), log, sink);
  reflector->start();
  loop.runFor(700ms);  // less than any back-off
  CHECK(reflector->synced());
  REQUIRE(server.limits.size() > 4);
  CHECK(std::vector<int>(server.limits.begin(), server.limits.begin() + 5) ==
        std::vector<int>{500, 125, 31, 7, 7});
  CHECK(sink.largestPage == 7);
  REQUIRE(sink.calls.size() == 1);
  std::string all = "replace";
  for (int i = 0; i < 200; ++i) all += fmt::format(" {}", i);
  CHECK(sink.calls.front() == all);
}

TEST_CASE_METHOD(Fixture, "pages grow again where objects are small") {
  LargeObjects server{40, 1'400'000};
  http.otherwise = [&](const net::HttpRequest& request) { return server(request); };
  reflector = std::make_unique<Reflector>(ReflectorOptions{.type = kPods, .pageSize = 64}, api, loop,
                                          base::Rng(1), log, sink);
  reflector->start();
  loop.runFor(700ms);
  CHECK(server.limits.back() == 4);
  server = {1'000, 100};
  http.lastStream().end(refusal(410, "Expired"));
  loop.runFor(5s);
  CHECK(std::vector<int>(server.limits.begin(), server.limits.begin() + 6) ==
        std::vector<int>{4, 8, 16, 32, 64, 64});
}

TEST_CASE_METHOD(Fixture, "one object that is too large by itself is a failure with back-off") {
  http.otherwise = [](const net::HttpRequest&) { return broken(ErrorCode::kTooLarge); };
  reflector->start();
  loop.runFor(5min);
  CHECK(http.sent.size() < 40);
  CHECK_FALSE(reflector->synced());
}

TEST_CASE_METHOD(Fixture, "a failing list is repeated with back-off for ever") {
  http.otherwise = [](const net::HttpRequest&) { return refusal(404, "NotFound"); };
  reflector->start();
  loop.runFor(10min);
  CHECK_FALSE(reflector->synced());
  CHECK(http.sent.size() > 20);
  CHECK(http.sent.size() < 50);
  for (std::size_t i = 1; i < http.sent.size(); ++i) {
    CHECK(http.sent[i].at - http.sent[i - 1].at <= 30s + http.latency);
    CHECK(http.sent[i].at - http.sent[i - 1].at >= 800ms);
  }
  http.otherwise = nullptr;
  http.script = {listOf({"a"}, 10)};
  loop.runFor(31s);
  CHECK(reflector->synced());
  // Each failure was logged.
  CHECK(logLines.count("list failed") > 20);
}

TEST_CASE_METHOD(Fixture, "a list that is no list is repeated") {
  http.script = {answer(200, "<html>"), listOf({"a"}, 10)};
  reflector->start();
  loop.runFor(5s);
  CHECK(sink.calls == std::vector<std::string>{"replace a"});
}

TEST_CASE_METHOD(Fixture, "429 and lost connections keep the version") {
  settle();
  SECTION("429 as status") {
    http.lastStream().end(refusal(429, "TooManyRequests", {{"Retry-After", "5"}}));
    loop.runFor(4s);
    CHECK(http.streams.size() == 1);
    loop.runFor(2s);
  }
  SECTION("429 as event") {
    http.lastStream().line(R"({"type":"ERROR","object":)" + statusBody(429, "TooManyRequests") + "}");
  }
  SECTION("refused") { http.lastStream().end(broken(ErrorCode::kUnavailable)); }
  SECTION("reset or silent") { http.lastStream().end(broken(ErrorCode::kOutcomeUnknown)); }
  SECTION("401") { http.lastStream().end(refusal(401, "Unauthorized")); }
  SECTION("500 as event") {
    http.lastStream().line(R"({"type":"ERROR","object":)" + statusBody(500, "InternalError") + "}");
  }
  loop.runFor(2s);
  REQUIRE(http.streams.size() == 2);
  CHECK(watchesFrom(10));
  CHECK(http.sent.size() == 1);
}

TEST_CASE_METHOD(Fixture, "watches that fail repeatedly cause another list") {
  settle();
  http.script = {listOf({"b"}, 60)};
  while (sink.calls.empty()) {
    REQUIRE(http.streams.size() < 10);
    const auto before = http.streams.size();
    http.lastStream().end(refusal(500, "InternalError"));
    REQUIRE(loop.runUntilTrue([&] { return http.streams.size() == before + 1 || !sink.calls.empty(); }, 60s));
  }
  loop.runFor(1ms);
  CHECK(watchesFrom(60));
  CHECK(http.streams.size() == 6);
}

TEST_CASE_METHOD(Fixture, "a watch that worked until it broke is resumed soon any number of times") {
  settle();
  for (int i = 0; i < 12; ++i) {
    const auto before = http.streams.size();
    http.lastStream().line(event("MODIFIED", "a", 11 + i));
    loop.runFor(1s);
    http.lastStream().end(broken(ErrorCode::kOutcomeUnknown));
    REQUIRE(loop.runUntilTrue([&] { return http.streams.size() == before + 1; }, 2s));
  }
  CHECK(http.sent.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a refused watch lists again") {
  settle();
  http.script = {listOf({"b"}, 60)};
  http.lastStream().end(refusal(403, "Forbidden"));
  loop.runFor(5s);
  CHECK(sink.calls == std::vector<std::string>{"replace b"});
}

TEST_CASE_METHOD(Fixture, "a line that cannot be read causes another list and does not reach the sink") {
  settle();
  http.script = {listOf({"b"}, 60)};
  const std::string bad =
      GENERATE("", "{", "nonsense", R"({"type":"ADDED","object":{"metadata":{"name":"x"}}})",
               R"({"type":"ADDED","object":)", R"({"type":"WHAT","object":{}})");
  const auto stream = http.streams.back();
  stream->line(bad);
  CHECK_FALSE(stream->open);
  loop.runFor(5s);
  CHECK(sink.calls == std::vector<std::string>{"replace b"});
  CHECK(watchesFrom(60));
}

TEST_CASE_METHOD(Fixture, "stop ends all calls and requests") {
  SECTION("before the list is answered") {
    http.script = {listOf({"a"}, 10)};
    reflector->start();
    reflector->stop();
    loop.runFor(1min);
    CHECK(sink.calls.empty());
    CHECK(http.streams.empty());
  }
  SECTION("from within the sink") {
    settle();
    sink.onCall = [&] { reflector->stop(); };
    const auto stream = http.streams.back();
    stream->line(event("ADDED", "b", 11));
    CHECK_FALSE(stream->open);
    loop.runFor(10min);
    CHECK(sink.calls.size() == 1);
    CHECK(http.streams.size() == 1);
  }
  SECTION("destroyed from within replace") {
    http.script = {listOf({"a"}, 10)};
    sink.onCall = [&] { reflector.reset(); };
    reflector->start();
    loop.runFor(10min);
    CHECK(http.streams.empty());
  }
  SECTION("and start begins again") {
    settle();
    reflector->stop();
    http.script = {listOf({"c"}, 70)};
    reflector->start();
    loop.runFor(1s);
    CHECK(sink.calls == std::vector<std::string>{"replace c"});
    CHECK(watchesFrom(70));
  }
}

TEST_CASE_METHOD(Fixture, "runs of one seed are equal and of two seeds differ") {
  Backoff a({}, base::Rng(1));
  Backoff b({}, base::Rng(1));
  Backoff c({}, base::Rng(2));
  const base::Instant now{};
  const auto first = a.next(now);
  CHECK(first == b.next(now));
  CHECK(first != c.next(now));
}

}  // namespace
}  // namespace trainyard::kube
