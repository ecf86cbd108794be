#pragma once

#include <string>
#include <vector>

namespace trainyard::sim {

// The resource definitions of crds/, as they were when this was built.
[[nodiscard]] const std::vector<std::string>& clusterCrds();

}  // namespace trainyard::sim
