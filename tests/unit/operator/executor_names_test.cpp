#include "operator/execute/plan_executor.h"

#include <memory>

#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "support/builders.h"
#include "support/fake_api.h"

namespace trainyard::operator_ {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the builders

class Server final : public FakeApi {
 public:
  using FakeApi::FakeApi;

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest&) override {
    return kube::ApiResponse{201, "{}"};
  }
};

class NoEvents final : public JobEvents {
 public:
  void record(const model::Job&, const core::JobEvent&) override {}
  void recordOn(const codec::ObjectRef&, const core::JobEvent&) override {}
};

struct Fixture {
  base::VirtualLoop loop;
  Server api{loop};
  NoEvents events;
  telemetry::MetricsRegistry registry;
  OperatorMetrics metrics{registry};
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "test"};
  kube::ClusterCache cache{log};
  PlanExecutor executor{
      {.api = api, .executor = loop, .cache = cache, .events = events, .metrics = metrics, .log = log},
      [] {}};

  void carryOut(const model::Job& job, core::Action action) {
    core::Plan plan;
    plan.decisions.push_back(
        {.job = std::make_shared<const model::Job>(job), .actions = {std::move(action)}});
    executor.execute(plan);
    loop.runFor(std::chrono::seconds(1));
  }
  [[nodiscard]] bool auxiliariesReady(const model::Job& job) const {
    const auto all = executor.feedback(cluster().add(job));
    const auto found = all.find(job.key);
    return found != all.end() && found->second.auxiliariesReady;
  }
};

}  // namespace

TEST_CASE("the state of a job does not apply to a new job of its name") {
  Fixture fixture;
  const model::Job first = job("ml/bert")
                               .role("worker", 2, gpus(1))
                               .proposes("n1", "worker", "0-1", model::ProposalPhase::kReserved);
  fixture.carryOut(first, core::EnsureAuxiliaries{});
  CHECK(fixture.auxiliariesReady(first));

  // Deleted and created again before the next read: its epochs start at 1 again.
  model::Job second = first;
  second.uid = model::Uid("another");
  REQUIRE(fixture.cache.jobs.applyWrite(
      R"({"metadata":{"name":"bert","namespace":"ml","uid":"another","resourceVersion":"7"},"spec":{}})",
      kube::WriteKind::kCreate));
  CHECK_FALSE(fixture.auxiliariesReady(second));
  fixture.carryOut(second, core::CreateMember{"of no role", 0, 1});
  CHECK_FALSE(fixture.auxiliariesReady(second));
}

}  // namespace trainyard::operator_
