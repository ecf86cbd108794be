#include "core/preemption/claim_placer.h"

#include <algorithm>

#include "core/ledger/what_if.h"
#include "core/queues/holdings.h"
#include "core/queues/quota_check.h"

namespace trainyard::core {

std::optional<Placement> ClaimPlacer::place(const Preemptor& preemptor, std::size_t widest) {
  const ClusterCapacity& capacity = in_.tree.capacity();
  const model::Job& job = *preemptor.job;
  if (!capacity.dependsOnNodes(job.spec.preemptible)) return in_.placer.tryClaim(job, widest);
  AvoidedNodes avoid;
  while (auto placement = in_.placer.tryClaim(job, widest, avoid)) {
    const Amounts held = heldBy(capacity, job, placement->assignments);
    const auto beyond =
        exceededQuota(in_.tree, preemptor.queue, held, job.spec.preemptible, Leaving::kIgnored);
    if (!beyond) return placement;
    if (!avoid.add(capacity, beyond->dimension)) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Placement> ClaimPlacer::placeCharged(const Preemptor& preemptor, std::size_t widest,
                                                   const std::vector<Change>& victims) {
  setCharged(victims, false);
  auto placement = place(preemptor, widest);
  setCharged(victims, true);
  return placement;
}

std::optional<Placement> ClaimPlacer::placeWithout(const Preemptor& preemptor, std::size_t widest,
                                                   const std::vector<Change>& victims) {
  if (in_.placer.budget().exhausted() || !quotaAllowsWithout(preemptor, victims)) return std::nullopt;
  std::vector<NodeAmounts> released;
  for (const Change& each : victims) {
    released.push_back(each.kind == ChangeKind::kPreempt ? capacityHeldBy(*each.job, in_.ledger)
                                                         : amountsOf(*each.job, each.remove, in_.ledger));
  }
  WhatIf without(in_.ledger);
  for (const NodeAmounts& capacity : released) without.release(capacity);
  return placeCharged(preemptor, widest, victims);
}

bool ClaimPlacer::quotaAllows(const Preemptor& preemptor, const Placement* placement) const {
  const ClusterCapacity& capacity = in_.tree.capacity();
  const bool preemptible = preemptor.job->spec.preemptible;
  const bool byNodes = placement != nullptr && capacity.dependsOnNodes(preemptible);
  const Amounts wanted =
      byNodes ? heldBy(capacity, *preemptor.job, placement->assignments) : preemptor.demand;
  return !exceededQuota(in_.tree, preemptor.queue, wanted, preemptible, Leaving::kIgnored);
}

bool ClaimPlacer::quotaAllowsWithout(const Preemptor& preemptor, const std::vector<Change>& victims) {
  setCharged(victims, false);
  const bool allowed = quotaAllows(preemptor, nullptr);
  setCharged(victims, true);
  return allowed;
}

bool ClaimPlacer::waitsForTerminating(const Preemptor& preemptor, const Claim& claim) {
  if (in_.awaitsTerminating) return false;
  const ClusterCapacity& capacity = in_.tree.capacity();
  setCharged(claim.releases, false);
  const Amounts wanted = in_.tree.dimensions().namesTypes()
                             ? heldBy(capacity, *preemptor.job, claim.placement.assignments)
                             : preemptor.demand;
  const bool waits = beyondLimitWithLeaving(in_.tree, preemptor.queue, wanted).has_value();
  setCharged(claim.releases, true);
  return waits;
}

void ClaimPlacer::setCharged(const std::vector<Change>& victims, bool isCharged) {
  for (const Change& each : victims) {
    const QueueTree::Index queue = in_.tree.queueOf(*each.job);
    const Amounts held = heldBy(in_.tree.capacity(), *each.job, each.remove);
    if (isCharged) {
      in_.tree.charge(queue, held, false);
    } else {
      in_.tree.discharge(queue, held, false);
    }
  }
}

bool mayNeedGpuNodes(const ClusterCapacity& capacity, const model::Job& job) {
  const auto& roles = job.spec.roles;
  return capacity.dependsOnNodes(false) && std::any_of(roles.begin(), roles.end(), [](const auto& role) {
           return role.shape.requests.gpus() <= 0;
         });
}

std::optional<Preemptor> placedAt(const ClusterCapacity& capacity, const Preemptor& preemptor,
                                  const Placement& placement) {
  if (!mayNeedGpuNodes(capacity, *preemptor.job)) return std::nullopt;
  Preemptor placed = preemptor;
  placed.demand = heldBy(capacity, *preemptor.job, placement.assignments);
  placed.wanted = std::nullopt;
  return placed;
}

}  // namespace trainyard::core
