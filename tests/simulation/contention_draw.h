#pragma once

#include "base/rng.h"
#include "simulation/scenario.h"

namespace trainyard::simulation {

// More gangs than fit, in queues and of priorities, most of which may be stopped for others: claims, under
// whatever else goes wrong in the scenario.
void drawContention(Scenario& scenario, base::Rng rng);

}  // namespace trainyard::simulation
