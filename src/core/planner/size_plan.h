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

// The step of a job on these very places, by its profile; nothing where the profile does not suffice, or a
// node is not known. Assumes a placement with workers.
struct PlacedPrediction {
  StepPrediction step;
  int workers = 0;
  int servers = 0;
  int nodes = 0;
  std::string gpuType = {};  // of all workers; empty: several, or none
};
[[nodiscard]] std::optional<PlacedPrediction> predictPlaced(const model::Job& job,
                                                            const std::vector<model::Assignment>& places,
                                                            const Ledger& ledger,
                                                            const model::Policy& policy);

// status.plan once the gang has come to another size: the prediction is that of the places that it has now,
// and the message says so. What was chosen (roles, nodes, type) stays: the size is what its start aims at
// again, and servers are not changed while it runs. Nothing where there is no prediction.
[[nodiscard]] std::optional<model::ShapePlan> planAtSize(const model::Job& job,
                                                         const std::vector<model::Assignment>& places,
                                                         const Ledger& ledger, const model::Policy& policy,
                                                         base::WallTime now);

// What sizes of the elastic role are worth by the profile, for those between 1 and `most` that are powers of
// two, and for `most`: members lie `perNode` on a node like the first one that the job has. What was measured
// moves all of them to its level: by the profile only their ratio is taken. Empty where the profile does not
// suffice, or the elastic role is not the one that is planned.
[[nodiscard]] std::vector<model::SpeedPoint> predictedSpeeds(const model::Job& job, int most, int perNode,
                                                             const Ledger& ledger,
                                                             const model::Policy& policy, FitCache& fits);

}  // namespace trainyard::core
