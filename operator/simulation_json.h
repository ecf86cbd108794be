#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "operator/simulation.h"

namespace trainyard::operator_ {

// {"items":[…],"now":…,"policy":…,"notes":[…]}: what `trainyard simulate -o json` prints and the console
// answers.
[[nodiscard]] std::string simulationJson(const Simulation& simulation);

// The same back; of the jobs only what it tells. kInvalid names the field that cannot be used.
[[nodiscard]] base::Result<Simulation> readSimulation(std::string_view json);

}  // namespace trainyard::operator_
