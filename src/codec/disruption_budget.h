#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::codec {

// A PodDisruptionBudget that blocks every eviction of the job's members: its name, and the object to create.
// Its minAvailable exceeds the number of pods that a job can have, so that it holds for every size of an
// elastic job. A percentage would need a scale subresource, which only elastic jobs offer.
[[nodiscard]] std::string disruptionBudgetName(const model::Job& job);
[[nodiscard]] std::string encodeDisruptionBudget(const model::Job& job);

}  // namespace trainyard::codec
