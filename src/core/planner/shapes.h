#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/planner/cost_model.h"

namespace trainyard::core {

// How large a plan may be.
struct ShapeLimits {
  int minWorkers = 1;
  int maxWorkers = 1;
  int minServers = 1;  // of a model with parameter servers
  int maxServers = 1;
  bool mixTypes = false;  // whether workers may have GPUs of several types
  // What members may have together of something that is limited.
  struct Budget {
    std::string gpuType = {};  // counts members on nodes of it alone; empty: all
    std::int64_t perWorker = 0;
    std::int64_t perServer = 0;
    std::int64_t most = 0;
  };
  std::vector<Budget> budgets = {};
};

struct PlannedShape {
  Spread spread;
  StepPrediction step;
  std::string gpuType = {};  // the type that all workers have; empty: none, or several
  int workers = 0;
  int servers = 0;
  int nodes = 0;

  // Workers' seconds for a sample: what it costs, where all are worth the same.
  [[nodiscard]] double workerSecondsPerSample() const {
    return step.samples > 0 ? step.seconds * workers / step.samples : 0;
  }
};

// The shapes that a model may be trained in, best first; of each number of workers and of servers the best
// placement. Empty where none fits.
//
// Generated: types of GPUs, one at a time, or with `mixTypes` also a type with all faster ones; every number
// of workers (above 64 of them in steps of a sixteenth); every number of nodes that holds them (above 64
// likewise), evenly filled: what is not even has the same busiest node, or a busier one; with parameter
// servers every number of them up to 16, then in steps of a quarter, beside the workers, or on nodes of their
// own, those without GPUs first; none that would exceed a budget. Pruned: what would lose to the best so far
// even if exchange took no time.
//
// Ranked by samples a second, but a shape that is as fast as a larger one within the noise goes before it:
// within the noise of a measured step by the fit, at least 1 %, at most 3 %. Smaller: fewer workers, then
// fewer servers, then fewer nodes. Ties: the order of pools.
[[nodiscard]] std::vector<PlannedShape> rankShapes(const std::vector<NodePool>& pools,
                                                   const TrainingModel& model,
                                                   const Coefficients& coefficients,
                                                   const ShapeLimits& limits);

// So many parts of the speed a shape may lose to a larger one.
[[nodiscard]] double rankingNoise(const Coefficients& coefficients);

}  // namespace trainyard::core
