#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/preemption/candidate.h"
#include "core/preemption/victims.h"
#include "core/queues/eligibility.h"
#include "core/queues/queue_tree.h"

namespace trainyard::core {

// How far queues fall below their guarantees if some candidates are preempted. The unit is 10^-12 of the
// cluster's amount of each resource, summed over the resources; a queue and those above it count each. GPUs
// of a type are GPUs, too: what a queue lacks of either is counted once. In queues on the preemptor's own
// path, its demand counts as held, and of the rest only what is taken: those victims would be within the
// guarantee again, and preempt others. (Rejected: to discharge the tree for each set; hundreds of sets are
// compared for one claim.)
class GuaranteeDeficit {
 public:
  GuaranteeDeficit(const QueueTree& tree, const Preemptor& preemptor,
                   const std::vector<Candidate>& candidates);

  [[nodiscard]] std::int64_t of(const Chosen& victims);

 private:
  const QueueTree& tree_;
  const Preemptor& preemptor_;
  const std::vector<Candidate>& candidates_;
  std::vector<QueueTree::Index> queues_;         // on the paths of the candidates, each once
  std::vector<std::vector<std::size_t>> above_;  // by a candidate's queue: indices into queues_
  std::vector<char> touched_;                    // for each of queues_: the set takes from it
  std::vector<std::size_t> dimensions_;          // in which any of queues_ has a guarantee
  std::vector<std::int64_t> taken_;              // from queues_, for each of dimensions_
  std::int64_t allGpus_ = 0;
};

}  // namespace trainyard::core
