#pragma once

#include <string>
#include <vector>

#include "core/planner/cost_model.h"

namespace trainyard::test {

// A model as the simulated cluster trains it.
struct TrainedModel {
  std::string name;
  double parameters = 0;
  double largestTensor = 0;  // its parameters
  int layers = 0;
  double flopsPerSample = 0;
  double perWorker = 0;  // samples of a worker in one step
  double halfBatch = 0;  // samples at which a GPU reaches half of its maximum
};

// The seconds of a step for this placement (rules: simulated_cluster.h); `perWorker` of 0: the model's value.
[[nodiscard]] double trueStep(const TrainedModel& model, const core::Spread& spread,
                              const std::vector<core::NodePool>& pools, double perWorker = 0);

}  // namespace trainyard::test
