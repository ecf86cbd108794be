#include "kube/path_access.h"

#include <optional>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "support/path_reviews.h"

namespace trainyard::kube {
namespace {

using base::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Fixture {
  base::VirtualLoop loop;
  test::PathReviews api{loop};
  PathAccess access{api, loop, "/metrics"};
  std::vector<PathAccess::Verdict> verdicts;

  Fixture() {
    api.users = {"ann", "prometheus"};
    api.readers = {"prometheus"};
  }

  void begin(const std::string& token, bool gone = false) {
    access.check(
        token, [gone] { return gone; },
        [this](PathAccess::Verdict verdict) { verdicts.push_back(std::move(verdict)); });
  }
  PathAccess::Verdict ask(const std::string& token) {
    verdicts.clear();
    begin(token);
    loop.runFor(seconds(1));
    REQUIRE(verdicts.size() == 1);
    return verdicts.front();
  }
};

TEST_CASE_METHOD(Fixture, "a client that may get the path is accepted and others are distinguished") {
  CHECK(ask("prometheus-token"));
  CHECK(ask("ann-token").error().code == ErrorCode::kForbidden);
  CHECK_THAT(ask("ann-token").error().message, Catch::Contains("ann may not get /metrics"));
  CHECK(ask("forged").error().code == ErrorCode::kUnauthorized);
}

TEST_CASE_METHOD(Fixture, "a permission is cached for minutes and a refusal for seconds") {
  CHECK(ask("prometheus-token"));
  CHECK(access.remembered("prometheus-token")->has_value());
  CHECK_FALSE(ask("ann-token"));
  CHECK_FALSE(ask("ann-token"));
  CHECK(api.tokens == 2);
  api.readers.insert("ann");
  loop.runFor(PathAccess::kNoLives);
  CHECK(ask("ann-token"));
  api.readers.clear();
  CHECK(ask("prometheus-token"));
  loop.runFor(PathAccess::kYesLives);
  CHECK_FALSE(access.remembered("prometheus-token"));
  CHECK(ask("prometheus-token").error().code == ErrorCode::kForbidden);
}

TEST_CASE_METHOD(Fixture, "a failed review is no permission and is reported as unavailable") {
  for (const char* path : {"tokenreviews", "subjectaccessreviews"}) {
    // The API server refuses this program, not the owner of the token.
    for (const ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kForbidden, ErrorCode::kUnauthorized}) {
      api.fault = [path, code](const ApiRequest& request) -> std::optional<base::Error> {
        if (!request.path.ends_with(path)) return std::nullopt;
        return base::Error{code, "down"};
      };
      CHECK(ask("prometheus-token").error().code == ErrorCode::kUnavailable);
    }
  }
  api.fault = nullptr;
  CHECK(ask("prometheus-token"));
  // An old verdict is not used after it has expired.
  loop.runFor(PathAccess::kYesLives);
  api.fault = [](const ApiRequest&) { return base::Error{ErrorCode::kUnavailable, "down"}; };
  CHECK(ask("prometheus-token").error().code == ErrorCode::kUnavailable);
}

TEST_CASE_METHOD(Fixture, "many with one token ask once") {
  for (int i = 0; i < 10; ++i) begin("prometheus-token");
  loop.runFor(seconds(1));
  CHECK(verdicts.size() == 10);
  CHECK(api.tokens == 1);
}

TEST_CASE_METHOD(Fixture, "many wrong tokens are reviewed slowly and a known token does not wait for them") {
  CHECK(ask("prometheus-token"));
  loop.runFor(PathAccess::kYesLives);
  verdicts.clear();
  for (std::size_t i = 0; i < 10 * PathAccess::kMaxTokens; ++i) begin("forged-" + std::to_string(i));
  // Requests beyond the capacity are refused at once.
  CHECK(verdicts.size() == 9 * PathAccess::kMaxTokens + 1);
  const int before = api.tokens;
  bool answered = false;
  access.check(
      "prometheus-token", [] { return false; },
      [&](const PathAccess::Verdict& verdict) { answered = verdict.has_value(); });
  loop.runFor(milliseconds(10));
  CHECK(answered);
  loop.runFor(seconds(1));
  CHECK(api.tokens - before <=
        PathAccess::kUnknownTokenRate.burst + PathAccess::kUnknownTokenRate.perSecond + 1);
}

TEST_CASE_METHOD(Fixture, "a client that left before its review is not reviewed") {
  for (int i = 0; i < PathAccess::kUnknownTokenRate.burst; ++i) begin("forged-" + std::to_string(i));
  for (int i = 0; i < 10; ++i) begin("left-" + std::to_string(i), true);
  loop.runFor(std::chrono::minutes(1));
  CHECK(api.tokens == PathAccess::kUnknownTokenRate.burst);
  CHECK(verdicts.size() == static_cast<std::size_t>(PathAccess::kUnknownTokenRate.burst));
}

TEST_CASE_METHOD(Fixture, "an API server that does not answer makes no client wait for ever") {
  struct Silent final : ApiClient {
    void request(ApiRequest, ApiCallback done) override { kept.push_back(std::move(done)); }
    std::unique_ptr<net::StreamHandle> watch(ApiRequest, std::function<void(std::string)>,
                                             std::function<void(base::Result<void>)>) override {
      return nullptr;
    }
    std::vector<ApiCallback> kept;
  } silent;
  PathAccess deaf(silent, loop, "/metrics");
  std::optional<PathAccess::Verdict> verdict;
  deaf.check(
      "prometheus-token", [] { return false; }, [&](PathAccess::Verdict said) { verdict = std::move(said); });
  loop.runFor(PathAccess::kPatience);
  REQUIRE(verdict);
  CHECK(verdict->error().code == ErrorCode::kUnavailable);
  CHECK(silent.kept.size() == 1);
}

TEST_CASE_METHOD(Fixture, "wrong tokens push out one another and not a good one") {
  CHECK(ask("prometheus-token"));
  for (std::size_t i = 0; i < 2 * PathAccess::kMaxTokens; ++i) {
    begin("forged-" + std::to_string(i));
    loop.runFor(milliseconds(200));
  }
  const int asked = api.tokens;
  CHECK(ask("prometheus-token"));
  CHECK(api.tokens == asked);
}

TEST_CASE_METHOD(Fixture, "a good token that is used rarely stays cached among many wrong ones") {
  for (int scrape = 0; scrape < 5; ++scrape) {
    std::optional<PathAccess::Verdict> verdict;
    access.check(
        "prometheus-token", [] { return false; },
        [&](PathAccess::Verdict said) { verdict = std::move(said); });
    loop.runFor(seconds(1));
    CHECK((verdict && *verdict));
    // Slightly longer than a positive verdict is valid.
    for (int i = 0; i < 304; ++i) {
      begin(fmt::format("forged-{}-{}", scrape, i));
      loop.runFor(seconds(1));
    }
    for (std::size_t i = 0; i < PathAccess::kMaxTokens; ++i)
      begin(fmt::format("flood-{}-{}", scrape, i), true);
  }
}

}  // namespace
}  // namespace trainyard::kube
