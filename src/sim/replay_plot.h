#pragma once

#include <string>

#include "sim/replay_result.h"

namespace trainyard::sim {

// An SVG with three panels: GPUs in use and waiting jobs over time, and the share of jobs that completed
// within a time (on a logarithmic axis).
[[nodiscard]] std::string replayPlot(const ReplayResult& result, const std::string& title);

}  // namespace trainyard::sim
