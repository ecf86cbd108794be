#include <fstream>

#include <catch2/catch.hpp>

#include "kube/http_api_client.h"
#include "kube/paths.h"
#include "tests/unit/kube/fake_http.h"

namespace trainyard::kube {
namespace {

using namespace testing;
using base::ErrorCode;

struct Fixture {
  base::VirtualLoop loop;
  FakeHttp http{loop};
  LogLines logLines;
  base::Logger log{logLines, base::LogLevel::kDebug, "test"};
  std::unique_ptr<CredentialSource> credentials = makeStaticCredentials("Bearer t0");
  HttpApiClientOptions options;
  std::unique_ptr<HttpApiClient> api;
  std::vector<base::Result<ApiResponse>> answers;

  HttpApiClient& client() {
    if (!api) {
      api = std::make_unique<HttpApiClient>(options, http, *credentials, loop, base::Rng(1), log);
    }
    return *api;
  }
  ApiCallback keep() {
    return [this](base::Result<ApiResponse> answer) { answers.push_back(std::move(answer)); };
  }
};

std::string header(const net::HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST_CASE_METHOD(Fixture, "requests carry path and query and headers and body") {
  options.pathPrefix = "/k8s/c1";
  options.headers = {{"Impersonate-User", "ann"}};
  client().patch(PatchType::kStrategicMerge, kPods.object("ml", "a-worker-0", "status"), "{\"x\":1}", keep(),
                 {{"fieldManager", "train yard/ü"}});
  loop.runFor(1s);
  REQUIRE(http.sent.size() == 1);
  const net::HttpRequest& request = http.sent[0].request;
  CHECK(request.method == net::Method::kPatch);
  CHECK(request.target ==
        "/k8s/c1/api/v1/namespaces/ml/pods/a-worker-0/status?fieldManager=train%20yard%2F%C3%BC"
        "&fieldValidation=Ignore");
  CHECK(header(request, "Content-Type") == "application/strategic-merge-patch+json");
  CHECK(header(request, "Authorization") == "Bearer t0");
  CHECK(header(request, "User-Agent") == "trainyard");
  CHECK(header(request, "Impersonate-User") == "ann");
  CHECK(request.body == "{\"x\":1}");
  CHECK(answers.empty());
}

TEST_CASE_METHOD(Fixture, "resource paths") {
  CHECK(kPods.collection() == "/api/v1/pods");
  CHECK(kTrainingJobs.collection("ml") == "/apis/trainyard.dev/v1alpha1/namespaces/ml/trainingjobs");
  CHECK(kQueues.object("ignored", "vision", "status") == "/apis/trainyard.dev/v1alpha1/queues/vision/status");
  CHECK(kNodes.collection("ignored") == "/api/v1/nodes");
}

TEST_CASE_METHOD(Fixture, "an answer other than 2xx is an error made from its Status") {
  http.script = {refusal(409, "AlreadyExists"), answer(201, "{\"a\":1}")};
  client().create(kPods.collection("ml"), "{}", keep());
  client().create(kPods.collection("ml"), "{}", keep());
  loop.runFor(1s);
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].error().code == ErrorCode::kAlreadyExists);
  CHECK(answers[0].error().message == "POST /api/v1/namespaces/ml/pods: 409 AlreadyExists: no");
  CHECK(answers[1]->body == "{\"a\":1}");
}

TEST_CASE_METHOD(Fixture, "429 with Retry-After is repeated after that time and at most ten times") {
  http.otherwise = [](const net::HttpRequest&) {
    return refusal(429, "TooManyRequests", {{"Retry-After", "2"}});
  };
  client().create(kPods.collection("ml"), "{}", keep());
  loop.runFor(10min);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].error().code == ErrorCode::kThrottled);
  CHECK(answers[0].error().retryAfter == 2000ms);
  REQUIRE(http.sent.size() == 11);
  for (std::size_t i = 1; i < http.sent.size(); ++i) {
    CHECK(http.sent[i].at - http.sent[i - 1].at >= 2s);
    CHECK(http.sent[i].at - http.sent[i - 1].at <= 6s);
  }
}

TEST_CASE_METHOD(Fixture, "429 without Retry-After is returned to the caller") {
  http.script = {refusal(429, "TooManyRequests")};
  client().create("/x", "{}", keep());
  loop.runFor(1min);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].error().code == ErrorCode::kThrottled);
  CHECK(http.sent.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a write is repeated only when it surely did not arrive") {
  http.script = {broken(ErrorCode::kUnavailable), broken(ErrorCode::kUnavailable), answer(201)};
  client().create("/x", "{}", keep());
  loop.runFor(1min);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0]);
  CHECK(http.sent.size() == 3);

  for (const Answer& unknown :
       {broken(ErrorCode::kOutcomeUnknown), refusal(500, "InternalError"),
        refusal(503, "ServiceUnavailable", {{"Retry-After", "1"}}), refusal(504, "Timeout")}) {
    http.sent.clear();
    answers.clear();
    http.script = {unknown, answer(201)};
    client().create("/x", "{}", keep());
    loop.runFor(1min);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].error().code == ErrorCode::kOutcomeUnknown);
    CHECK(http.sent.size() == 1);
    http.script.clear();
  }
}

TEST_CASE_METHOD(Fixture, "a read is repeated with growing delays and five tries in all") {
  http.otherwise = [](const net::HttpRequest&) { return broken(ErrorCode::kOutcomeUnknown); };
  client().get("/x", keep());
  loop.runFor(1min);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].error().code == ErrorCode::kOutcomeUnknown);
  CHECK(answers[0].error().message == "GET /x: connection broke");
  REQUIRE(http.sent.size() == 5);
  // 0.1, 0.2, 0.4, 0.8 s, each up to doubled.
  base::Instant::duration low = 100ms;
  for (std::size_t i = 1; i < 5; ++i, low *= 2) {
    const auto delay = http.sent[i].at - http.sent[i - 1].at - http.latency;
    CHECK(delay >= low);
    CHECK(delay <= low * 2);
  }
}

TEST_CASE_METHOD(Fixture, "a read survives 5xx answers") {
  http.script = {refusal(500, "InternalError"), refusal(503, "x", {{"Retry-After", "3"}}), answer(200, "{}")};
  client().get("/x", keep());
  loop.runFor(1min);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0]);
  CHECK(http.sent[2].at - http.sent[1].at >= 3s);
}

TEST_CASE_METHOD(Fixture, "the caller can request one try only") {
  options.maxAttempts = 1;
  http.script = {broken(ErrorCode::kUnavailable)};
  client().get("/x", keep());
  loop.runFor(1min);
  REQUIRE(answers.size() == 1);
  CHECK(http.sent.size() == 1);
}

TEST_CASE_METHOD(Fixture, "401 reloads the token once") {
  const std::string path = "/tmp/trainyard-token-test";
  std::ofstream(path) << "first\n";
  credentials = makeTokenFileCredentials(path, loop, log);
  http.script = {answer(200), refusal(401, "Unauthorized"), answer(200), refusal(401, "Unauthorized"),
                 refusal(401, "Unauthorized")};
  client().get("/1", keep());
  loop.runFor(1s);
  std::ofstream(path) << "second\n";
  client().create("/2", "{}", keep());  // still the first token: read a second ago
  loop.runFor(1s);
  client().get("/3", keep());
  loop.runFor(1min);
  REQUIRE(answers.size() == 3);
  CHECK(answers[0]);
  CHECK(answers[1]);
  CHECK(answers[2].error().code == ErrorCode::kUnauthorized);
  REQUIRE(http.sent.size() == 5);
  CHECK(header(http.sent[0].request, "Authorization") == "Bearer first");
  CHECK(header(http.sent[1].request, "Authorization") == "Bearer first");
  CHECK(header(http.sent[2].request, "Authorization") == "Bearer second");
  std::remove(path.c_str());
}

TEST_CASE_METHOD(Fixture, "a rotated token is used within a minute and a vanished file is tolerated") {
  const std::string path = "/tmp/trainyard-token-rotation-test";
  credentials = makeTokenFileCredentials(path, loop, log);
  http.otherwise = [](const net::HttpRequest&) { return answer(200); };
  client().get("/", keep());
  loop.runFor(1s);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].error().code == ErrorCode::kUnavailable);
  CHECK(answers[0].error().message ==
        "GET /: token file " + path + ": cannot be read (No such file or directory)");

  std::ofstream(path) << "a";
  client().get("/", keep());
  loop.runFor(1s);
  std::ofstream(path) << "b";
  loop.runFor(60s);
  client().get("/", keep());
  std::remove(path.c_str());
  loop.runFor(2min);
  client().get("/", keep());
  loop.runFor(1s);
  REQUIRE(http.sent.size() == 3);
  CHECK(header(http.sent[0].request, "Authorization") == "Bearer a");
  CHECK(header(http.sent[1].request, "Authorization") == "Bearer b");
  CHECK(header(http.sent[2].request, "Authorization") == "Bearer b");
}

TEST_CASE_METHOD(Fixture, "a token file that would forge a header is refused") {
  const std::string path = "/tmp/trainyard-token-lines-test";
  std::ofstream(path) << "a\r\nX-Evil: 1\n";
  credentials = makeTokenFileCredentials(path, loop, log);
  client().get("/", keep());
  loop.runFor(1s);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].error().message.find("more than one line") != std::string::npos);
  std::remove(path.c_str());
}

TEST_CASE_METHOD(Fixture, "the token bucket spaces requests in order of arrival") {
  options.rateLimit = {.perSecond = 10, .burst = 3};
  http.otherwise = [](const net::HttpRequest&) { return answer(200); };
  for (int i = 0; i < 8; ++i) client().get("/" + std::to_string(i), keep());
  loop.runFor(10s);
  REQUIRE(http.sent.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(http.sent[i].request.target == "/" + std::to_string(i));
    const auto expected = i < 3 ? 0ms : 100ms * static_cast<int>(i - 2);
    CHECK(http.sent[i].at.time_since_epoch() == expected);
  }
  // A full bucket again after a pause.
  const auto later = loop.now();
  for (int i = 0; i < 4; ++i) client().get("/", keep());
  loop.runFor(1s);
  CHECK(http.sent[10].at == later);
  CHECK(http.sent[11].at == later + 100ms);
}

TEST_CASE_METHOD(Fixture, "the write guard is asked at the last moment") {
  options.rateLimit = {.perSecond = 1, .burst = 1};
  http.otherwise = [](const net::HttpRequest&) { return answer(200); };
  bool leading = true;
  client().guardWrites([&] { return leading; });
  client().create("/1", "{}", keep());
  client().create("/2", "{}", keep());
  client().get("/3", keep());
  loop.runFor(500ms);
  leading = false;
  loop.runFor(5s);
  REQUIRE(answers.size() == 3);
  CHECK(answers[0]);
  CHECK(answers[1].error().code == ErrorCode::kCancelled);
  CHECK(answers[2]);
  CHECK(http.sent.size() == 2);
}

TEST_CASE_METHOD(Fixture, "a review writes nothing and may be sent and repeated without leadership") {
  http.script = {broken(ErrorCode::kOutcomeUnknown), answer(500), answer(201)};
  client().guardWrites([] { return false; });
  client().request({.method = net::Method::kPost, .path = "/review", .body = "{}", .review = true}, keep());
  loop.runFor(10s);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0]);
}

TEST_CASE_METHOD(Fixture, "each warning of the server is logged once") {
  http.otherwise = [](const net::HttpRequest&) {
    return answer(200, "{}", {{"Warning", "299 - \"old API\""}});
  };
  client().get("/1", keep());
  client().get("/2", keep());
  loop.runFor(1s);
  CHECK(logLines.count("old API") == 1);
}

TEST_CASE_METHOD(Fixture, "a destroyed client calls no callback") {
  http.script = {answer(200)};
  client().get("/1", keep());
  bool ended = false;
  const auto handle =
      client().watch({.path = "/w"}, [](std::string) {}, [&](base::Result<void>) { ended = true; });
  loop.runFor(0s);
  api.reset();
  REQUIRE(http.streams.size() == 1);
  http.lastStream().end(answer(200));
  loop.runFor(1s);
  CHECK(answers.empty());
  CHECK_FALSE(ended);
}

TEST_CASE_METHOD(Fixture, "watches deliver lines and then their end") {
  std::vector<std::string> lines;
  std::vector<base::Result<void>> ends;
  const auto open = [&] {
    return client().watch(
        {.path = "/w", .query = {{"watch", "1"}}}, [&](std::string line) { lines.push_back(line); },
        [&](base::Result<void> end) { ends.push_back(std::move(end)); });
  };
  auto handle = open();
  loop.runFor(1ms);
  CHECK(http.lastStream().request.target == "/w?watch=1");
  http.lastStream().line("a");
  http.lastStream().line("b");
  http.lastStream().end(answer(200));
  CHECK(lines == std::vector<std::string>{"a", "b"});
  REQUIRE(ends.size() == 1);
  CHECK(ends[0]);

  handle = open();
  loop.runFor(1ms);
  http.lastStream().end(refusal(410, "Expired"));
  REQUIRE(ends.size() == 2);
  CHECK(ends[1].error().code == ErrorCode::kExpired);

  handle = open();
  handle.reset();
  loop.runFor(1ms);
  CHECK(http.streams.size() == 2);

  handle = open();
  loop.runFor(1ms);
  const auto stream = http.streams.back();
  handle.reset();
  CHECK_FALSE(stream->open);
}

}  // namespace
}  // namespace trainyard::kube
