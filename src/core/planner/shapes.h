#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/planner/cost_model.h"

namespace trainyard::core {

// The bounds of a plan's size.
struct ShapeLimits {
  int minWorkers = 1;
  int maxWorkers = 1;
  int minServers = 1;  // for a model with parameter servers
  int maxServers = 1;
  bool mixTypes = false;  // whether workers may have GPUs of several types
  // The maximum of a limited resource for all members together.
  struct Budget {
    std::string gpuType = {};  // counts only members on nodes of this type; empty: all
    std::int64_t perWorker = 0;
    std::int64_t perServer = 0;
    std::int64_t most = 0;
  };
  std::vector<Budget> budgets = {};
};

struct PlannedShape {
  Spread spread;
  StepPrediction step;
  std::string gpuType = {};  // the GPU type of all workers; empty: none, or several
  int workers = 0;
  int servers = 0;
  int nodes = 0;
};

// Returns the shapes for training a model, best first, with the best placement for each number of workers and
// of servers. Empty if none fits.
//
// Generated: GPU types, one at a time, or with `mixTypes` also a type with all faster ones; every number of
// workers (above 64 in steps of a sixteenth); every number of nodes that holds them (above 64 in the same
// steps), evenly filled: an uneven placement has the same busiest node, or a busier one. With parameter
// servers, every number of them up to 16, then in steps of a quarter, beside the workers or on separate
// nodes, those without GPUs first. No shape exceeds a budget. Pruned: shapes that would be slower than the
// best so far even if exchange took no time.
//
// Ranked by samples a second, but a smaller shape that is as fast within the noise goes first. The noise is
// that of a measured step by the fit, at least 1 %, at most 3 %. Smaller means fewer workers, then fewer
// servers, then fewer nodes. Ties: the order of pools.
[[nodiscard]] std::vector<PlannedShape> rankShapes(const std::vector<NodePool>& pools,
                                                   const TrainingModel& model,
                                                   const Coefficients& coefficients,
                                                   const ShapeLimits& limits);

// The fraction of speed that a smaller shape may lose to a larger one and still rank first.
[[nodiscard]] double rankingNoise(const Coefficients& coefficients);

}  // namespace trainyard::core
