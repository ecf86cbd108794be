#pragma once

#include <optional>
#include <vector>

#include "cli/live_cluster.h"
#include "model/topology.h"

namespace trainyard::cli {

// Returns the topology levels of the cluster's policy; the default levels if there is no policy file. Returns
// nothing if the user may not read the policy, which is the usual case.
[[nodiscard]] std::optional<std::vector<model::TopologyLevel>> topologyOf(LiveCluster& cluster);

}  // namespace trainyard::cli
