#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "codec/lease.h"
#include "kube/http_api_client.h"
#include "kube/leader_election.h"
#include "tests/unit/kube/fake_http.h"

namespace trainyard::kube {
namespace {

using namespace testing;
using base::ErrorCode;

// The Lease as a server keeps it.
struct Server {
  std::string text;  // empty: there is none
  int version = 0;
  int writes = 0;

  void put(const std::string& specAndMeta) {
    ++version;
    text = specAndMeta;
    const auto at = text.find("\"metadata\":{");
    const auto end = text.find('}', at);
    const auto old = text.find(",\"resourceVersion\"", at);
    text.erase(std::min(old, end), old < end ? end - old : 0);
    text.insert(text.find('}', at), fmt::format(R"(,"resourceVersion":"{}")", version));
  }
  [[nodiscard]] std::string quotedVersion() const {
    return fmt::format(R"("resourceVersion":"{}")", version);
  }

  Answer handle(const net::HttpRequest& request) {
    if (request.method == net::Method::kGet) {
      return text.empty() ? refusal(404, "NotFound") : answer(200, text);
    }
    if (request.method == net::Method::kPost) {
      if (!text.empty()) return refusal(409, "AlreadyExists");
    } else {
      if (text.empty()) return refusal(404, "NotFound");
      if (request.body.find(quotedVersion()) == std::string::npos) return refusal(409, "Conflict");
    }
    ++writes;
    put(request.body);
    return answer(request.method == net::Method::kPost ? 201 : 200, text);
  }
  [[nodiscard]] codec::LeaseRecord record() const { return codec::decodeLease(text)->record; }
};

struct Candidate {
  Candidate(base::VirtualLoop& l, Server& server, std::string identity, std::uint64_t seed)
      : loop(l),
        http(l),
        api({.maxAttempts = 1, .maxThrottled = 0}, http, *credentials, l, base::Rng(seed), log) {
    http.otherwise = [this, &server](const net::HttpRequest& request) -> std::optional<Answer> {
      if (cutOff) return broken(ErrorCode::kUnavailable);
      if (swallow) return std::nullopt;
      Answer result = server.handle(request);
      if (loseAnswers) return broken(ErrorCode::kOutcomeUnknown);
      return result;
    };
    election = std::make_unique<LeaderElection>(
        LeaseOptions{.identity = std::move(identity)}, api, l, base::Rng(seed), log,
        LeaseCallbacks{[this](std::int64_t term) { started.push_back(term); },
                       [this] { stopped.push_back(loop.now()); },
                       [this](const std::string& who) { leaders.push_back(who); }});
  }

  base::VirtualLoop& loop;
  FakeHttp http;
  LogLines logLines;
  base::Logger log{logLines, base::LogLevel::kDebug, "test"};
  std::unique_ptr<CredentialSource> credentials = makeStaticCredentials("");
  HttpApiClient api;
  bool cutOff = false;
  bool swallow = false;
  bool loseAnswers = false;
  std::vector<std::int64_t> started;
  std::vector<base::Instant> stopped;
  std::vector<std::string> leaders;
  std::unique_ptr<LeaderElection> election;
};

struct Fixture {
  base::VirtualLoop loop;
  Server server;
  Candidate a{loop, server, "a", 1};
  Candidate b{loop, server, "b", 2};
};

TEST_CASE_METHOD(Fixture, "the first candidate creates the Lease and renews it") {
  a.election->start();
  loop.runFor(1s);
  CHECK(a.election->isLeader());
  CHECK(a.started == std::vector<std::int64_t>{0});
  CHECK(a.election->term() == 0);
  CHECK(a.leaders == std::vector<std::string>{"a"});
  const auto first = server.record();
  CHECK(first.holderIdentity == "a");
  CHECK(first.leaseDurationSeconds == 10);
  CHECK(first.acquireTime == first.renewTime);
  CHECK(first.renewTime.size() == std::string_view("2006-01-02T15:04:05.000000Z").size());

  loop.runFor(60s);
  CHECK(a.election->isLeader());
  CHECK(a.stopped.empty());
  const auto later = server.record();
  CHECK(later.acquireTime == first.acquireTime);
  CHECK(later.renewTime > first.renewTime);
  CHECK(later.leaseTransitions == 0);
  // About every 1.5 s, from memory: one GET at the start is enough.
  CHECK(server.writes >= 39);
  CHECK(server.writes <= 42);
  std::size_t gets = 0;
  for (const auto& sent : a.http.sent) gets += sent.request.method == net::Method::kGet ? 1 : 0;
  CHECK(gets == 1);
}

TEST_CASE_METHOD(Fixture, "a second candidate waits and takes over when the leader is cut off") {
  a.election->start();
  loop.runFor(1s);
  b.election->start();
  loop.runFor(60s);
  CHECK_FALSE(b.election->isLeader());
  CHECK(b.leaders == std::vector<std::string>{"a"});

  a.cutOff = true;
  const auto cut = loop.now();
  REQUIRE(loop.runUntilTrue([&] { return b.election->isLeader(); }, 30s));
  // The lease of 10 s since b saw the last change, with a read of at most 1.1 s before and after.
  CHECK(loop.now() - cut >= 8s);
  CHECK(loop.now() - cut <= 12300ms);
  CHECK(b.started == std::vector<std::int64_t>{1});
  REQUIRE(a.stopped.size() == 1);
  CHECK(a.stopped[0] - cut <= 7s);
  CHECK_FALSE(a.election->isLeader());
  CHECK(server.record().leaseTransitions == 1);

  // No second campaign in the same object.
  a.cutOff = false;
  b.cutOff = true;
  loop.runFor(60s);
  CHECK(a.started.size() == 1);
}

TEST_CASE_METHOD(Fixture, "two candidates never lead at the same time under any fault") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    base::VirtualLoop loop2;
    Server one;
    base::Rng rng(seed);
    std::vector<std::unique_ptr<Candidate>> all;
    int next = 0;
    const auto join = [&] {
      all.push_back(std::make_unique<Candidate>(loop2, one, fmt::format("c{}", next++), rng.next()));
      all.back()->election->start();
    };
    for (int i = 0; i < 3; ++i) join();
    int led = 0;
    for (int tick = 0; tick < 2000; ++tick) {
      loop2.runFor(100ms);
      int leading = 0;
      for (const auto& each : all) leading += each->election->isLeader() ? 1 : 0;
      REQUIRE(leading <= 1);
      led += leading;
      if (rng.below(40) != 0) continue;
      Candidate& victim = *all[rng.below(all.size())];
      victim.cutOff = rng.below(4) == 0;
      victim.loseAnswers = rng.below(4) == 0;
      victim.swallow = rng.below(4) == 0;
      if (all.size() < 12 && !victim.stopped.empty()) join();
    }
    CHECK(led > 300);
  }
}

TEST_CASE_METHOD(Fixture, "a renewal that is never answered ends leadership after 7 s") {
  a.election->start();
  loop.runFor(1s);
  const auto renewed = a.http.sent.back().at;
  a.swallow = true;
  REQUIRE(loop.runUntilTrue([&] { return !a.stopped.empty(); }, 30s));
  CHECK(a.stopped[0] == renewed + 7s);
  CHECK_FALSE(a.election->isLeader());
}

TEST_CASE_METHOD(Fixture, "an answer that came too late is no leadership") {
  a.http.latency = 8s;
  a.election->start();
  loop.runFor(60s);
  CHECK(a.started.empty());
  a.http.latency = 1ms;
  loop.runFor(30s);
  CHECK(a.started.size() == 1);
  // Each write with an unknown outcome raised the term all the same.
  CHECK(a.started[0] > 0);
}

// Runs due tasks only on request, like a stopped process.
class PausedLoop final : public base::Executor {
 public:
  explicit PausedLoop(base::VirtualLoop& inner) : inner_(inner) {}
  void post(base::Task task) override { inner_.post(std::move(task)); }
  base::TimerId postAt(base::Instant when, base::Task task) override {
    return inner_.postAt(when, [this, task = std::move(task)] {
      if (paused) {
        held.push_back(task);
      } else {
        task();
      }
    });
  }
  void cancel(base::TimerId timer) override { inner_.cancel(timer); }
  [[nodiscard]] base::Instant now() const override { return inner_.now(); }
  [[nodiscard]] base::WallTime wallNow() const override { return inner_.wallNow(); }
  void resume() {
    paused = false;
    for (const auto& task : std::exchange(held, {})) task();
  }
  bool paused = false;
  std::vector<base::Task> held;

 private:
  base::VirtualLoop& inner_;
};

TEST_CASE_METHOD(Fixture, "a paused leader finds its lease expired before any timer ran") {
  PausedLoop own(loop);
  int stops = 0;
  LeaderElection election({.identity = "p"}, a.api, own, base::Rng(1), a.log,
                          {[](std::int64_t) {}, [&] { ++stops; }});
  election.start();
  loop.runFor(1s);
  REQUIRE(election.isLeader());
  CHECK(election.held(loop.now() + 5s));
  CHECK_FALSE(election.held(loop.now() + 10s));

  own.paused = true;
  b.election->start();
  loop.runFor(9900ms);
  loop.runFor(8s);
  CHECK(b.election->isLeader());
  CHECK_FALSE(election.isLeader());
  CHECK(stops == 0);  // none of its tasks has run yet
  const int before = server.version;
  own.resume();
  CHECK(stops == 1);
  CHECK_FALSE(election.isLeader());
  loop.runFor(1ms);
  CHECK(server.record().holderIdentity == "b");
  CHECK(server.version <= before + 1);
}

TEST_CASE_METHOD(Fixture, "clocks of other processes are not trusted") {
  const std::string times = GENERATE("1970-01-01T00:00:00.000000Z", "2199-01-01T00:00:00.000000Z");
  server.put(codec::encodeNewLease("trainyard-system", "trainyard-operator",
                                   {.holderIdentity = "x",
                                    .leaseDurationSeconds = 10,
                                    .acquireTime = times,
                                    .renewTime = times,
                                    .leaseTransitions = 4}));
  a.election->start();
  loop.runFor(9900ms);
  CHECK(a.started.empty());
  loop.runFor(4s);
  CHECK(a.started == std::vector<std::int64_t>{5});
}

TEST_CASE_METHOD(Fixture, "the holder's own duration counts and not ours") {
  server.put(
      codec::encodeNewLease("trainyard-system", "trainyard-operator",
                            {.holderIdentity = "x", .leaseDurationSeconds = 30, .leaseTransitions = 4}));
  a.election->start();
  loop.runFor(29s);
  CHECK(a.started.empty());
  loop.runFor(5s);
  CHECK(a.started.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a released Lease is taken without waiting") {
  a.election->start();
  loop.runFor(5s);
  b.election->start();
  loop.runFor(5s);
  bool done = false;
  a.election->release([&] { done = true; });
  CHECK(a.stopped.size() == 1);
  CHECK_FALSE(a.election->isLeader());
  loop.runFor(100ms);
  CHECK(done);
  CHECK(server.record().holderIdentity.empty());
  CHECK(server.record().leaseDurationSeconds == 1);
  CHECK(server.record().leaseTransitions == 0);
  loop.runFor(1100ms);
  CHECK(b.started == std::vector<std::int64_t>{1});
}

TEST_CASE_METHOD(Fixture, "release completes also without the server and leaves foreign Leases alone") {
  a.election->start();
  loop.runFor(5s);
  int done = 0;
  SECTION("the server is unreachable") { a.cutOff = true; }
  SECTION("another process holds it") {
    server.put(
        codec::encodeNewLease("trainyard-system", "trainyard-operator",
                              {.holderIdentity = "x", .leaseDurationSeconds = 10, .leaseTransitions = 9}));
  }
  const std::string before = server.text;
  a.election->release([&] { ++done; });
  loop.runFor(30s);
  CHECK(done == 1);
  CHECK(server.text == before);
}

TEST_CASE_METHOD(Fixture, "a candidate releases at once") {
  a.election->start();
  loop.runFor(1s);
  b.election->start();
  loop.runFor(1s);
  bool done = false;
  b.election->release([&] { done = true; });
  loop.runFor(1ms);
  CHECK(done);
  CHECK(b.stopped.empty());
  loop.runFor(60s);
  CHECK(a.election->isLeader());
}

TEST_CASE_METHOD(Fixture, "a leader that finds another holder resigns at once") {
  a.election->start();
  loop.runFor(5s);
  server.put(
      codec::encodeNewLease("trainyard-system", "trainyard-operator",
                            {.holderIdentity = "x", .leaseDurationSeconds = 10, .leaseTransitions = 9}));
  const auto stolen = loop.now();
  REQUIRE(loop.runUntilTrue([&] { return !a.stopped.empty(); }, 10s));
  CHECK(loop.now() - stolen <= 2s);
}

TEST_CASE_METHOD(Fixture, "a renewal of unknown outcome is resolved and leadership continues") {
  a.election->start();
  loop.runFor(5s);
  a.loseAnswers = true;
  loop.runFor(2s);
  a.loseAnswers = false;
  loop.runFor(30s);
  CHECK(a.stopped.empty());
  CHECK(a.election->isLeader());
}

TEST_CASE_METHOD(Fixture, "a foreign write to the Lease costs one conflict and not the leadership") {
  a.election->start();
  loop.runFor(5s);
  server.put(server.text);  // another resourceVersion
  loop.runFor(30s);
  CHECK(a.stopped.empty());
}

TEST_CASE_METHOD(Fixture, "a leader creates a deleted Lease again with its term") {
  server.put(codec::encodeNewLease("trainyard-system", "trainyard-operator", {.leaseTransitions = 6}));
  a.election->start();
  loop.runFor(5s);
  CHECK(a.election->term() == 7);
  server.text.clear();
  loop.runFor(5s);
  CHECK(a.stopped.empty());
  CHECK(server.record().leaseTransitions == 7);
}

TEST_CASE("foreign fields of the Lease are retained") {
  const auto lease = codec::decodeLease(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"n","labels":{"a":"b"},)"
      R"("resourceVersion":"3"},"spec":{"strategy":"OldestEmulationVersion","holderIdentity":"x"}})");
  REQUIRE(lease);
  CHECK(codec::encodeLease(*lease, {.holderIdentity = "me",
                                    .leaseDurationSeconds = 10,
                                    .acquireTime = "t",
                                    .renewTime = "u",
                                    .leaseTransitions = 2}) ==
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"n","labels":{"a":"b"},)"
        R"("resourceVersion":"3"},"spec":{"holderIdentity":"me","leaseDurationSeconds":10,"acquireTime":"t",)"
        R"("renewTime":"u","leaseTransitions":2,"strategy":"OldestEmulationVersion"}})");
  CHECK_FALSE(codec::decodeLease("{}"));
  CHECK(codec::decodeLease(R"({"metadata":{"resourceVersion":"1"},"spec":{"holderIdentity":3}})")
            .error()
            .message == "Lease: spec.holderIdentity: expected a string, is 3");
}

TEST_CASE("no two identities are equal") {
  base::Rng rng(1);
  CHECK(uniqueIdentity(rng) != uniqueIdentity(rng));
}

}  // namespace
}  // namespace trainyard::kube
