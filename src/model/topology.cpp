#include "model/topology.h"

namespace trainyard::model {

std::vector<TopologyLevel> defaultTopologyLevels() {
  return {{"zone", "topology.kubernetes.io/zone"},
          {"block", "cloud.provider.com/topology-block"},
          {"rack", "cloud.provider.com/topology-rack"},
          {"node", "kubernetes.io/hostname"}};
}

}  // namespace trainyard::model
