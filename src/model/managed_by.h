#pragma once

#include <string_view>

#include "model/job.h"

namespace trainyard::model {

// What the API server writes where spec.run.managedBy is left out.
inline constexpr std::string_view kOurselves = "trainyard.dev/operator";

// Whether it names somebody else: hands off.
[[nodiscard]] inline bool leftToOthers(const Job& job) {
  return !job.spec.run.managedBy.empty() && job.spec.run.managedBy != kOurselves;
}

}  // namespace trainyard::model
