#pragma once

#include <vector>

#include "core/gang/action.h"
#include "core/gang/settings.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Members without a controller, and two kinds of pods of deleted TrainingJobs. Gated pods can
// never run, and the garbage collector may be slow or absent. The other kind was deleted with a
// grace period that is longer than Settings::maxGrace.
[[nodiscard]] std::vector<DeletePod> sweepOrphans(const model::Snapshot& snapshot, const Settings& settings);

}  // namespace trainyard::core
