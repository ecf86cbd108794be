#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/preemption/candidate.h"
#include "core/preemption/preemption_context.h"
#include "core/queues/eligibility.h"

namespace trainyard::core {

// Placements for a preemptor as if other gangs had given up capacity, within the quotas that then apply.
class ClaimPlacer {
 public:
  explicit ClaimPlacer(PreemptionContext& context) : in_(context) {}

  // In the ledger as it is. Leaves out nodes of a GPU type that the queue may not use more of. For a job that
  // cannot be preempted, the members without GPUs leave out nodes with GPUs if the job would hold too much
  // there.
  [[nodiscard]] std::optional<Placement> place(const Preemptor& preemptor, std::size_t widest);
  // As above; quotas count these changes as done.
  [[nodiscard]] std::optional<Placement> placeCharged(const Preemptor& preemptor, std::size_t widest,
                                                      const std::vector<Change>& victims);
  // As above, in the ledger after these changes.
  [[nodiscard]] std::optional<Placement> placeWithout(const Preemptor& preemptor, std::size_t widest,
                                                      const std::vector<Change>& victims);

  // Whether quotas admit what the preemptor holds on this placement; what it requests, if there is none.
  [[nodiscard]] bool quotaAllows(const Preemptor& preemptor, const Placement* placement) const;
  [[nodiscard]] bool quotaAllowsWithout(const Preemptor& preemptor, const std::vector<Change>& victims);
  // Whether a limit makes the claim wait for gangs that terminate already.
  [[nodiscard]] bool waitsForTerminating(const Preemptor& preemptor, const Claim& claim);

 private:
  void setCharged(const std::vector<Change>& victims, bool isCharged);

  PreemptionContext& in_;
};

// Whether the job has members without GPUs, and what they hold depends on whether their nodes have GPUs.
[[nodiscard]] bool mayNeedGpuNodes(const ClusterCapacity& capacity, const model::Job& job);

// The preemptor with the demand that it has on this placement; nothing if the demand does not depend on it.
// The rights by which gangs were chosen have to hold for that, too: else the preemptor could be preempted at
// once in turn. (Rejected: a comparison with any guarantee on the path. That of a common parent hid that two
// siblings exceeded theirs, and their gangs preempted each other without end.)
[[nodiscard]] std::optional<Preemptor> placedAt(const ClusterCapacity& capacity, const Preemptor& preemptor,
                                                const Placement& placement);

}  // namespace trainyard::core
