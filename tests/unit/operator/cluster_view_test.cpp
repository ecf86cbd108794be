#include "operator/cluster_view.h"

#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "core/ledger/ledger.h"
#include "support/fake_api.h"

namespace trainyard::operator_ {
namespace {

class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest&) override {
    return base::fail(base::ErrorCode::kUnavailable, "not asked");
  }
};

struct Fixture {
  base::VirtualLoop loop;
  Server api{loop};
  base::Rng rng{1};
  base::SilentSink nowhere;
  telemetry::MetricsRegistry registry;
  OperatorOptions options;
  ClusterView view{options,
                   {.api = api,
                    .executor = loop,
                    .rng = rng,
                    .metrics = registry,
                    .log = base::Logger(nowhere, base::LogLevel::kError, "view"),
                    .changed = [] {}}};

  void node() {
    view.cache().nodes.upsert(
        R"({"metadata":{"name":"n0000","uid":"n"},"status":{"allocatable":{"cpu":"64","memory":"1Ti","pods":"110",)"
        R"("nvidia.com/gpu":"8"},"conditions":[{"type":"Ready","status":"True"}]}})");
  }
  void pod(std::string_view name, std::string_view amounts) {
    view.cache().pods.upsert(fmt::format(
        R"({{"metadata":{{"namespace":"other","name":"{0}","uid":"{0}","resourceVersion":"1"}},"spec":{{"nodeName":"n0000",)"
        R"("containers":[{{"resources":{{"limits":{{{1}}},"requests":{{{1}}}}}}}]}},"status":{{"phase":"Running"}}}})",
        name, amounts));
  }
  [[nodiscard]] std::int64_t freeGpus() { return core::Ledger(view.snapshot()).nodes().front().freeGpus; }
  [[nodiscard]] bool hasLine(const std::string& sample) const {
    return registry.text().find(sample + "\n") != std::string::npos;
  }
};

TEST_CASE("a bound pod with an absurd request holds its GPUs") {
  Fixture f;
  f.node();
  CHECK(f.freeGpus() == 8);
  f.pod("a", R"("nvidia.com/gpu":"8","example.com/x":"10P")");
  CHECK(f.freeGpus() == 0);
  CHECK(f.hasLine(R"(trainyard_undecodable_objects_total{kind="Pod"} 0)"));
}

TEST_CASE("a bound pod whose requests cannot be read leaves nothing free on its node") {
  Fixture f;
  f.node();
  for (const char* name : {"a", "b", "c"}) f.pod(name, R"("nvidia.com/gpu":"eight")");
  CHECK(f.freeGpus() < 0);
  model::Resources one;
  one.pods = 1;
  CHECK_FALSE(core::Ledger(f.view.snapshot()).nodes().front().free.covers(one));
}

TEST_CASE("objects that cannot be decoded are counted by kind") {
  Fixture f;
  for (const char* kind : {"CSINode", "Namespace", "Node", "PersistentVolumeClaim", "Pod", "TrainingJob"})
    CHECK(f.hasLine(fmt::format("trainyard_undecodable_objects_total{{kind=\"{}\"}} 0", kind)));
  f.pod("a", R"("cpu":true)");
  f.pod("a", R"("cpu":true)");
  f.view.cache().nodes.upsert(R"({"metadata":{"name":"n1"},"spec":5})");
  CHECK(f.hasLine(R"(trainyard_undecodable_objects_total{kind="Pod"} 2)"));
  CHECK(f.hasLine(R"(trainyard_undecodable_objects_total{kind="Node"} 1)"));
}

}  // namespace
}  // namespace trainyard::operator_
