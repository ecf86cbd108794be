#include "core/preemption/terminating_capacity.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "core/queues/eligibility.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

// After its grace period, a pod ends within the kubelet's own time.
constexpr std::chrono::seconds kLate{10};

// A suspended gang that is preemptible is a candidate, and released as such.
bool givesUpNodes(const model::Job& job) {
  const model::GangRecord& gang = job.status.gang;
  if (job.deleting || job.finished() || (!gang.placed && !gang.proposal)) return true;
  if (job.spec.run.suspend && !preemptible(job)) return true;
  return gang.proposal && gang.proposal->kind == model::ProposalKind::kRestart && gang.proposal->add.empty();
}

bool leaves(const Ledger::Holding& holding, base::WallTime now) {
  const model::Pod* pod = holding.pod;
  if (pod == nullptr || !pod->terminating || !pod->deletionTime || now >= *pod->deletionTime + kLate)
    return false;
  if (!pod->member || pod->controllerKind != model::names::kTrainingJobKind) return false;
  return holding.job == nullptr || givesUpNodes(*holding.job);
}

std::map<std::size_t, model::Resources> byNode(const NodeAmounts& amounts) {
  std::map<std::size_t, model::Resources> sums;
  for (const auto& [node, amount] : amounts) sums[node].add(amount);
  return sums;
}

// What is free on the node once the claim's other victims have gone.
model::Resources freeWithoutVictims(std::size_t node, const Claim& claim, const Ledger& ledger) {
  model::Resources free = ledger.nodes()[node].free;
  for (const Change& each : claim.releases) {
    const NodeAmounts released = each.kind == ChangeKind::kShrink ? amountsOf(*each.job, each.remove, ledger)
                                                                  : capacityHeldBy(*each.job, ledger);
    for (const auto& [at, amount] : released) {
      if (at == node) free.add(amount);
    }
  }
  return free;
}

// Whether the amount has some of the resource that is short first.
bool helps(const model::Resources& amount, const model::Resources& free, const model::Resources& wanted) {
  model::Resources with = free;
  with.add(amount);
  const auto before = free.shortfallFor(wanted);
  const auto after = with.shortfallFor(wanted);
  return before && (!after || after->resource != before->resource || after->available > before->available);
}

}  // namespace

TerminatingCapacity::TerminatingCapacity(const Ledger& ledger,
                                         const std::vector<std::shared_ptr<const model::Job>>& proposing,
                                         base::WallTime now) {
  for (std::size_t at = 0; at < ledger.nodes().size(); ++at) {
    if (!ledger.nodes()[at].node->ready) continue;
    ledger.forEachHolding(at, [&](const Ledger::Holding& holding) {
      if (!leaves(holding, now)) return;
      members_.push_back({at,
                          {holding.pod->key, holding.pod->uid, holding.pod->node},
                          holding.amount,
                          *holding.pod->deletionTime});
    });
  }
  std::stable_sort(
      members_.begin(), members_.end(),
      [](const TerminatingMember& a, const TerminatingMember& b) { return a.goneBy < b.goneBy; });
  if (members_.empty()) return;
  for (const auto& job : proposing) {
    const model::Proposal& proposal = *job->status.gang.proposal;
    if (proposal.victims.empty()) continue;
    // The ledger counts only what the claim's victims do not use themselves.
    for (auto& [node, amount] : byNode(amountsOf(*job, proposal.add, ledger))) {
      ledger.forEachHolding(node, [&, &left = amount](const Ledger::Holding& holding) {
        if (holding.job == job.get() && holding.pod == nullptr) left.subtractUpTo(holding.amount);
      });
      taken_.emplace_back(node, amount);
    }
  }
}

NodeAmounts TerminatingCapacity::amounts() const {
  NodeAmounts amounts;
  amounts.reserve(members_.size());
  for (const TerminatingMember& each : members_) amounts.emplace_back(each.node, each.amount);
  return amounts;
}

std::vector<model::Victim> TerminatingCapacity::needed(const model::Job& preemptor, const Claim& claim,
                                                       const Ledger& ledger) const {
  std::vector<model::Victim> victims;
  for (const auto& [node, wanted] : byNode(amountsOf(preemptor, claim.placement.assignments, ledger))) {
    model::Resources free = freeWithoutVictims(node, claim, ledger);
    if (free.covers(wanted)) continue;
    for (const auto& [at, amount] : taken_) {
      if (at == node) free.subtract(amount);
    }
    for (const TerminatingMember& each : members_) {
      if (each.node != node || free.covers(wanted) || !helps(each.amount, free, wanted)) continue;
      free.add(each.amount);
      victims.push_back(each.pod);
    }
  }
  return victims;
}

}  // namespace trainyard::core
