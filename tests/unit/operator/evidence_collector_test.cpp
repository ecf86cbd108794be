#include "operator/evidence_collector.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/rng.h"
#include "base/virtual_loop.h"
#include "tests/support/fake_api.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;

// Pods that all failed, with one log.
class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;
  std::string log;
  std::set<std::string> asked;  // the names of the pods

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    const std::string object = request.path.substr(0, request.path.rfind("/log"));
    asked.insert(object.substr(object.rfind('/') + 1));
    if (request.path.ends_with("/log")) return kube::ApiResponse{200, log};
    return kube::ApiResponse{
        200, R"({"metadata":{"namespace":"ml","name":"p","uid":"u"},"spec":{"nodeName":"n1"},)"
             R"("status":{"phase":"Failed","containerStatuses":[{"name":"main","state":{"terminated":)"
             R"({"exitCode":1,"reason":"Error","finishedAt":"2026-01-01T00:00:00Z"}}}]}})"};
  }
};

struct Fixture {
  base::VirtualLoop loop;
  Server api{loop};
  std::vector<std::function<base::Task()>> offloaded;
  EvidenceCollector collector{
      api, loop, [this](std::function<base::Task()> work) { offloaded.push_back(std::move(work)); }};
  std::optional<core::Failure> found;

  std::vector<std::string> finished;  // namespaces in the order of their results

  void collect(int members, const std::string& ns = "ml") {
    std::vector<Witness> witnesses;
    for (int i = 0; i < members; ++i) witnesses.push_back({{ns, "p"}, "worker", i, "main", true});
    collector.collect(std::move(witnesses), [this, ns](core::Failure failure) {
      found = std::move(failure);
      finished.push_back(ns);
    });
    loop.runFor(1s);
  }
};

// A text that consists of prefixes of the rules' patterns, in random order.
std::string beginnings() {
  constexpr std::string_view kWords[] = {"barrier ", "s3 ",         "gloo ",   "CUDA ", "503 ",     "loss ",
                                         "shard ",   "checkpoint ", "NVLink ", "ceph ", "storage ", "step "};
  base::Rng rng(7);
  std::string log;
  while (log.size() < 64 << 10) {
    const std::size_t end = log.size() + 1'000;
    while (log.size() < end) log += kWords[rng.below(std::size(kWords))];
    log += '\n';
  }
  return log;
}

TEST_CASE("The logs of a gang that failed are read beside the loop") {
  Fixture fixture;
  fixture.api.log = "torch.cuda.OutOfMemoryError: CUDA out of memory.\n";
  fixture.collect(3);
  CHECK_FALSE(fixture.found);
  REQUIRE(fixture.offloaded.size() == 1);
  fixture.offloaded.front()()();
  REQUIRE(fixture.found);
  CHECK(fixture.found->failure == model::FailureClass::kGpuOutOfMemory);
  CHECK(fixture.found->pod == "p");
  CHECK(fixture.found->node.str() == "n1");
}

TEST_CASE("Hundreds of failed gangs of one namespace do not delay another namespace") {
  Fixture fixture;
  for (int i = 0; i < 100; ++i) fixture.collect(1, "many");
  fixture.collect(1, "few");
  fixture.collect(1, "few");
  for (std::size_t done = 0; done < fixture.offloaded.size(); ++done) {
    CHECK(fixture.offloaded.size() == done + 1);  // one after the other
    fixture.offloaded[done]()();
    fixture.loop.runFor(1s);
  }
  REQUIRE(fixture.finished.size() == 102);
  CHECK(std::count(fixture.finished.begin(), fixture.finished.begin() + 4, "few") == 2);
}

TEST_CASE("Logs that take long to read are left out after a second") {
  Fixture fixture;
  fixture.api.log = beginnings() + "torch.cuda.OutOfMemoryError: CUDA out of memory.\n";
  fixture.collect(64);
  REQUIRE(fixture.offloaded.size() == 1);
  const auto before = std::chrono::steady_clock::now();
  fixture.offloaded.front()()();
  // Reading them to the end takes a minute, and ten minutes with sanitizers.
  CHECK(std::chrono::steady_clock::now() - before < 20s);
  REQUIRE(fixture.found);
  CHECK(fixture.found->failure == model::FailureClass::kGpuOutOfMemory);
}

TEST_CASE("The first of many members that ended are read") {
  Fixture fixture;
  std::vector<Witness> witnesses;
  const base::WallTime first = base::WallTime{} + 1'000h;
  for (int i = 0; i < 200; ++i) {
    const auto after = i < 100 ? 100 - i : i - 100;
    witnesses.push_back({{"ml", fmt::format("p{}", i)}, "worker", i, "main", true, first + after * 1s});
  }
  fixture.collector.collect(std::move(witnesses), [](const core::Failure&) {});
  fixture.loop.runFor(1s);
  CHECK(fixture.api.asked.contains("p100"));
  CHECK(fixture.api.asked.contains("p110"));
  CHECK_FALSE(fixture.api.asked.contains("p130"));
}

TEST_CASE("Evidence that was read is dropped once the collector is destroyed") {
  base::VirtualLoop loop;
  Server api{loop};
  std::vector<std::function<base::Task()>> offloaded;
  auto collector = std::make_optional<EvidenceCollector>(
      api, loop, [&](std::function<base::Task()> work) { offloaded.push_back(std::move(work)); });
  bool done = false;
  collector->collect({{{"ml", "p"}, "worker", 0, "main", true}}, [&](const core::Failure&) { done = true; });
  loop.runFor(1s);
  REQUIRE(offloaded.size() == 1);
  collector.reset();
  offloaded.front()()();
  CHECK_FALSE(done);
}

}  // namespace
}  // namespace trainyard::operator_
