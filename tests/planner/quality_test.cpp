#include <string>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "planner/measured_tables.h"
#include "planner/simulated_cluster.h"

using namespace trainyard;

// Small versions of what tests/planner/planner_quality_main.cpp prints, with the bounds in docs/planner.md
// and fixed seeds.

TEST_CASE("a plan fitted to five steps of a model is nearly as fast as the best measured one") {
  double mean = 0;
  for (const std::string model : {"cifar10", "imagenet", "bert", "deepspeech2", "yolov3", "ncf"}) {
    const std::string file = std::string(TRAINYARD_TRACES) + "/pollux/traces/" + model + "/placements.csv";
    const auto text = base::readFile(file);
    REQUIRE(text);
    const auto trials = test::tryTable(model, file, *text, 4, 1, false);
    REQUIRE(trials);
    CAPTURE(model, trials->meanSpeed, trials->meanError);
    CHECK(trials->meanSpeed >= 0.9);
    CHECK(trials->meanError < 0.2);
    mean += trials->meanSpeed / 6;
  }
  CHECK(mean >= 0.98);
}

TEST_CASE("on a cluster of unlike machines a plan beats choices by hand and is close to the optimum") {
  const auto trials = test::trySimulatedCluster(7, {"vgg16", "lstm-lm"});
  const auto summary = test::summaryOf(trials);
  INFO(test::clusterText(trials));
  REQUIRE(trials.size() == 2);
  CHECK(summary.meanSpeedUp >= 1.81);
  CHECK(summary.meanOfBest >= 0.95);
}
