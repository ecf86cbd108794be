#pragma once

#include "kube/cluster_cache.h"
#include "net/http.h"
#include "simulation/faults.h"

namespace trainyard::simulation {

// What the operator does with this request. `truth` is the cluster before it is carried out.
[[nodiscard]] Step stepOf(const net::HttpRequest& request, const kube::ClusterCache& truth);

}  // namespace trainyard::simulation
