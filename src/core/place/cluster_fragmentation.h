#pragma once

#include <cstdint>

#include "core/ledger/ledger.h"
#include "core/place/fragmentation.h"

namespace trainyard::core {

// The free GPUs of the nodes that take pods now (ready, not cordoned, not being deleted), and the fraction
// that is fragmented: the GPUs that a member drawn at random from the mix cannot use where they are (the
// measure of Weng et al., see fragmentation.h). Domains do not count: fragmentation is per node.
struct ClusterFragmentation {
  std::int64_t freeGpus = 0;
  std::int64_t fragmentedPermille = 0;  // of them; 0 if none is free or no job requests any
  friend bool operator==(const ClusterFragmentation&, const ClusterFragmentation&) = default;
};

// Evaluates every node for every shape of the mix, at most kMixShapes: some ms for 10,000 nodes.
[[nodiscard]] ClusterFragmentation clusterFragmentation(const Ledger& ledger, const JobMix& mix);

}  // namespace trainyard::core
