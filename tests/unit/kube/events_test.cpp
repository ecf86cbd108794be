#include <set>

#include <catch2/catch.hpp>

#include "kube/events.h"
#include "kube/http_api_client.h"
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
  std::unique_ptr<CredentialSource> credentials = makeStaticCredentials("");
  HttpApiClient api{{.rateLimit = {.perSecond = 0}, .maxAttempts = 1, .maxThrottled = 0},
                    http,
                    *credentials,
                    loop,
                    base::Rng(1),
                    log};
  EventRecorder recorder{{.instance = "pod-0", .maxPending = 5}, api, loop, log};
  const ObjectRef job{
      .apiVersion = "trainyard.dev/v1alpha1", .kind = "TrainingJob", .ns = "ml", .name = "bert", .uid = "u1"};

  Fixture() {
    http.otherwise = [](const net::HttpRequest&) { return answer(201); };
  }
  void waiting(const std::string& note = "needs 4 nodes") {
    recorder.record(job, EventType::kNormal, "Waiting", "Schedule", note);
  }
  [[nodiscard]] const net::HttpRequest& last() const { return http.sent.back().request; }
};

TEST_CASE_METHOD(Fixture, "one occurrence is one POST with everything the API wants") {
  waiting();
  loop.runFor(1s);
  REQUIRE(http.sent.size() == 1);
  CHECK(last().method == net::Method::kPost);
  CHECK(last().target == "/apis/events.k8s.io/v1/namespaces/ml/events?fieldValidation=Ignore");
  CHECK(
      last().body ==
      R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"bert.17fb16d83be00001",)"
      R"("namespace":"ml"},"eventTime":"2024-10-04T00:00:00.000000Z","type":"Normal","reason":"Waiting",)"
      R"("action":"Schedule","note":"needs 4 nodes","reportingController":"trainyard.dev/operator",)"
      R"("reportingInstance":"pod-0","regarding":{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob",)"
      R"("namespace":"ml","name":"bert","uid":"u1"}})");
  loop.runFor(1h);
  CHECK(http.sent.size() == 1);
}

TEST_CASE_METHOD(Fixture, "the second occurrence begins a series and later ones only count") {
  waiting();
  loop.runFor(1s);
  waiting();
  loop.runFor(1s);
  REQUIRE(http.sent.size() == 2);
  CHECK(last().method == net::Method::kPatch);
  CHECK(last().target ==
        "/apis/events.k8s.io/v1/namespaces/ml/events/bert.17fb16d83be00001?fieldValidation=Ignore");
  CHECK(last().body == R"({"series":{"count":2,"lastObservedTime":"2024-10-04T00:00:01.000000Z"}})");
  for (int i = 0; i < 100; ++i) {
    loop.runFor(1s);
    waiting();
  }
  CHECK(http.sent.size() == 2);
  // After six minutes of silence the final count is written, and the series is dropped.
  loop.runFor(8min);
  REQUIRE(http.sent.size() == 3);
  CHECK(last().body == R"({"series":{"count":102,"lastObservedTime":"2024-10-04T00:01:42.000000Z"}})");
  waiting();
  loop.runFor(1s);
  CHECK(last().method == net::Method::kPost);
  CHECK(last().body.find("series") == std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a series that continues is written every half hour") {
  for (int minute = 0; minute < 120; ++minute) {
    waiting();
    loop.runFor(1min);
  }
  CHECK(http.sent.size() >= 5);
  CHECK(http.sent.size() <= 6);
}

TEST_CASE_METHOD(Fixture, "events with another reason or type or action or note or object are other events") {
  waiting();
  waiting("needs 3 nodes");
  loop.runFor(1s);
  recorder.record(job, EventType::kWarning, "Waiting", "Schedule", "");
  recorder.record(job, EventType::kNormal, "Scheduled", "Schedule", "");
  recorder.record(job, EventType::kNormal, "Waiting", "Resize", "");
  recorder.record({.apiVersion = "trainyard.dev/v1alpha1", .kind = "Queue", .name = "vision"},
                  EventType::kNormal, "Waiting", "Schedule", "");
  loop.runFor(1s);
  REQUIRE(http.sent.size() == 6);
  CHECK(last().target == "/apis/events.k8s.io/v1/namespaces/default/events?fieldValidation=Ignore");
  std::set<std::string> names;
  for (const auto& sent : http.sent) names.insert(sent.request.body.substr(70, 50));
  CHECK(names.size() == 6);
}

TEST_CASE_METHOD(Fixture, "a series whose object was deleted begins a new object with its count") {
  waiting();
  loop.runFor(1s);
  http.script = {refusal(404, "NotFound")};
  waiting();
  loop.runFor(1s);
  REQUIRE(http.sent.size() == 3);
  CHECK(last().method == net::Method::kPost);
  CHECK(last().body.find(R"("series":{"count":2,)") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "failures are tried twelve times and ten seconds apart") {
  http.otherwise = [](const net::HttpRequest&) { return broken(ErrorCode::kOutcomeUnknown); };
  waiting();
  loop.runFor(1h);
  REQUIRE(http.sent.size() == 12);
  CHECK(http.sent[1].at - http.sent[0].at == 10s + http.latency);
  CHECK(recorder.dropped() == 1);
}

TEST_CASE_METHOD(Fixture, "an event that arrived although its answer was lost is not written twice") {
  http.script = {broken(ErrorCode::kOutcomeUnknown), refusal(409, "AlreadyExists")};
  waiting();
  loop.runFor(1min);
  CHECK(http.sent.size() == 2);
  CHECK(recorder.dropped() == 0);
  waiting();
  loop.runFor(1s);
  CHECK(last().method == net::Method::kPatch);
}

TEST_CASE_METHOD(Fixture, "an event that the server never accepts is dropped") {
  for (const int code : {400, 403, 404, 422}) {
    http.sent.clear();
    http.script = {refusal(code, "x")};
    waiting();
    loop.runFor(10min);
    CHECK(http.sent.size() == 1);
  }
  CHECK(recorder.dropped() == 4);
}

TEST_CASE_METHOD(Fixture, "the queue is bounded") {
  http.otherwise = [](const net::HttpRequest&) { return std::nullopt; };
  for (int i = 0; i < 9; ++i) {
    recorder.record(job, EventType::kNormal, "R" + std::to_string(i), "A", "");
  }
  loop.runFor(1s);
  CHECK(recorder.dropped() == 6);
  // A namespace without events still has capacity.
  ObjectRef other = job;
  other.ns = "vision";
  recorder.record(other, EventType::kNormal, "R", "A", "");
  CHECK(recorder.dropped() == 6);
  CHECK(http.sent.size() == 4);  // in flight at once
  CHECK(logLines.count("events are being dropped") == 1);
}

TEST_CASE_METHOD(Fixture, "texts are cut to what the API accepts and not inside a character") {
  recorder.record(job, EventType::kNormal, std::string(300, 'r'), std::string(300, 'a'),
                  std::string(1023, 'n') + "üü");
  loop.runFor(1s);
  CHECK(last().body.find("\"" + std::string(128, 'r') + "\"") != std::string::npos);
  CHECK(last().body.find("\"" + std::string(128, 'a') + "\"") != std::string::npos);
  CHECK(last().body.find("\"" + std::string(1023, 'n') + "\"") != std::string::npos);
}

}  // namespace
}  // namespace trainyard::kube
