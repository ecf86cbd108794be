#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "operator/simulation.h"

namespace trainyard::operator_ {

// Encodes {"items":[…],"now":…,"policy":…,"notes":[…]}, which `trainyard simulate -o json` prints and the
// console returns.
[[nodiscard]] std::string simulationJson(const Simulation& simulation);

// Decodes simulationJson(), which has few fields of the jobs. kInvalid names the unusable field.
[[nodiscard]] base::Result<Simulation> readSimulation(std::string_view json);

}  // namespace trainyard::operator_
