#pragma once

#include "base/error.h"
#include "replay/engine/options.h"
#include "replay/engine/result.h"

namespace trainyard::replay {

// kInvalid with the two options that contradict each other, and what to do.
[[nodiscard]] base::Result<void> checkReplay(const ReplayOptions& options);

// Reads the files and runs the replay. Every format is one case here; kInvalid names file, line and column of
// what cannot be used.
[[nodiscard]] base::Result<ReplayResult> runReplay(const ReplayOptions& options,
                                                   const ReplayOutside& outside);

}  // namespace trainyard::replay
