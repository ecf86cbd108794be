#include <catch2/catch.hpp>

#include "codec/json_value.h"
#include "operator/console/answers.h"
#include "operator/console/console.h"
#include "operator/console/tried_jobs.h"
#include "operator/simulation_json.h"
#include "support/builders.h"
#include "support/fake_api.h"

namespace trainyard::operator_::console::test {
namespace {

using namespace trainyard::test;
using std::chrono::seconds;

class Recorder final : public net::Exchange {
 public:
  void reply(net::HttpResponse response) override { answer = std::move(response); }
  void startStream(net::HttpResponse head) override { answer = std::move(head); }
  void write(std::string chunk) override { text += chunk; }
  void end() override { ended = true; }
  [[nodiscard]] bool clientGone() const override { return gone; }

  net::HttpResponse answer;
  std::string text;
  bool ended = false;
  bool gone = false;
};

// Token "ann" may read namespace ml, "admin" everything; other tokens are invalid.
class Api final : public FakeApi {
 public:
  using FakeApi::FakeApi;
  bool annKnown = true;
  std::vector<std::string> paths;

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    paths.push_back(request.path);
    const auto has = [&](std::string_view text) { return request.body.find(text) != std::string::npos; };
    if (request.path.ends_with("tokenreviews")) {
      const char* user = has(R"("token":"ann")") && annKnown ? "ann"
                         : has(R"("token":"admin")")         ? "admin"
                         : has(R"("token":"robot-1")")       ? "system:serviceaccount:ml:one"
                         : has(R"("token":"robot-2")")       ? "system:serviceaccount:ml:two"
                                                             : "";
      return kube::ApiResponse{
          201,
          fmt::format(R"({{"status":{{"authenticated":{},"user":{{"username":"{}"}}}}}})", *user != 0, user)};
    }
    if (request.path.ends_with("subjectaccessreviews")) {
      const bool yes = has(R"("user":"admin")") || has(R"("namespace":"ml")");
      return kube::ApiResponse{201, fmt::format(R"({{"status":{{"allowed":{}}}}})", yes)};
    }
    return kube::ApiResponse{200, R"({"items":[]})"};
  }
};

struct Fixture {
  base::VirtualLoop loop;
  Api api{loop};
  model::Snapshot snapshot = cluster()
                                 .add(node("n1").gpus(8))
                                 .add(job("ml/bert").role("worker", 1, gpus(4)))
                                 .add(job("secret/plan9").role("worker", 1, gpus(4)));
  int snapshots = 0;
  bool synced = true;
  bool stuck = false;  // no further updates of the cluster arrive
  Console console{{api, loop,
                   [this](const auto& then) {
                     ++snapshots;
                     if (stuck) return;
                     loop.post([this, then] { then(synced ? std::optional(snapshot) : std::nullopt); });
                   },
                   [this](const auto& work) { loop.postAfter(takes, [work] { work()(); }); }}};
  base::Instant::duration takes{};  // the duration of a what-if

  std::shared_ptr<Recorder> simulate(const std::string& body, const std::string& token) {
    return ask("/api/simulate", token, net::Method::kPost, body);
  }
  std::shared_ptr<Recorder> ask(std::string target, const std::string& token = "",
                                net::Method method = net::Method::kGet, const std::string& body = "") {
    const auto recorder = std::make_shared<Recorder>();
    net::ServerRequest request{.method = method, .target = std::move(target)};
    request.body = body;
    if (!token.empty()) request.headers.emplace_back("authorization", "Bearer " + token);
    console.answer(std::move(request), recorder);
    loop.runFor(std::chrono::milliseconds(100));
    return recorder;
  }
};

TEST_CASE_METHOD(Fixture, "The page is public and its headers are strict") {
  for (const char* path : {"/", "/console.js", "/console.css", "/map.js"}) {
    const auto answer = ask(path)->answer;
    CHECK(answer.status == 200);
    CHECK(!answer.body.empty());
    CHECK(net::findHeader(answer.headers, "X-Content-Type-Options") == "nosniff");
    CHECK(net::findHeader(answer.headers, "Cache-Control") == "no-store");
    const std::string policy(net::findHeader(answer.headers, "Content-Security-Policy"));
    CHECK_THAT(policy, Catch::Contains("default-src 'none'") && Catch::Contains("frame-ancestors 'none'") &&
                           !Catch::Contains("unsafe"));
  }
  CHECK_THAT(ask("/")->answer.body, !Catch::Contains("style=") && !Catch::Contains("onclick"));
  CHECK(api.paths.empty());
}

TEST_CASE("No text of others is parsed as markup") {
  for (const char* path :
       {"/console.js", "/dom.js", "/feed.js", "/job.js", "/lists.js", "/map.js", "/whatif.js"}) {
    const auto file = findPageFile(path);
    REQUIRE(file.has_value());
    for (const char* sink :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "srcdoc"})
      CHECK_THAT(std::string(file->text), !Catch::Contains(sink));
  }
}

TEST_CASE_METHOD(Fixture, "Without a good token nothing is served") {
  for (const char* path : {"/api/stream", "/api/job?namespace=ml&name=bert", "/api/what-if?namespace=ml"}) {
    CHECK(ask(path)->answer.status == 401);
    CHECK(ask(path, "forged")->answer.status == 401);
    CHECK(ask(path, "not a token")->answer.status == 401);
    CHECK(net::findHeader(ask(path)->answer.headers, "WWW-Authenticate") == "Bearer");
  }
  CHECK(ask("/api/stream", "admin", net::Method::kPost)->answer.status == 405);
  CHECK(ask("/api/nothing", "admin")->answer.status == 404);
  CHECK(ask("/../etc/passwd")->answer.status == 404);
}

TEST_CASE_METHOD(Fixture, "A stream sends what the caller may see and then what changes") {
  const auto ann = ask("/api/stream", "ann");
  CHECK(ann->answer.status == 200);
  CHECK(net::findHeader(ann->answer.headers, "Content-Type") == "text/event-stream");
  CHECK_THAT(ann->text, Catch::Contains("bert") && Catch::EndsWith("event: ready\ndata: null\n\n"));
  CHECK_THAT(ann->text, !Catch::Contains("secret") && !Catch::Contains("plan9") && !Catch::Contains("n1"));
  const auto admin = ask("/api/stream", "admin");
  CHECK_THAT(admin->text, Catch::Contains("plan9") && Catch::Contains("n1"));

  ann->text.clear();
  loop.runFor(seconds(5));
  CHECK(ann->text.empty());
  snapshot = cluster().add(node("n1").gpus(8)).add(job("ml/gpt").role("worker", 1, gpus(4)));
  loop.runFor(seconds(2));
  CHECK_THAT(ann->text, Catch::Contains("gpt") && !Catch::Contains("event: me\n"));
  loop.runFor(seconds(20));
  CHECK_THAT(ann->text, Catch::EndsWith(":\n\n"));
}

TEST_CASE_METHOD(Fixture, "A stream without anything to send is kept alive") {
  const auto ann = ask("/api/stream", "ann");
  ann->text.clear();
  stuck = true;
  loop.runFor(seconds(40));
  CHECK_THAT(ann->text, Catch::StartsWith(":\n\n"));
}

TEST_CASE_METHOD(Fixture, "A token that is not good any more ends its stream") {
  const auto ann = ask("/api/stream", "ann");
  api.annKnown = false;
  loop.runFor(kAnswersLive + seconds(2));
  CHECK(ann->ended);
  CHECK_THAT(ann->text, Catch::Contains("event: denied"));
  CHECK(console.streams() == 0);
}

TEST_CASE_METHOD(Fixture, "Nothing is computed without a viewer") {
  const auto ann = ask("/api/stream", "ann");
  loop.runFor(seconds(10));
  CHECK(snapshots >= 10);
  ann->gone = true;
  loop.runFor(seconds(2));
  const int before = snapshots;
  loop.runFor(seconds(60));
  CHECK(snapshots == before);
}

TEST_CASE_METHOD(Fixture, "One user opens a limited number of pages") {
  std::vector<std::shared_ptr<Recorder>> open;
  for (std::size_t i = 0; i < kMaxStreamsOfTenant; ++i) open.push_back(ask("/api/stream", "ann"));
  CHECK(open.back()->answer.status == 200);
  CHECK(ask("/api/stream", "ann")->answer.status == 429);
  CHECK(ask("/api/stream", "admin")->answer.status == 200);
  open.front()->gone = true;
  CHECK(ask("/api/stream", "ann")->answer.status == 200);
}

TEST_CASE_METHOD(Fixture, "ServiceAccounts of one namespace open as many pages as one user") {
  for (std::size_t i = 0; i < kMaxStreamsOfTenant; ++i)
    CHECK(ask("/api/stream", i % 2 == 0 ? "robot-1" : "robot-2")->answer.status == 200);
  CHECK(ask("/api/stream", "robot-1")->answer.status == 429);
  CHECK(ask("/api/stream", "robot-2")->answer.status == 429);
  CHECK(ask("/api/stream", "ann")->answer.status == 200);
}

TEST_CASE_METHOD(Fixture, "A job of another namespace is as if it did not exist") {
  const auto own = ask("/api/job?namespace=ml&name=bert", "ann")->answer;
  CHECK(own.status == 200);
  CHECK_THAT(own.body, Catch::Contains(R"("timeline":[{"time":)"));
  api.paths.clear();
  const auto theirs = ask("/api/job?namespace=secret&name=plan9", "ann")->answer;
  CHECK(theirs.status == 404);
  CHECK(theirs.body == ask("/api/job?namespace=ml&name=none", "ann")->answer.body);
  for (const std::string& path : api.paths) CHECK_THAT(path, !Catch::Contains("/events"));
  CHECK(ask("/api/job?namespace=secret&name=plan9", "admin")->answer.status == 200);
  CHECK(ask("/api/job?namespace=ml%2F..&name=bert", "admin")->answer.status == 404);
  CHECK(ask("/api/job?namespace=ml&name=bert,x%3Dy", "admin")->answer.status == 404);
}

TEST_CASE_METHOD(Fixture, "A what-if is limited to namespaces that the caller may read") {
  const auto own = ask("/api/what-if?namespace=ml&members=1&gpus=2", "ann")->answer;
  CHECK(own.status == 200);
  CHECK_THAT(own.body, Catch::Contains(R"("outcome":)") && !Catch::Contains("secret"));
  CHECK(ask("/api/what-if?namespace=secret&members=1&gpus=2", "ann")->answer.status == 403);
  for (const char* bad :
       {"members=0&gpus=1", "members=1&gpus=x", "members=99999&gpus=1", "members=1&gpus=1&hours=-2"})
    CHECK(ask(std::string("/api/what-if?namespace=ml&") + bad, "ann")->answer.status == 400);
}

TEST_CASE_METHOD(Fixture,
                 "A caller whose what-if was computed gives precedence to callers that were refused") {
  const auto tries = [&](const char* token) {
    return ask("/api/what-if?namespace=ml&members=1&gpus=2", token)->answer.status;
  };
  takes = std::chrono::milliseconds(80);
  // No other user requests one.
  CHECK(tries("robot-1") == 200);
  CHECK(tries("robot-1") == 200);
  takes = std::chrono::milliseconds(150);
  const auto first = ask("/api/what-if?namespace=ml&members=1&gpus=2", "robot-1");
  CHECK(tries("admin") == 429);
  CHECK(first->answer.status == 200);
  takes = std::chrono::milliseconds(80);
  CHECK(tries("robot-2") == 429);
  CHECK(tries("admin") == 200);
  loop.runFor(seconds(1));
  CHECK(tries("robot-2") == 200);
}

TEST_CASE_METHOD(Fixture, "Nothing is computed for a client that has left") {
  const auto recorder = std::make_shared<Recorder>();
  net::ServerRequest request{.target = "/api/job?namespace=ml&name=bert"};
  request.headers.emplace_back("authorization", "Bearer ann");
  console.answer(std::move(request), recorder);
  recorder->gone = true;
  loop.runFor(seconds(1));
  for (const std::string& path : api.paths) CHECK_THAT(path, !Catch::Contains("/events"));
  CHECK(recorder->answer.status == 0);
}

std::string jobText(const std::string& key, int gpuCount) {
  const auto slash = key.find('/');
  return fmt::format(R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":)"
                     R"({{"namespace":"{}","name":"{}","uid":"u"}},"spec":{{"framework":"PyTorch","roles":)"
                     R"([{{"name":"worker","replicas":1,"template":{{"spec":{{"containers":[{{"name":"main",)"
                     R"("image":"i","resources":{{"limits":{{"nvidia.com/gpu":{}}}}}}}]}}}}}}]}}}})",
                     key.substr(0, slash), key.substr(slash + 1), gpuCount);
}

std::string items(const std::vector<std::string>& jobs) {
  std::vector<TriedJob> tried;
  for (const std::string& each : jobs) tried.push_back({.job = each});
  return writeTriedJobs(tried);
}

std::string messageOf(const net::HttpResponse& answer) {
  const auto document = codec::JsonDocument::parse(answer.body);
  return document ? std::string(document->root().find("message").string().value_or("")) : "no JSON";
}

TEST_CASE_METHOD(Fixture, "Jobs are simulated for callers that may read their namespaces") {
  const std::string body = items({jobText("ml/next", 2)});
  CHECK(simulate(body, "")->answer.status == 401);
  CHECK(simulate(body, "forged")->answer.status == 401);
  CHECK(ask("/api/simulate", "ann")->answer.status == 405);
  const auto own = simulate(body, "ann")->answer;
  CHECK(own.status == 200);
  const auto simulation = readSimulation(own.body);
  REQUIRE(simulation);
  REQUIRE(simulation->forecasts.size() == 1);
  CHECK(simulation->forecasts[0].outcome == core::Forecast::Outcome::kStarts);
  CHECK(simulation->forecasts[0].job->key == model::ObjectKey{"ml", "next"});
  const auto theirs = simulate(items({jobText("ml/a", 1), jobText("secret/b", 1)}), "ann")->answer;
  CHECK(theirs.status == 403);
  CHECK(messageOf(theirs) == "you may not read TrainingJobs in namespace secret");
  CHECK(simulate(items({jobText("secret/b", 1)}), "admin")->answer.status == 200);
}

TEST_CASE_METHOD(Fixture, "Invalid input is refused with its position") {
  const auto refused = [&](const std::string& body, int status = 400) {
    const auto answer = simulate(body, "ann")->answer;
    CHECK(answer.status == status);
    return messageOf(answer);
  };
  CHECK_THAT(refused(""), Catch::StartsWith("the body"));
  CHECK_THAT(refused("{\"items\":[\n  {\"job\": nul}]}"), Catch::StartsWith("the body, line 2, column 1"));
  CHECK_THAT(refused(R"({"items":5})"), Catch::StartsWith("items: expected a list"));
  CHECK(refused(R"({"items":[]})") == "items: must have a job");
  CHECK(refused(R"({"items":[{}]})") == "items[0].job.metadata.namespace: is missing, or not a valid name");
  CHECK(refused(items({jobText("ml/a", 1), jobText("ml/a%2Fb", 1)})) ==
        "items[1].job.metadata.name: is missing, or not a valid name");
  std::string elsewhere = items({jobText("ml/a", 1)});
  elsewhere.insert(elsewhere.find(R"("pods":{)") + 8,
                   R"("worker":{"metadata":{"name":"p","namespace":"secret"}})");
  CHECK_THAT(refused(elsewhere),
             Catch::StartsWith("items[0].pods.worker: pod secret/p: metadata.namespace: must be ml"));
  CHECK_THAT(refused(R"({"items":[{"job":{"metadata":{"namespace":"ml","name":"a","uid":7}}}]})"),
             Catch::StartsWith("items[0].job ml/a: metadata.uid"));
  CHECK(refused(items({jobText("ml/bert", 1)}), 409) ==
        "items[0].job.metadata.name: TrainingJob ml/bert exists already");
  CHECK(refused(items({jobText("ml/a", 1), jobText("ml/a", 1)})) ==
        "items[1].job.metadata.name: ml/a occurs twice");
  CHECK(refused(items(std::vector<std::string>(kMaxTriedJobs + 1, jobText("ml/a", 1)))) ==
        "items: 17 jobs, at most 16 are tried at once");
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  CHECK_THAT(refused(R"({"items":)" + deep + "}"), Catch::StartsWith("the body"));
  CHECK_THAT(refused(std::string(kMaxTriedBytes + 1, ' '), 413), Catch::Contains("too large"));
}

TEST_CASE_METHOD(Fixture, "A simulated job has nothing that only an existing one has") {
  snapshot = cluster().add(node("n1").gpus(8));
  std::string body = items({jobText("ml/next", 8)});
  // Pretends that the job is placed already, for longer than all others.
  body.insert(body.find(R"("spec")"),
              R"("status":{"phase":"Running","gang":{"epoch":1,"placed":{"epoch":1,"assignments":)"
              R"([{"node":"n1","role":"worker","indices":"0"}]}}},)");
  const auto answer = simulate(body, "ann")->answer;
  CHECK(answer.status == 200);
  const auto simulation = readSimulation(answer.body);
  REQUIRE(simulation);
  CHECK(simulation->forecasts[0].outcome == core::Forecast::Outcome::kStarts);
}

// Twenty characters of it can mean a hundred thousand indices, and no schema has validated it.
TEST_CASE_METHOD(Fixture, "The status of a simulated job is not even read") {
  snapshot = cluster().add(node("n1").gpus(8));
  std::string body = items({jobText("ml/next", 8)});
  body.insert(body.find(R"("spec")"), R"("status":{"gang":{"placed":"nowhere"}},)");
  CHECK(simulate(body, "ann")->answer.status == 200);
}

TEST_CASE_METHOD(Fixture, "An answer shows how much others hold and not their names") {
  const model::Job theirs = job("secret/plan9").role("worker", 1, gpus(6)).placed("n1", "worker", "0");
  snapshot = cluster()
                 .add(node("n1").gpus(8))
                 .add(theirs)
                 .add(pod("secret/plan9-worker-0").memberOf(theirs, "worker", 0).on("n1").gpus(6));
  const std::string body = items({jobText("ml/next", 8)});
  const auto ann = simulate(body, "ann")->answer;
  CHECK(ann.status == 200);
  CHECK_THAT(ann.body, Catch::Contains(R"("outcome":"Waits")") && Catch::Contains(std::string(kAnother)) &&
                           !Catch::Contains("secret") && !Catch::Contains("plan9"));
  const auto admin = simulate(body, "admin")->answer;
  CHECK_THAT(admin.body, Catch::Contains(R"({"namespace":"secret","name":"plan9","nodes":1)"));
}

TEST_CASE_METHOD(Fixture, "One what-if runs at a time and its caller gives precedence to others") {
  const std::string body = items({jobText("ml/next", 2)});
  takes = seconds(3);
  const auto first = simulate(body, "ann");
  CHECK(first->answer.status == 0);  // reading takes three seconds, computing three more
  const auto second = simulate(body, "admin")->answer;
  CHECK(second.status == 429);
  CHECK(net::findHeader(second.headers, "Retry-After") == "1");
  CHECK(ask("/api/what-if?namespace=ml&members=1&gpus=2", "admin")->answer.status == 429);
  loop.runFor(seconds(6));
  CHECK(first->answer.status == 200);
  takes = seconds(0);
  CHECK(simulate(body, "ann")->answer.status == 429);
  CHECK(simulate(body, "admin")->answer.status == 200);
  loop.runFor(seconds(18));
  CHECK(simulate(body, "ann")->answer.status == 200);
}

TEST_CASE_METHOD(Fixture, "A what-if's slot is freed after any outcome of its request") {
  const std::string body = items({jobText("ml/next", 2)});
  for (const char* wrong : {"", "{}"}) {
    CHECK(simulate(wrong, "ann")->answer.status == 400);
    CHECK(simulate(items({jobText("secret/b", 1)}), "ann")->answer.status == 403);
    CHECK(simulate(body, "ann")->answer.status == 200);
  }
  takes = seconds(1);
  const auto leaves = simulate(body, "ann");
  leaves->gone = true;
  loop.runFor(seconds(2));
  takes = seconds(0);
  CHECK(simulate(body, "admin")->answer.status == 200);
}

TEST_CASE_METHOD(Fixture, "A body is held until its jobs were simulated and no longer") {
  auto counted = std::make_shared<int>(1);
  const std::weak_ptr<int> counts = counted;
  takes = seconds(1);
  const auto recorder = std::make_shared<Recorder>();
  net::ServerRequest request{.method = net::Method::kPost, .target = "/api/simulate"};
  request.body = items({jobText("ml/next", 2)});
  request.countsBody = std::move(counted);
  request.headers.emplace_back("authorization", "Bearer ann");
  console.answer(std::move(request), recorder);
  loop.runFor(seconds(1));
  CHECK(!counts.expired());
  loop.runFor(seconds(2));
  CHECK(recorder->answer.status == 200);
  CHECK(counts.expired());
}

TEST_CASE_METHOD(Fixture, "One tenant requests a limited number of job pages at once") {
  std::vector<std::shared_ptr<Recorder>> asked;
  for (std::size_t i = 0; i < kMaxPagesWaiting + 3; ++i) {
    const auto recorder = std::make_shared<Recorder>();
    net::ServerRequest request{.target = "/api/job?namespace=ml&name=bert"};
    request.headers.emplace_back("authorization", "Bearer ann");
    console.answer(std::move(request), recorder);
    asked.push_back(recorder);
  }
  loop.runFor(seconds(5));
  const auto answeredWith = [&](int status) {
    return static_cast<std::size_t>(std::count_if(
        asked.begin(), asked.end(), [&](const auto& each) { return each->answer.status == status; }));
  };
  CHECK(answeredWith(200) == kMaxPagesWaiting + 1);
  CHECK(answeredWith(429) == 2);
}

TEST_CASE_METHOD(Fixture, "Before the cluster was read there is nothing to show") {
  synced = false;
  CHECK(ask("/api/stream", "admin")->answer.status == 503);
}

TEST_CASE("Queries are read as they are written") {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(readQuery("a=1&b=x%20y+z&c&d=%zz&=e") == Pairs{{"a", "1"}, {"b", "x y z"}, {"c", ""}, {"", "e"}});
}

}  // namespace
}  // namespace trainyard::operator_::console::test
