#include "operator/free_gpu_metrics.h"

#include <catch2/catch.hpp>

#include "base/virtual_loop.h"
#include "support/builders.h"

namespace trainyard::operator_ {
namespace {

using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

struct Fixture {
  base::VirtualLoop loop;
  telemetry::MetricsRegistry registry;
  model::Snapshot snapshot = cluster()
                                 .add(node("n1").gpus(8))
                                 .add(node("n2").gpus(3))
                                 .add(job("ml/four").role("worker", 1, gpus(4)));
  int looks = 0;
  std::function<base::Task()> held = {};
  FreeGpuMetrics metrics{registry, loop, [this](auto work) { held = std::move(work); },
                         [this] {
                           ++looks;
                           return snapshot;
                         }};

  void finish() {
    REQUIRE(held);
    std::exchange(held, nullptr)()();
  }
  [[nodiscard]] bool hasLine(const std::string& sample) const {
    return registry.text().find(sample + "\n") != std::string::npos;
  }
};

TEST_CASE_METHOD(Fixture, "Free GPUs and their fragmentation are exported") {
  metrics.changed();
  loop.runFor(std::chrono::seconds(1));
  finish();
  CHECK(hasLine("trainyard_gpus_free 11"));
  // Three of eleven.
  CHECK(hasLine("trainyard_fragmentation_ratio 0.272"));
}

TEST_CASE_METHOD(Fixture, "Frequent changes are computed rarely and the last one is included") {
  for (int i = 0; i < 100; ++i) {
    metrics.changed();
    loop.runFor(std::chrono::milliseconds(10));
  }
  finish();
  CHECK(looks == 1);
  snapshot = cluster().add(node("n1").gpus(5));
  metrics.changed();
  loop.runFor(FreeGpuMetrics::kEvery);
  CHECK(looks == 2);
  finish();
  CHECK(hasLine("trainyard_gpus_free 5"));
  loop.runFor(10 * FreeGpuMetrics::kEvery);
  CHECK(looks == 2);
}

TEST_CASE_METHOD(Fixture, "A change during a computation causes another one") {
  metrics.changed();
  loop.runFor(std::chrono::seconds(1));
  metrics.changed();
  loop.runFor(10 * FreeGpuMetrics::kEvery);
  CHECK(looks == 1);
  finish();
  loop.runFor(std::chrono::seconds(1));
  CHECK(looks == 2);
}

}  // namespace
}  // namespace trainyard::operator_
