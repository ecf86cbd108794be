#pragma once

#include <string>
#include <vector>

namespace trainyard::sim {

// The resource definitions of crds/ at build time.
[[nodiscard]] const std::vector<std::string>& clusterCrds();

}  // namespace trainyard::sim
