#pragma once

#include <optional>
#include <vector>

#include "core/planner/cost_model.h"

namespace trainyard::core {

// A step that was measured, as the cost model sees it.
struct MeasuredSpread {
  Spread spread;  // over `pools` of fitCoefficients()
  double perWorker = 0;
  double seconds = 0;
};

// What the figures of model and hardware say before anything is measured; 0: nothing.
struct PriorCosts {
  double perSample = 0;  // s on the type of reference
  double wire = 0;       // s for all parameters through the NIC of reference
};

// Coefficients out of a few measured steps (at least one, or a prior). Assumes that the noise of a step is
// in proportion to it, so every equation is divided by its step time.
//
// Steps: for each overlap of 0, 0.3 and 0.6 the equations of measured steps, without the exchange of those
// in which it hides behind the computation by the fit before, until that no longer changes; with them weak
// ones, which decide only what measurements leave open: the prior's figures; without them an exchange
// between nodes as long as a step's computation; between GPUs of one node a tenth of the exchange; no time
// per hop. (Lost: none but the tenth. Where all that was measured crosses nodes, what is fixed in the
// computation and what is in the exchange look alike.) The overlap that leaves the least error wins, of those
// about alike 0.3.
//
// Covariance: by the equations of the last solution, with the noise that they leave over, and 1 % at least.
[[nodiscard]] Coefficients fitCoefficients(const std::vector<MeasuredSpread>& measured,
                                           const std::vector<NodePool>& pools, const TrainingModel& model,
                                           const PriorCosts& prior, double referenceNic);

}  // namespace trainyard::core
