#pragma once

#include "base/rng.h"
#include "simulation/scenario.h"

namespace trainyard::simulation {

// Adds more gangs than fit, in queues and with priorities, most of them preemptible: claims, in addition to
// the other faults of the scenario.
void drawContention(Scenario& scenario, base::Rng rng);

}  // namespace trainyard::simulation
