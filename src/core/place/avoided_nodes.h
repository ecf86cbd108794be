#pragma once

#include <cstddef>
#include <vector>

#include "core/queues/cluster_capacity.h"
#include "model/ids.h"

namespace trainyard::core {

// Nodes that members of a gang leave out so that the gang stays within its quotas.
struct AvoidedNodes {
  std::vector<model::NodeName> ofAll;
  std::vector<model::NodeName> ofWithoutGpus;  // members that request no GPUs

  // Adds the nodes on which a gang holds this dimension of ClusterCapacity. Returns false if that would
  // change nothing. Resources beside GPUs are avoided only by members without GPUs: the others use them on
  // every node that they can run on.
  [[nodiscard]] bool add(const ClusterCapacity& capacity, std::size_t dimension);
};

}  // namespace trainyard::core
