#pragma once

#include <string>

#include "replay/engine/result.h"

namespace trainyard::replay {

// Returns an SVG with three panels: GPUs in use and pending jobs over time, and the share of jobs that
// completed within a time (on a logarithmic axis).
[[nodiscard]] std::string replayPlot(const ReplayResult& result, const std::string& title);

}  // namespace trainyard::replay
