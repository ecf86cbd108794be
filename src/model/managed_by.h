#pragma once

#include <string_view>

#include "model/job.h"

namespace trainyard::model {

// The API server's default of spec.run.managedBy.
inline constexpr std::string_view kTrainyardController = "trainyard.dev/operator";

// Returns true if it names another controller: Trainyard ignores the job.
[[nodiscard]] inline bool managedByOther(const Job& job) {
  return !job.spec.run.managedBy.empty() && job.spec.run.managedBy != kTrainyardController;
}

}  // namespace trainyard::model
