#pragma once

#include "base/error.h"
#include "replay/engine/options.h"
#include "replay/engine/result.h"

namespace trainyard::replay {

// kInvalid with the two contradicting options and the remedy.
[[nodiscard]] base::Result<void> checkReplay(const ReplayOptions& options);

// Reads the files and runs the replay. Every format is one case in this function; kInvalid names file, line
// and column of an unusable value.
[[nodiscard]] base::Result<ReplayResult> runReplay(const ReplayOptions& options,
                                                   const ReplayOutside& outside);

}  // namespace trainyard::replay
