#pragma once

#include <string_view>

#include "model/job.h"

namespace trainyard::model {

// The API server's default of spec.managedBy.
inline constexpr std::string_view kTrainyardController = "trainyard.dev/operator";

// Returns true if it names another controller: Trainyard ignores the job.
[[nodiscard]] inline bool managedByOther(const Job& job) {
  return !job.spec.managedBy.empty() && job.spec.managedBy != kTrainyardController;
}

}  // namespace trainyard::model
