#pragma once

#include <string>

#include "cli/simulate.h"

namespace trainyard::cli {

// For people: of each job whether it would start, where and at whose cost, or why it would wait, for how
// long.
[[nodiscard]] std::string simulationText(const Simulation& simulation);

}  // namespace trainyard::cli
