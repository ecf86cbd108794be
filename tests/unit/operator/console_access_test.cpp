#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "operator/console/access.h"
#include "support/fake_api.h"

namespace trainyard::operator_::console::test {
namespace {

using std::chrono::seconds;

// Accepts the tokens "...TOKEN-USER" of every user, and allows the listed accesses.
class ReviewingApi final : public trainyard::test::FakeApi {
 public:
  using FakeApi::FakeApi;

  Names allowed;  // "USER VERB RESOURCE NAMESPACE"
  int tokens = 0;
  int reviews = 0;
  std::vector<std::string> bodies;

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    bodies.push_back(request.body);
    if (request.path.ends_with("tokenreviews")) {
      ++tokens;
      const auto at = request.body.find("TOKEN-");
      if (at == std::string::npos) return kube::ApiResponse{201, R"({"status":{"error":"no"}})"};
      const std::string user = request.body.substr(at + 6, request.body.find('"', at) - at - 6);
      const auto begin = request.body.rfind('"', at) + 1;
      return kube::ApiResponse{
          201, fmt::format(R"({{"status":{{"authenticated":true,"user":{{"username":"{}","uid":"u1",)"
                           R"("groups":["g1"],"extra":{{"k":["v"],)"
                           R"("authentication.kubernetes.io/credential-id":["JTI={}"]}}}}}}}})",
                           user, request.body.substr(begin, at - begin))};
    }
    ++reviews;
    for (const std::string& each : allowed) {
      const auto user = each.substr(0, each.find(' '));
      const auto rest = each.substr(user.size() + 1);
      const bool mine = request.body.find(fmt::format(R"("user":"{}")", user)) != std::string::npos;
      if (mine && request.body.find(rest) != std::string::npos)
        return kube::ApiResponse{201, R"({"status":{"allowed":true}})"};
    }
    return kube::ApiResponse{201, R"({"status":{"allowed":false}})"};
  }
};

struct Fixture {
  base::VirtualLoop loop;
  ReviewingApi api{loop};
  Access access{api, loop};

  base::Result<Viewer> ask(const std::string& token, const Names& namespaces = {"ml", "vision"}) {
    base::Result<Viewer> got = base::fail(base::ErrorCode::kInternal, "not called");
    access.viewerOf(token, namespaces, stays, [&](base::Result<Viewer> viewer) { got = std::move(viewer); });
    loop.runFor(seconds(1));
    return got;
  }
  static bool stays() { return false; }
};

TEST_CASE_METHOD(Fixture, "A tenant sees the namespaces that the API server permits it to read") {
  api.allowed = {R"(ann "namespace":"ml")", R"(ann "resource":"queues")"};
  const auto viewer = ask("TOKEN-ann");
  REQUIRE(viewer.has_value());
  CHECK(*viewer ==
        Viewer{.user = "ann", .everywhere = false, .namespaces = {"ml"}, .nodes = false, .queues = true});
  CHECK_THAT(api.bodies.back(), Catch::Contains(R"("groups":["g1"],"extra":{"k":["v"],)"));
  CHECK_THAT(api.bodies.back(), !Catch::Contains("TOKEN"));
}

TEST_CASE_METHOD(Fixture, "A user who may read all namespaces is not reviewed for each") {
  api.allowed = {R"(root "namespace":"")", R"(root "resource":"nodes")"};
  const auto viewer = ask("TOKEN-root");
  CHECK(viewer->everywhere);
  CHECK(viewer->nodes);
  CHECK(api.reviews == 3);
}

TEST_CASE_METHOD(Fixture, "Answers are cached for half a minute and then the API server is asked again") {
  api.allowed = {R"(ann "namespace":"ml")"};
  CHECK(ask("TOKEN-ann")->sees("ml"));
  const int asked = api.reviews;
  api.allowed.clear();
  CHECK(ask("TOKEN-ann")->sees("ml"));
  CHECK(api.reviews == asked);
  CHECK(api.tokens == 1);
  CHECK(ask("TOKEN-ann", {"ml", "new"})->sees("ml"));
  CHECK(api.reviews == asked + 1);
  loop.runFor(kAnswersLive);
  CHECK_FALSE(ask("TOKEN-ann")->sees("ml"));
  CHECK(api.tokens == 2);
}

TEST_CASE_METHOD(Fixture, "One token's rights do not apply to another token") {
  api.allowed = {R"(ann "namespace":"ml")", R"(bob "namespace":"vision")"};
  CHECK(ask("TOKEN-ann")->namespaces == Names{"ml"});
  CHECK(ask("TOKEN-bob")->namespaces == Names{"vision"});
}

TEST_CASE_METHOD(Fixture, "An unknown token is refused and reviewed rarely") {
  CHECK(ask("forged").error().code == base::ErrorCode::kUnauthorized);
  CHECK(ask("forged").error().code == base::ErrorCode::kUnauthorized);
  CHECK(api.tokens == 1);
  CHECK(api.reviews == 0);
  loop.runFor(kRefusalsLive);
  CHECK_FALSE(ask("forged").has_value());
  CHECK(api.tokens == 2);
}

TEST_CASE_METHOD(Fixture, "A failed review is no permission") {
  api.allowed = {R"(ann "namespace":"")"};
  api.fault = [](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("subjectaccessreviews")) return std::nullopt;
    return base::Error{base::ErrorCode::kUnavailable, "down"};
  };
  CHECK(ask("TOKEN-ann").error().code == base::ErrorCode::kUnavailable);
  api.fault = nullptr;
  CHECK(ask("TOKEN-ann")->everywhere);
}

TEST_CASE_METHOD(Fixture, "Concurrent requests share one review and each gets an answer to its question") {
  api.allowed = {R"(ann "namespace":"new")"};
  int answered = 0;
  for (const char* ns : {"ml", "new", "ml"})
    access.viewerOf("TOKEN-ann", {ns}, stays,
                    [&](base::Result<Viewer> viewer) { answered += viewer.has_value() ? 1 : 0; });
  loop.runFor(seconds(1));
  CHECK(answered == 3);
  CHECK(api.tokens == 1);
  CHECK(ask("TOKEN-ann", {"new"})->sees("new"));
}

TEST_CASE_METHOD(Fixture, "Forged tokens push out one another and not a known one") {
  api.allowed = {R"(ann "namespace":"ml")"};
  CHECK(ask("TOKEN-ann")->sees("ml"));
  for (std::size_t i = 0; i < 2 * kMaxCallers; ++i) {
    access.viewerOf(fmt::format("forged-{}", i), {}, stays, [](const base::Result<Viewer>&) {});
    loop.runFor(std::chrono::milliseconds(2));
  }
  loop.runFor(seconds(10));
  const int asked = api.tokens;
  CHECK(ask("TOKEN-ann")->sees("ml"));
  CHECK(api.tokens == asked);
}

TEST_CASE_METHOD(Fixture, "A user's rights are reviewed once for any number of tokens") {
  api.allowed = {R"(ann "namespace":"ml")"};
  CHECK(ask("a.TOKEN-ann")->sees("ml"));
  const int asked = api.reviews;
  for (const char* token : {"b.TOKEN-ann", "c.TOKEN-ann", "d.TOKEN-ann"}) CHECK(ask(token)->sees("ml"));
  CHECK(api.tokens == 4);
  CHECK(api.reviews == asked);
}

TEST_CASE_METHOD(Fixture, "Many unknown tokens are reviewed slowly and a known one does not wait for them") {
  CHECK(ask("TOKEN-ann"));
  const int before = api.tokens;
  int throttled = 0;
  for (int i = 0; i < 300; ++i) {
    access.viewerOf(fmt::format("forged-{}", i), {}, stays, [&](const base::Result<Viewer>& viewer) {
      throttled += viewer.error().code == base::ErrorCode::kThrottled ? 1 : 0;
    });
  }
  CHECK(throttled >= 300 - kUnknownTokenRate.burst - static_cast<int>(kMaxUnknownTokensWaiting));
  bool answered = false;
  access.viewerOf("TOKEN-ann", {}, stays, [&](const base::Result<Viewer>&) { answered = true; });
  CHECK(answered);
  loop.runFor(seconds(1));
  CHECK(api.tokens - before <= kUnknownTokenRate.burst + kUnknownTokenRate.perSecond + 1);
}

TEST_CASE_METHOD(Fixture,
                 "One token of a tenant is reviewed at a time and other tenants do not wait for it") {
  int robots = 0;
  const auto count = [&](const base::Result<Viewer>&) { ++robots; };
  for (int i = 0; i < 30; ++i)
    access.viewerOf(fmt::format("TOKEN-system:serviceaccount:ml:robot-{}", i), {"ml"}, stays, count);
  bool bob = false;
  access.viewerOf("TOKEN-bob", {"ml"}, stays, [&](const base::Result<Viewer>&) { bob = true; });
  loop.runFor(std::chrono::milliseconds(5));
  CHECK(bob);
  CHECK(robots <= 2);
  loop.runFor(seconds(1));
  CHECK(robots == 30);
}

TEST_CASE_METHOD(Fixture, "A tenant's tokens push out one another and not those of other tenants") {
  CHECK(ask("TOKEN-ann"));
  for (std::size_t i = 0; i < kMaxCallers; ++i) {
    access.viewerOf(fmt::format("{}.TOKEN-system:serviceaccount:ml:robot", i), {}, stays,
                    [](const base::Result<Viewer>&) {});
    loop.runFor(std::chrono::milliseconds(50));
  }
  const int before = api.tokens;
  CHECK(ask("TOKEN-ann"));
  CHECK(api.tokens == before);
}

TEST_CASE_METHOD(Fixture, "A client that left before its review is not reviewed") {
  bool gone = false;
  int answered = 0;
  for (int i = 0; i < kUnknownTokenRate.burst; ++i)
    access.viewerOf(fmt::format("forged-{}", i), {}, stays, [](const base::Result<Viewer>&) {});
  const auto leaves = [&] { return gone; };
  access.viewerOf("TOKEN-ann", {}, leaves, [&](const base::Result<Viewer>&) { ++answered; });
  gone = true;
  loop.runFor(seconds(5));
  CHECK(api.tokens == kUnknownTokenRate.burst);
  CHECK(answered == 0);
  CHECK(ask("TOKEN-ann"));
}

}  // namespace
}  // namespace trainyard::operator_::console::test
