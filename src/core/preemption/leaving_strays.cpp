#include "core/preemption/leaving_strays.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_set>
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

std::vector<Stray> leavingStrays(const Ledger& ledger,
                                 const std::vector<std::shared_ptr<const model::Job>>& proposing,
                                 base::WallTime now) {
  std::unordered_set<model::Uid> named;
  for (const auto& job : proposing) {
    for (const model::Victim& each : job->status.gang.proposal->victims) named.insert(each.uid);
  }
  std::vector<Stray> strays;
  for (std::size_t at = 0; at < ledger.nodes().size(); ++at) {
    if (!ledger.nodes()[at].node->ready) continue;
    ledger.forEachHolding(at, [&](const Ledger::Holding& holding) {
      if (!leaves(holding, now) || named.contains(holding.pod->uid)) return;
      strays.push_back({at,
                        {holding.pod->key, holding.pod->uid, holding.pod->node},
                        holding.amount,
                        *holding.pod->deletionTime});
    });
  }
  std::stable_sort(strays.begin(), strays.end(),
                   [](const Stray& a, const Stray& b) { return a.goneBy < b.goneBy; });
  return strays;
}

NodeAmounts amountsOf(const std::vector<Stray>& strays) {
  NodeAmounts amounts;
  amounts.reserve(strays.size());
  for (const Stray& each : strays) amounts.emplace_back(each.node, each.amount);
  return amounts;
}

std::vector<model::Victim> takeNeeded(std::vector<Stray>& strays, const model::Job& preemptor,
                                      const Claim& claim, const Ledger& ledger) {
  std::map<std::size_t, model::Resources> wanted;
  for (const auto& [node, amount] : amountsOf(preemptor, claim.placement.assignments, ledger))
    wanted[node].add(amount);
  std::vector<model::Victim> needed;
  for (const auto& [node, amount] : wanted) {
    model::Resources free = freeWithoutVictims(node, claim, ledger);
    std::erase_if(strays, [&, at = node, &needs = amount](Stray& stray) {
      if (stray.node != at || free.covers(needs) || !helps(stray.amount, free, needs)) return false;
      free.add(stray.amount);
      needed.push_back(std::move(stray.pod));
      return true;
    });
  }
  return needed;
}

}  // namespace trainyard::core
