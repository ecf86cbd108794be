#pragma once

#include <memory>
#include <vector>

#include "model/snapshot.h"

namespace trainyard::core {

// Value of the job's PriorityClass; without one that of the cluster's default class, else 0. 0 as well for a
// class that was deleted after admission.
[[nodiscard]] int priorityOf(const model::Job& job, const model::Snapshot& snapshot);

// Who is served first: higher priority, then earlier creation, then namespace and name.
void orderWaiting(std::vector<std::shared_ptr<const model::Job>>& jobs, const model::Snapshot& snapshot);

}  // namespace trainyard::core
