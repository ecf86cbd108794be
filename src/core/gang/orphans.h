#pragma once

#include <vector>

#include "core/gang/action.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Gated pods whose TrainingJob is gone: they can never run, and the garbage collector may be slow or absent.
[[nodiscard]] std::vector<DeletePod> gatedOrphans(const model::Snapshot& snapshot);

}  // namespace trainyard::core
