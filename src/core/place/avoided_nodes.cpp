#include "core/place/avoided_nodes.h"

namespace trainyard::core {

bool AvoidedNodes::add(const ClusterCapacity& capacity, std::size_t dimension) {
  const auto nodes = capacity.nodesOf(dimension);
  if (nodes.empty()) return false;
  const bool isBesideGpus = dimension >= capacity.dimensions().firstGpuNodeResource();
  if (isBesideGpus && !ofWithoutGpus.empty()) return false;
  auto& avoided = isBesideGpus ? ofWithoutGpus : ofAll;
  avoided.insert(avoided.end(), nodes.begin(), nodes.end());
  return true;
}

}  // namespace trainyard::core
