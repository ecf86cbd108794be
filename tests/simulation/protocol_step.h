#pragma once

#include "kube/cluster_cache.h"
#include "net/http.h"
#include "simulation/faults.h"

namespace trainyard::simulation {

// Returns the purpose of this request. `truth` is the cluster before its execution.
[[nodiscard]] Step stepOf(const net::HttpRequest& request, const kube::ClusterCache& truth);

}  // namespace trainyard::simulation
