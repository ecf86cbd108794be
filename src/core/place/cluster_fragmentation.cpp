#include "core/place/cluster_fragmentation.h"

#include <algorithm>

#include "base/saturating.h"

namespace trainyard::core {
namespace {

DeviceCapacity capacityOf(const Ledger::NodeCapacity& node) {
  DeviceCapacity capacity;
  capacity.cpu = node.free.cpu.value;
  capacity.memory = node.free.memory.value;
  capacity.whole = std::max<std::int64_t>(node.freeGpus, 0);
  return capacity;
}

}  // namespace

ClusterFragmentation clusterFragmentation(const Ledger& ledger, const JobMix& mix) {
  ClusterFragmentation found;
  std::int64_t unused = 0;  // thousandths of a GPU, by the mix's weights
  for (const Ledger::NodeCapacity& node : ledger.nodes()) {
    if (node.freeGpus <= 0 || !node.node->takesPods()) continue;
    found.freeGpus = base::saturatingAdd(found.freeGpus, node.freeGpus);
    unused = base::saturatingAdd(unused, fragmentation(capacityOf(node), mix, FragmentMeasure::kFirstTask));
  }
  std::int64_t weights = 0;
  for (const JobMix::Entry& entry : mix.entries()) weights = base::saturatingAdd(weights, entry.weight);
  const std::int64_t most = base::saturatingMultiply(found.freeGpus, weights);  // in whole GPUs
  if (most > 0) found.fragmentedPermille = std::min<std::int64_t>(unused / most, kWholeDevice);
  return found;
}

}  // namespace trainyard::core
