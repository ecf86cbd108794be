#pragma once

#include <string>

#include "simulation/faults.h"

namespace trainyard::simulation {

// Hits of every fault at every step, a row a step.
[[nodiscard]] std::string hitTable(const HitTable& hits);
// Pairs of fault and step that apply to each other and never met.
[[nodiscard]] std::string missedPairs(const HitTable& hits);

}  // namespace trainyard::simulation
