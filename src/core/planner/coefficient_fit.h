#pragma once

#include <optional>
#include <vector>

#include "core/planner/cost_model.h"

namespace trainyard::core {

// A measured step in the terms of the cost model.
struct MeasuredSpread {
  Spread spread;  // over `pools` of fitCoefficients()
  double perWorker = 0;
  double seconds = 0;
};

// Costs by the figures of model and hardware, without measurements; 0: unknown.
struct PriorCosts {
  double perSample = 0;  // s on the reference type
  double wire = 0;       // s for all parameters through the reference NIC
};

// Fits the coefficients to a few measured steps (at least one, or a prior). Assumes that the noise of a step
// is proportional to it, so every equation is divided by its step time.
//
// Steps: for each overlap of 0, 0.3 and 0.6, solve the equations of the measured steps. Leave out the
// exchange of a step if the fit before hides it behind the computation, until that no longer changes. Add
// weak equations, which decide only what measurements leave open: the prior's figures; without them an
// exchange between nodes as long as a step's computation; between GPUs of one node a tenth of the
// exchange; no time per hop. (Rejected: to add only the equation of GPUs of one node. If all measured steps
// cross nodes, fixed computation and exchange look alike.) The overlap with the least error wins; between
// about equal ones, 0.3.
//
// Covariance: from the equations of the last solution, with their residual noise, and 1 % at least.
[[nodiscard]] Coefficients fitCoefficients(const std::vector<MeasuredSpread>& measured,
                                           const std::vector<NodePool>& pools, const TrainingModel& model,
                                           const PriorCosts& prior, double referenceNic);

}  // namespace trainyard::core
