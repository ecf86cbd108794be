#pragma once

#include <optional>

#include "replay/papers/openb.h"

namespace trainyard::replay {

// Returns the share of GPUs that the FGD paper's simulator finally assigned: its artifact's
// means over seeds 42 to 51. Returns nullopt unless the lists are those of the paper and it had
// such a placement policy, because figures for other lists are not comparable. Lists are
// identified by their contents, so that neither a file's name nor the order of its rows
// matters.
[[nodiscard]] std::optional<double> openbPublished(const OpenbTrace& trace, ReplayPlacement placement);

}  // namespace trainyard::replay
