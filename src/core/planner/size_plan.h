#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/ledger/ledger.h"
#include "core/planner/cost_model.h"
#include "core/planner/fit_cache.h"
#include "model/gang.h"
#include "model/job.h"
#include "model/policy.h"
#include "model/resize.h"

namespace trainyard::core {

// Predicts the step of a job on these nodes by its profile; nullopt if the profile does not suffice or a node
// is unknown. Assumes a placement with workers.
struct PlacedPrediction {
  StepPrediction step;
  int workers = 0;
  int servers = 0;
  int nodes = 0;
  std::string gpuType = {};  // of all workers; empty: several types, or none
};
[[nodiscard]] std::optional<PlacedPrediction> predictPlaced(const model::Job& job,
                                                            const std::vector<model::Assignment>& assignments,
                                                            const Ledger& ledger,
                                                            const model::Policy& policy);

// status.plan after a resize: the prediction is for the current nodes, and the message names that size. The
// chosen shape (roles, nodes, type) stays: the next start aims at it again, and the number of servers is
// fixed while the job runs. nullopt without a prediction.
[[nodiscard]] std::optional<model::ShapePlan> planAtSize(const model::Job& job,
                                                         const std::vector<model::Assignment>& assignments,
                                                         const Ledger& ledger, const model::Policy& policy,
                                                         base::WallTime now);

// The speeds of the elastic role by the profile, for the powers of two between 1 and `most`, and for `most`.
// Members are placed `perNode` on a node like the job's first one. A measured speed scales all values to its
// level: only their ratio comes from the profile. Empty if the profile does not suffice, or if the elastic
// role is not the planned one.
[[nodiscard]] std::vector<model::SpeedPoint> predictedSpeeds(const model::Job& job, int most, int perNode,
                                                             const Ledger& ledger,
                                                             const model::Policy& policy, FitCache& fits);

}  // namespace trainyard::core
