#pragma once

#include <map>

#include "model/snapshot.h"

namespace trainyard::core {

// The placed gangs that have pods among the victims of a proposal, each with the job whose proposal it is; of
// several the first by name.
[[nodiscard]] std::map<model::ObjectKey, model::ObjectKey> claimedGangs(const model::Snapshot& snapshot);

}  // namespace trainyard::core
