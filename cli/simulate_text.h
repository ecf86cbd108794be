#pragma once

#include <string>

#include "cli/simulate.h"

namespace trainyard::cli {

// Returns for each job whether it would start, where, and which gangs would be
// preempted, or why it would be pending and for how long.
[[nodiscard]] std::string simulationText(const Simulation& simulation);

}  // namespace trainyard::cli
