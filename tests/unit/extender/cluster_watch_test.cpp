#include "extender/cluster_watch.h"

#include <map>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"

namespace {

using namespace trainyard;
using namespace std::chrono_literals;

// Answers lists from texts and keeps the watches open, so that the test can write into them.
class FakeApi final : public kube::ApiClient {
 public:
  explicit FakeApi(base::Executor& executor) : executor_(executor) {}

  std::map<std::string, std::string> items;  // by path of the collection

  void request(kube::ApiRequest request, kube::ApiCallback done) override {
    if (held) return;
    const std::string body =
        fmt::format(R"({{"metadata":{{"resourceVersion":"100"}},"items":[{}]}})", items[request.path]);
    executor_.post([done = std::move(done), body] { done(kube::ApiResponse{200, body}); });
  }
  std::unique_ptr<net::StreamHandle> watch(kube::ApiRequest request, std::function<void(std::string)> lines,
                                           std::function<void(base::Result<void>)>) override {
    watches_[request.path] = std::move(lines);
    return std::make_unique<net::StreamHandle>();
  }
  void event(const std::string& path, std::string_view type, std::string_view object) {
    watches_.at(path)(fmt::format(R"({{"type":"{}","object":{}}})", type, object));
  }

  bool held = false;

 private:
  base::Executor& executor_;
  std::map<std::string, std::function<void(std::string)>> watches_;
};

std::string podJson(std::string_view name, int version, std::string_view nodeName,
                    std::string_view extra = "") {
  return fmt::format(
      R"({{"metadata":{{"namespace":"ml","name":"{0}","uid":"uid-{0}","resourceVersion":"{1}"}},)"
      R"("spec":{{"nodeName":"{2}","containers":[{{"name":"c","resources":{{"requests":)"
      R"({{"nvidia.com/gpu":"4"}}}}}}]}},"status":{{"phase":"Running"{3}}}}})",
      name, version, nodeName, extra);
}

constexpr std::string_view kNode =
    R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"7"},"status":)"
    R"({"allocatable":{"nvidia.com/gpu":"8","cpu":"8","memory":"1Gi","pods":"110"},)"
    R"("conditions":[{"type":"Ready","status":"True"}]}})";

struct Fixture {
  base::VirtualLoop loop;
  base::SilentSink nowhere;
  FakeApi api{loop};
  telemetry::MetricsRegistry registry;
  extender::ExtenderMetrics metrics{registry};
  std::vector<std::shared_ptr<const core::GuardView>> views;
  std::vector<model::Uid> settled;
  extender::ClusterWatch watch{api,
                               loop,
                               base::Rng(1),
                               base::Logger(nowhere, base::LogLevel::kError, "extender"),
                               metrics,
                               [this](auto facts, auto gone) {
                                 views.push_back(std::move(facts.view));
                                 settled = std::move(gone);
                               }};

  void start() {
    api.items["/api/v1/nodes"] = kNode;
    api.items["/api/v1/pods"] = podJson("old", 5, "n1");
    watch.start();
    loop.runFor(1s);
  }
  std::int64_t freeGpus() const { return views.back()->findNode("n1")->freeGpus; }
};

TEST_CASE("no view is published before all lists have arrived") {
  Fixture f;
  f.api.held = true;
  f.start();
  CHECK(f.views.empty());
  CHECK_FALSE(f.watch.published());
}

TEST_CASE("a view follows the changes that matter and names the pods that are settled") {
  Fixture f;
  f.start();
  REQUIRE(f.views.size() == 1);
  CHECK(f.freeGpus() == 4);  // 8, less 4 of "old"
  CHECK(f.watch.published());

  f.api.event("/api/v1/pods", "ADDED", podJson("new", 101, ""));
  f.loop.runFor(100ms);
  CHECK(f.freeGpus() == 4);
  CHECK(f.settled.empty());
  f.api.event("/api/v1/pods", "MODIFIED", podJson("new", 102, "n1"));
  f.loop.runFor(100ms);
  CHECK(f.freeGpus() == 0);
  CHECK(f.settled == std::vector{model::Uid("uid-new")});
  f.api.event("/api/v1/pods", "DELETED", podJson("old", 103, "n1"));
  f.loop.runFor(100ms);
  CHECK(f.freeGpus() == 4);
  CHECK(f.settled == std::vector{model::Uid("uid-old")});
}

TEST_CASE("changes are gathered and those that do not matter make no view") {
  Fixture f;
  f.start();
  f.api.event("/api/v1/pods", "MODIFIED",
              podJson("old", 101, "n1", R"(,"conditions":[{"type":"Ready","status":"True"}])"));
  f.loop.runFor(1s);
  CHECK(f.views.size() == 1);
  for (int i = 0; i < 100; ++i)
    f.api.event("/api/v1/pods", "ADDED", podJson(fmt::format("p{}", i), 200 + i, ""));
  f.loop.runFor(1s);
  CHECK(f.views.size() == 2);
  CHECK(f.views.back()->snapshot().pods.size() == 101);
}

TEST_CASE("an object that cannot be read is counted and leaves the rest alone") {
  Fixture f;
  f.start();
  f.api.event(
      "/api/v1/pods", "MODIFIED",
      R"({"metadata":{"namespace":"ml","name":"old","resourceVersion":"101"},"spec":{"nodeName":5}})");
  f.loop.runFor(1s);
  f.watch.reportMetrics();
  CHECK(f.freeGpus() == 4);
  CHECK(f.registry.text().find("trainyard_extender_undecodable_objects_total 1") != std::string::npos);
  CHECK(f.registry.text().find(R"(trainyard_extender_cache_objects{resource="pods"} 1)") !=
        std::string::npos);
}

}  // namespace
