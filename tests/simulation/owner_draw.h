#pragma once

#include "base/rng.h"
#include "simulation/scenario.h"

namespace trainyard::simulation {

// Lets other controllers make the pods of some jobs, as Jobs and as ReplicaSets, and adds troubles of their
// own. `keepsFirst`: the first job is arranged for a step, and stays a TrainingJob.
void drawOwners(Scenario& scenario, base::Rng rng, bool keepsFirst);

}  // namespace trainyard::simulation
