#include <catch2/catch.hpp>

#include "operator/console/answers.h"
#include "operator/console/console.h"
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

// Token "ann" reads namespace ml, "admin" everything; others are nobody's.
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
  bool stuck = false;  // nobody hears of the cluster any more
  Console console{{api, loop,
                   [this](const auto& then) {
                     ++snapshots;
                     if (stuck) return;
                     loop.post([this, then] { then(synced ? std::optional(snapshot) : std::nullopt); });
                   },
                   [this](const auto& work) { loop.postAfter(takes, [work] { work()(); }); }}};
  base::Instant::duration takes{};  // a what-if

  std::shared_ptr<Recorder> ask(std::string target, const std::string& token = "",
                                net::Method method = net::Method::kGet) {
    const auto recorder = std::make_shared<Recorder>();
    net::ServerRequest request{.method = method, .target = std::move(target)};
    if (!token.empty()) request.headers.emplace_back("authorization", "Bearer " + token);
    console.answer(request, recorder);
    loop.runFor(std::chrono::milliseconds(100));
    return recorder;
  }
};

TEST_CASE_METHOD(Fixture, "The page is there for everybody, and its headers are strict") {
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

TEST_CASE("Nothing of others is parsed as markup") {
  for (const char* path :
       {"/console.js", "/dom.js", "/feed.js", "/job.js", "/lists.js", "/map.js", "/whatif.js"}) {
    const auto file = findPageFile(path);
    REQUIRE(file.has_value());
    for (const char* sink :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "srcdoc"})
      CHECK_THAT(std::string(file->text), !Catch::Contains(sink));
  }
}

TEST_CASE_METHOD(Fixture, "Without a good token there is nothing to be had") {
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

TEST_CASE_METHOD(Fixture, "A stream tells what the caller may see, and then what changes") {
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

TEST_CASE_METHOD(Fixture, "A stream that has nothing to tell yet is kept alive") {
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

TEST_CASE_METHOD(Fixture, "Nothing is computed while nobody looks") {
  const auto ann = ask("/api/stream", "ann");
  loop.runFor(seconds(10));
  CHECK(snapshots >= 10);
  ann->gone = true;
  loop.runFor(seconds(2));
  const int before = snapshots;
  loop.runFor(seconds(60));
  CHECK(snapshots == before);
}

TEST_CASE_METHOD(Fixture, "One user opens so many pages and no more") {
  std::vector<std::shared_ptr<Recorder>> open;
  for (std::size_t i = 0; i < kMostStreamsOfTenant; ++i) open.push_back(ask("/api/stream", "ann"));
  CHECK(open.back()->answer.status == 200);
  CHECK(ask("/api/stream", "ann")->answer.status == 429);
  CHECK(ask("/api/stream", "admin")->answer.status == 200);
  open.front()->gone = true;
  CHECK(ask("/api/stream", "ann")->answer.status == 200);
}

TEST_CASE_METHOD(Fixture, "ServiceAccounts of one namespace open as many pages as one user") {
  for (std::size_t i = 0; i < kMostStreamsOfTenant; ++i)
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

TEST_CASE_METHOD(Fixture, "What-if is for namespaces that one may read") {
  const auto own = ask("/api/what-if?namespace=ml&members=1&gpus=2", "ann")->answer;
  CHECK(own.status == 200);
  CHECK_THAT(own.body, Catch::Contains(R"("outcome":)") && !Catch::Contains("secret"));
  CHECK(ask("/api/what-if?namespace=secret&members=1&gpus=2", "ann")->answer.status == 403);
  for (const char* bad :
       {"members=0&gpus=1", "members=1&gpus=x", "members=99999&gpus=1", "members=1&gpus=1&hours=-2"})
    CHECK(ask(std::string("/api/what-if?namespace=ml&") + bad, "ann")->answer.status == 400);
}

TEST_CASE_METHOD(Fixture, "Who had a what-if worked out lets those have theirs who were sent away") {
  const auto tries = [&](const char* token) {
    return ask("/api/what-if?namespace=ml&members=1&gpus=2", token)->answer.status;
  };
  takes = std::chrono::milliseconds(80);
  // Nobody else wants one.
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

TEST_CASE_METHOD(Fixture, "Nothing is worked out for who has left") {
  const auto recorder = std::make_shared<Recorder>();
  net::ServerRequest request{.target = "/api/job?namespace=ml&name=bert"};
  request.headers.emplace_back("authorization", "Bearer ann");
  console.answer(request, recorder);
  recorder->gone = true;
  loop.runFor(seconds(1));
  for (const std::string& path : api.paths) CHECK_THAT(path, !Catch::Contains("/events"));
  CHECK(recorder->answer.status == 0);
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
