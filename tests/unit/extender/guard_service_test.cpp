#include "extender/guard_service.h"

#include <catch2/catch.hpp>

#include "base/virtual_loop.h"
#include "requests.h"
#include "support/builders.h"
#include "support/gpu_resources.h"

namespace {

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::extender::test;
using extender::GuardService;

class Lines final : public base::LogSink {
 public:
  void write(std::string_view line) override { text += std::string(line) + "\n"; }
  std::string text;
};

struct Fixture {
  base::VirtualLoop loop;
  Lines lines;
  telemetry::MetricsRegistry registry;
  extender::ExtenderMetrics metrics{registry};
  GuardService service{loop, metrics, base::Logger(lines, base::LogLevel::kDebug, "extender")};
  // n1 has 4 of 8 GPUs reserved for ml/bert; n2 has none.
  model::Job bert = job("ml/bert").role("worker", 1, gpus(4)).proposes("n1", "worker", "0");

  void publish(const SnapshotBuilder& snapshot, const std::vector<model::Uid>& settled = {}) {
    service.publish({std::make_shared<const core::GuardView>(snapshot.build()), nullptr}, settled);
  }
  void publishDefault() { publish(cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(bert)); }
  net::HttpResponse ask(std::string_view verb, std::string body) {
    net::ServerRequest request = post(verb, std::move(body));
    return service.answer(request);
  }
  bool counted(std::string_view line) const { return registry.text().find(line) != std::string::npos; }
};

TEST_CASE("before the caches are read nothing is decided") {
  Fixture f;
  const auto filtered = f.ask("filter", argsJson(foreignPodJson("a", 1), {"n1"}));
  CHECK(filtered.status == 200);
  CHECK(filtered.body.find(R"("Error":"trainyard-extender: caches are not synced yet")") !=
        std::string::npos);
  CHECK(f.ask("prioritize", argsJson(foreignPodJson("a", 1), {"n1"})).status == 503);
  CHECK(f.ask("preempt", "{}").status == 503);
  CHECK(f.counted(R"(trainyard_extender_requests_total{result="not_ready",verb="filter"} 1)"));
}

TEST_CASE("a gang member gets its node and a foreign pod what is left and prioritize agrees with filter") {
  Fixture f;
  f.publishDefault();
  CHECK(f.ask("filter", argsJson(memberJson(f.bert, "worker", 0, 1, 4), {"n1", "n2"})).body ==
        R"({"Nodes":null,"NodeNames":["n1"],"FailedNodes":{},"FailedAndUnresolvableNodes":)"
        R"({"n2":"trainyard: ml/bert-worker-0 is assigned to node n1"},"Error":""})");
  CHECK(f.service.holds() == 0);

  // 6 GPUs: n1 has 4 beside the reservation.
  CHECK(f.ask("filter", argsJson(foreignPodJson("a", 6), {"n1", "n2"})).body ==
        R"({"Nodes":null,"NodeNames":["n2"],"FailedNodes":{},"FailedAndUnresolvableNodes":)"
        R"({"n1":"trainyard: needs 6 nvidia.com/gpu, has 4 free beside 4 reserved for gangs"},"Error":""})");
  CHECK(f.service.holds() == 1);
  CHECK(f.ask("prioritize", argsJson(foreignPodJson("a", 6), {"n2"})).body ==
        R"([{"Host":"n2","Score":10}])");
  CHECK(f.counted(R"(trainyard_extender_refusals_total{reason="Reserved"} 1)"));
  CHECK(f.counted(R"(trainyard_extender_requests_total{result="ok",verb="filter"} 2)"));
  CHECK(f.lines.text.find(R"("pod":"ml/bert-worker-0","job":"bert")") != std::string::npos);
}

TEST_CASE("a request for GPUs of another name is guarded where the setting has it") {
  const std::string foreignPod =
      R"({"metadata":{"namespace":"ml","name":"a","uid":"uid-a"},"spec":{"containers":)"
      R"([{"name":"c","resources":{"limits":{"amd.com/gpu":"6"}}}]}})";
  const auto filtered = [&] {
    Fixture f;
    model::Resources four;
    four.setExtended("amd.com/gpu", 4);
    f.publish(cluster()
                  .add(node("n1").extended("amd.com/gpu", 8))
                  .add(job("ml/bert").role("worker", 1, four).proposes("n1", "worker", "0")));
    return f.ask("filter", argsJson(foreignPod, {"n1"})).body;
  };
  CHECK(filtered().find(R"("NodeNames":["n1"])") != std::string::npos);
  const trainyard::test::GpuResources setting({"amd.com/gpu"});
  CHECK(filtered().find("needs 6 amd.com/gpu, has 4 free beside 4 reserved for gangs") != std::string::npos);
}

TEST_CASE("a hold excludes the next pod until the first one is bound or the hold expires") {
  Fixture f;
  f.publishDefault();
  const auto fits = [&](std::string_view name) {
    return f.ask("filter", argsJson(foreignPodJson(name, 4), {"n1"})).body.find(R"("NodeNames":["n1"])") !=
           std::string::npos;
  };
  CHECK(fits("a"));
  CHECK_FALSE(fits("b"));
  CHECK(fits("a"));  // its own hold does not block it

  SECTION("the next view shows it bound elsewhere") {
    f.publish(cluster()
                  .add(node("n1").gpus(8))
                  .add(node("n2").gpus(8))
                  .add(f.bert)
                  .add(pod("ml/a").on("n2").gpus(4)),
              {model::Uid("uid-a")});
    CHECK(fits("b"));
  }
  SECTION("the next view shows it bound here") {
    f.publish(cluster()
                  .add(node("n1").gpus(8))
                  .add(node("n2").gpus(8))
                  .add(f.bert)
                  .add(pod("ml/a").on("n1").gpus(4)),
              {model::Uid("uid-a")});
    CHECK_FALSE(fits("b"));
    CHECK(f.service.holds() == 0);
  }
  SECTION("it expires") {
    f.loop.runFor(extender::kHoldTime - std::chrono::seconds(1));
    f.service.expireHolds();
    CHECK_FALSE(fits("b"));
    f.loop.runFor(std::chrono::seconds(1));
    f.service.expireHolds();
    CHECK(fits("b"));
  }
  SECTION("the pod is refused when it asks again") {
    f.ask("filter", argsJson(foreignPodJson("a", 8), {"n1"}));
    CHECK(fits("b"));
  }
}

TEST_CASE("a gang that the view does not have yet is an error that kube-scheduler shows") {
  Fixture f;
  f.publishDefault();
  const model::Job other = job("ml/gpt").role("worker", 1, gpus(4));
  const auto answer = f.ask("filter", argsJson(memberJson(other, "worker", 0, 1, 4), {"n1"}));
  CHECK(answer.status == 200);
  CHECK(answer.body.find(R"("Error":"trainyard: the TrainingJob that controls ml/gpt-worker-0)") !=
        std::string::npos);
  CHECK(f.counted(R"(trainyard_extender_requests_total{result="try_again",verb="filter"} 1)"));
}

TEST_CASE("preempt answers with the allowed candidates as they came") {
  Fixture f;
  const model::Pod victim = pod("ml/low").on("n2").gpus(8).uid("low");
  f.publish(cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(f.bert).add(victim));
  const std::string body = fmt::format(
      R"({{"Pod":{},"NodeNameToVictims":null,"NodeNameToMetaVictims":{{)"
      R"("n1":{{"Pods":[{{"UID":"low"}}],"NumPDBViolations":0}},"n2":{{"Pods":[{{"UID":"low"}}],"NumPDBViolations":2}}}}}})",
      foreignPodJson("high", 8));
  CHECK(f.ask("preempt", body).body ==
        R"({"NodeNameToMetaVictims":{"n2":{"Pods":[{"UID":"low"}],"NumPDBViolations":2}}})");
}

TEST_CASE("an invalid request gets a clear refusal") {
  Fixture f;
  f.publishDefault();
  CHECK(f.ask("bind", "{}").status == 404);
  net::ServerRequest get = post("filter", "");
  get.method = net::Method::kGet;
  CHECK(f.service.answer(get).status == 405);
  net::ServerRequest elsewhere = post("filter", "{}");
  elsewhere.target = "/v1/other/filter";
  CHECK(f.service.answer(elsewhere).status == 404);

  const auto filtered = f.ask("filter", "not json");
  CHECK(filtered.status == 200);
  CHECK(filtered.body.find(R"("Error":"extender request: body: )") != std::string::npos);
  CHECK(f.ask("prioritize", "not json").status == 400);
  CHECK(f.ask("preempt", "not json").status == 400);
  CHECK(f.counted(R"(trainyard_extender_requests_total{result="bad_request",verb="filter"} 1)"));
  CHECK(f.lines.text.find("request cannot be read") != std::string::npos);
}

}  // namespace
