#pragma once

#include <optional>

#include "replay/papers/openb.h"

namespace trainyard::replay {

// What the FGD paper's simulator handed out in the end, as a share of the GPUs: its artifact's means over
// seeds 42 to
// 51. Nothing unless the lists are those that it used, and it had such a placement: a figure beside other
// lists would compare nothing. Known by what they hold, so that neither a file's name nor the order of its
// rows matters.
[[nodiscard]] std::optional<double> openbPublished(const OpenbTrace& trace, ReplayPlacement placement);

}  // namespace trainyard::replay
