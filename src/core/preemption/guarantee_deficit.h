#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/preemption/concession.h"
#include "core/preemption/stops.h"
#include "core/queues/queue_tree.h"

namespace trainyard::core {

// By how much queues of other branches than the claimant's fall below their guarantees when some of the
// candidates stop, in 10^-12 of what the cluster has of each resource, one added to the other; a queue and
// those above it count each. GPUs of a type are GPUs: what a queue lacks of either is counted once. What lies
// on the claimant's own path is its own guarantee, too. (Lost: to discharge the tree for each set; hundreds
// of sets are compared for one claim.)
class GuaranteeDeficit {
 public:
  GuaranteeDeficit(const QueueTree& tree, QueueTree::Index claimant,
                   const std::vector<Concession>& candidates);

  [[nodiscard]] std::int64_t of(const Chosen& gone);

 private:
  const QueueTree& tree_;
  const std::vector<Concession>& candidates_;
  std::vector<QueueTree::Index> queues_;         // of other branches, each once
  std::vector<std::vector<std::size_t>> above_;  // by a candidate's queue: indices into queues_
  std::vector<char> touched_;                    // of queues_, by the set that is asked for
  std::vector<std::size_t> dimensions_;          // of which any of queues_ is guaranteed something
  std::vector<std::int64_t> taken_;              // from queues_, for each of dimensions_
  std::int64_t allGpus_ = 0;
};

}  // namespace trainyard::core
