#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::codec {

// A PodDisruptionBudget that lets nobody evict a member of the job: its name, and the object to create. It
// asks for more pods than a job can have, so that it stands through every size that the job takes; a
// percentage would be of a number that Kubernetes can ask of elastic jobs only.
[[nodiscard]] std::string disruptionBudgetName(const model::Job& job);
[[nodiscard]] std::string encodeDisruptionBudget(const model::Job& job);

}  // namespace trainyard::codec
