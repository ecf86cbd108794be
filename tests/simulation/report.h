#pragma once

#include <string>

#include "simulation/faults.h"

namespace trainyard::simulation {

// Formats the hits of every fault at every step, one row per step.
[[nodiscard]] std::string hitTable(const HitTable& hits);
// Lists the applicable pairs of fault and step that never occurred; with `owners`, also those of their steps.
[[nodiscard]] std::string missedPairs(const HitTable& hits, bool owners);

}  // namespace trainyard::simulation
