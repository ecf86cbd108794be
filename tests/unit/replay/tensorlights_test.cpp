#include "replay/papers/tensorlights.h"

#include <catch2/catch.hpp>

#include <numeric>

using namespace trainyard::replay;

namespace {

TensorLightsOptions small(std::vector<int> placement) {
  TensorLightsOptions options;
  options.hosts = 7;
  options.placement = std::move(placement);
  options.computeMicros = 20'000;
  options.steps = 20;
  return options;
}

double gain(const TensorLightsOptions& options, TensorLightsPolicy policy) {
  const double fifo = runTensorLights(options, TensorLightsPolicy::kFifo).meanSeconds;
  return 1 - runTensorLights(options, policy).meanSeconds / fifo;
}

}  // namespace

TEST_CASE("with all servers on one host an order gains a third and with one on each it gains nothing") {
  CHECK(gain(small({7}), TensorLightsPolicy::kOne) > 0.31);
  CHECK(gain(small({7}), TensorLightsPolicy::kBursts) > 0.31);
  CHECK(gain(small(std::vector<int>(7, 1)), TensorLightsPolicy::kBursts) == Approx(0));
}

TEST_CASE("every packet of every step arrives in any order") {
  const auto options = small({4, 3});
  const std::int64_t each = (options.modelBytes + options.packetBytes - 1) / options.packetBytes;
  for (const auto policy : {TensorLightsPolicy::kFifo, TensorLightsPolicy::kRoundRobin}) {
    const auto result = runTensorLights(options, policy);
    CHECK(result.packets == each * 2 * 6 * 7 * options.steps);
    CHECK(result.seconds.size() == 7);
  }
}

TEST_CASE("a run can be repeated") {
  const auto options = small({3, 2, 2});
  CHECK(runTensorLights(options, TensorLightsPolicy::kBursts).seconds ==
        runTensorLights(options, TensorLightsPolicy::kBursts).seconds);
}

TEST_CASE("the paper's placements hold 21 servers each") {
  CHECK(tensorLightsPlacements().size() == 8);
  for (const auto& each : tensorLightsPlacements()) CHECK(std::accumulate(each.begin(), each.end(), 0) == 21);
}
