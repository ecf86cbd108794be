#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "core/planner.h"
#include "core/planner/nnls.h"
#include "core/planner/spreads.h"

using namespace trainyard::core;

namespace {

NodePool pool(int nodes, int workers, std::vector<int> colocatedServers = {}) {
  NodePool made;
  made.nodes = nodes;
  made.colocatedServers = colocatedServers.empty()
                              ? std::vector<int>(static_cast<std::size_t>(workers) + 1, 0)
                              : std::move(colocatedServers);
  return made;
}

Coefficients costs(double fixed, double perSample, double wire, double local = 0) {
  Coefficients made;
  made.values = {fixed, perSample, wire, local, 0};
  return made;
}

}  // namespace

TEST_CASE("non-negative least squares: exact where possible and 0 instead of a negative value") {
  const auto exact = solveNnls({{1, 1}, {1, 2}, {1, 3}}, {3, 5, 7});
  CHECK(exact.x[0] == Approx(1));
  CHECK(exact.x[1] == Approx(2));
  // Without the bound the second value would be -1.
  const auto bounded = solveNnls({{1, 0}, {1, 1}}, {2, 1});
  CHECK(bounded.x[0] == Approx(1.5));
  CHECK(bounded.x[1] == 0);
  CHECK(bounded.inverse[0][0] == Approx(0.5));
  CHECK(bounded.inverse[1][1] == 0);
  // Linearly dependent columns of very different size.
  const auto dependent = solveNnls({{1, 1e9}, {2, 2e9}}, {1, 2});
  CHECK(dependent.x[0] + 1e9 * dependent.x[1] == Approx(1));
  CHECK(solveNnls({{0.0}}, {1}).x[0] == 0);
}

TEST_CASE("all-reduce between nodes is limited by the busiest network") {
  const std::vector<NodePool> pools{pool(4, 4)};
  const TrainingModel model{.perWorker = 10};
  const auto seconds = [&](const Spread& spread) {
    return predictStep(spread, pools, model, costs(0.1, 0.01, 0.4, 0.01)).seconds;
  };
  const double alone = seconds({{{0, 1, 1, 0}}});
  CHECK(alone == Approx(0.2));
  const double oneNode = seconds({{{0, 1, 4, 0}}});
  const double fourNodes = seconds({{{0, 4, 1, 0}}});
  const double twoByTwo = seconds({{{0, 2, 2, 0}}});
  CHECK(oneNode > alone);
  CHECK(fourNodes == Approx(0.2 + 0.4 * 1.5));
  CHECK(twoByTwo > fourNodes);  // as measured: two workers share a NIC, and one pair of nodes has all traffic
}

TEST_CASE("parameter servers: the busiest one sets the pace and the largest tensor cannot be split") {
  const std::vector<NodePool> pools{pool(8, 1, {1, 1})};
  TrainingModel model{.parameterServers = true, .perWorker = 10};
  const auto exchange = [&](int servers) {
    return predictStep({{{0, 4, 1, 0}, {0, servers, 0, 1}}}, pools, model, costs(0, 0, 0.1)).exchange;
  };
  CHECK(exchange(1) == Approx(0.1 * 2 * 4));
  CHECK(exchange(2) == Approx(0.1 * 2 * 2));
  CHECK(exchange(4) == Approx(0.1 * 2 * 1));
  model.largestTensorShare = 0.75;
  CHECK(exchange(4) == Approx(0.1 * 2 * 3));
  // A server beside the workers needs no network for their part.
  const double beside =
      predictStep({{{0, 4, 1, 1}}}, pools, {.parameterServers = true, .perWorker = 10}, costs(0, 0, 0.1))
          .exchange;
  CHECK(beside == Approx(0.1 * 2 * 0.75));
}

TEST_CASE("a synchronous step waits for the slowest worker and for its input") {
  NodePool slow = pool(1, 1);
  slow.slowness = 3;
  const std::vector<NodePool> pools{pool(1, 1), slow};
  const Spread both{{{0, 1, 1, 0}, {1, 1, 1, 0}}};
  TrainingModel model{.perWorker = 10};
  CHECK(predictStep(both, pools, model, costs(0, 0.1, 0)).compute == Approx(3));
  model.synchronous = false;
  CHECK(predictStep(both, pools, model, costs(0, 0.1, 0)).compute == Approx(1.5));
  model.sampleBytes = 1e6;
  model.inputBytesPerSecond = 1e6;
  const StepPrediction step = predictStep(both, pools, model, costs(0, 0.1, 0));
  CHECK(step.seconds == Approx(10));
  CHECK(step.bottleneck == Bottleneck::kInput);
  // Memory for 3 of 10 samples: four passes.
  const TrainingModel accumulating{.batch = 10, .maxPerWorker = 3};
  CHECK(predictStep({{{0, 1, 1, 0}}}, pools, accumulating, costs(1, 0.1, 0)).seconds == Approx(4 + 1));
}

TEST_CASE("a fit recovers the parts of measured steps and its own uncertainty") {
  const std::vector<NodePool> pools{pool(4, 4)};
  const Coefficients truth = costs(0.05, 0.002, 0.3, 0.03);
  std::vector<MeasuredSpread> measured;
  for (const auto& [spread, batch] : std::vector<std::pair<Spread, double>>{{{{{0, 1, 1, 0}}}, 16},
                                                                            {{{{0, 1, 1, 0}}}, 128},
                                                                            {{{{0, 1, 4, 0}}}, 16},
                                                                            {{{{0, 2, 1, 0}}}, 16},
                                                                            {{{{0, 4, 4, 0}}}, 32}}) {
    measured.push_back({spread, batch, predictStep(spread, pools, {.perWorker = batch}, truth).seconds});
  }
  const Coefficients fitted = fitCoefficients(measured, pools, {}, {}, pools.front().nicBytesPerSecond);
  for (std::size_t i = 0; i < 4; ++i) CHECK(fitted.values[i] == Approx(truth.values[i]).epsilon(0.08));
  CHECK(fitted.relativeNoise < 0.05);
  const Spread unseen{{{0, 3, 2, 0}}};
  const StepPrediction step = predictStep(unseen, pools, {.perWorker = 64}, fitted);
  CHECK(step.seconds == Approx(predictStep(unseen, pools, {.perWorker = 64}, truth).seconds).epsilon(0.08));
  CHECK(step.relativeError > 0);
  CHECK(step.relativeError < 0.2);
}

TEST_CASE("without measurements the model's figures decide") {
  const Coefficients prior = fitCoefficients({}, {}, {}, {.perSample = 0.01, .wire = 0.5}, 1e9);
  CHECK(prior.values[Coefficients::kPerSample] == 0.01);
  CHECK(prior.values[Coefficients::kWire] == 0.5);
}

TEST_CASE("workers and servers are spread evenly as far as nodes hold them") {
  const std::vector<NodePool> pools{pool(2, 2, {2, 2, 0}), pool(3, 4), pool(2, 0, {1})};
  const auto order = orderedForWorkers(pools, {0, 1, 2});
  CHECK(order == std::vector<std::size_t>{1, 0});
  const auto even = spreadWorkers(pools, order, 9, 4);
  REQUIRE(even);
  CHECK(even->workers() == 9);
  CHECK(even->nodes() == 4);
  CHECK_FALSE(spreadWorkers(pools, order, 17, 5));
  CHECK_FALSE(spreadWorkers(pools, order, 3, 4));
  const Spread two{{{0, 2, 1, 0}}};
  CHECK(addColocatedServers(pools, two, 3)->servers() == 3);
  CHECK_FALSE(addColocatedServers(pools, two, 5));
  const auto apart = addSeparateServers(pools, orderedForServers(pools), two, 2);
  REQUIRE(apart);
  CHECK(apart->nodes() == 4);
  CHECK_FALSE(addSeparateServers(pools, orderedForServers(pools), two, 3));
}

TEST_CASE("a smaller shape is preferred to one that is faster only within the noise") {
  const std::vector<NodePool> pools{pool(1, 8)};
  // Nearly all of the step is fixed: with a fixed global batch, more workers gain next to nothing.
  Coefficients coefficients = costs(1, 0.0001, 0, 0);
  coefficients.relativeNoise = 0.02;
  const auto shapes = rankShapes(pools, {.batch = 64}, coefficients, {.maxWorkers = 8});
  REQUIRE(shapes.size() == 8);
  CHECK(shapes.front().workers == 1);
  // If they do gain, the largest shape wins.
  const auto gaining = rankShapes(pools, {.batch = 64}, costs(0, 0.1, 0, 0), {.maxWorkers = 8});
  CHECK(gaining.front().workers == 8);
  CHECK(gaining.back().workers == 1);
}

// A tenant's profile for which every shape is equally good, on nodes that are all different.
TEST_CASE("the number of shapes is bounded and both small and large ones are among them") {
  std::vector<NodePool> pools;
  for (int i = 0; i < 64; ++i) {
    pools.push_back(pool(5, 1 + i % 4, {8, 8, 8, 8, 8}));
    pools.back().nicBytesPerSecond = 1e9 + i;
  }
  const TrainingModel model{.parameterServers = true, .batch = 1'000'000};
  const auto shapes = rankShapes(pools, model, costs(1, 0, 0, 0), {.maxWorkers = 700, .maxServers = 256});
  REQUIRE_FALSE(shapes.empty());
  CHECK(shapes.size() < 2'000);
  CHECK(shapes.front().workers == 1);
  CHECK(std::any_of(shapes.begin(), shapes.end(), [](const auto& each) { return each.workers == 700; }));
}

TEST_CASE("shapes respect their limits and use one type of GPU unless types may be mixed") {
  NodePool slow = pool(2, 4);
  slow.slowness = 2;
  slow.gpuType = "slow";
  NodePool fast = pool(1, 4);
  fast.gpuType = "fast";
  const std::vector<NodePool> pools{slow, fast};
  const TrainingModel model{.perWorker = 8};
  for (const auto& shape : rankShapes(pools, model, costs(0, 1, 0), {.minWorkers = 2, .maxWorkers = 6})) {
    CHECK(shape.workers >= 2);
    CHECK(shape.workers <= 6);
    CHECK_FALSE(shape.gpuType.empty());
  }
  // Four fast workers equal eight slow ones; combined with slow ones they are slow themselves.
  CHECK(rankShapes(pools, model, costs(0, 1, 0), {.maxWorkers = 12}).front().gpuType == "fast");
  const auto mixed = rankShapes(pools, model, costs(0, 1, 0), {.maxWorkers = 12, .mixTypes = true});
  CHECK(mixed.front().workers == 12);
  CHECK(mixed.front().gpuType.empty());
}
