#pragma once

#include <cstdint>

#include "core/ledger/ledger.h"
#include "core/place/fragmentation.h"

namespace trainyard::core {

// What is free of the nodes that take pods now (ready, not cordoned, not going), and how much of it is of no
// use: the free GPUs that a member drawn at random from the mix cannot use where they are (the measure of
// Weng et al., see fragmentation.h). Domains do not count: what is told apart is nodes.
struct FreeGpus {
  std::int64_t gpus = 0;
  std::int64_t fragmentedPermille = 0;  // of them; 0 where none is free or nobody asks for any
  friend bool operator==(const FreeGpus&, const FreeGpus&) = default;
};

// Every node with every shape of the mix, kMixShapes at most: some milliseconds for 10,000 nodes.
[[nodiscard]] FreeGpus freeGpus(const Ledger& ledger, const JobMix& mix);

}  // namespace trainyard::core
