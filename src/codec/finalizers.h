#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::codec {

// A merge patch that adds or removes Trainyard's finalizer and keeps the others. A merge patch replaces lists
// as a whole, so it carries the resourceVersion: kConflict if another client changed the job in the meantime.
[[nodiscard]] std::string encodeFinalizerPatch(const model::Job& job, bool wanted);

}  // namespace trainyard::codec
