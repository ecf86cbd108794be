#pragma once

#include <vector>

#include "core/gang/action.h"
#include "core/gang/settings.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Members that name no job as their controller. And of pods whose TrainingJob is gone: gated ones,
// which can never run, and the garbage collector may be slow or absent; and those that it told to end in
// their own time, where that is more than anybody has.
[[nodiscard]] std::vector<DeletePod> sweepOrphans(const model::Snapshot& snapshot, const Settings& settings);

}  // namespace trainyard::core
