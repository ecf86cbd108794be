#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::codec {

// A merge patch that gives the job our finalizer, or takes it away, and keeps those of others. Lists are
// replaced whole, so it carries the resourceVersion: kConflict when somebody else changed the job meanwhile.
[[nodiscard]] std::string encodeFinalizerPatch(const model::Job& job, bool wanted);

}  // namespace trainyard::codec
