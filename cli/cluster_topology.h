#pragma once

#include <optional>
#include <vector>

#include "cli/live_cluster.h"
#include "model/topology.h"

namespace trainyard::cli {

// The levels of the network that the cluster's policy names. The default ones where there is no policy file;
// nothing where it may not be read, as most users may not.
[[nodiscard]] std::optional<std::vector<model::TopologyLevel>> topologyOf(LiveCluster& cluster);

}  // namespace trainyard::cli
