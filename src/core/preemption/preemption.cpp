#include "core/preemption/preemption.h"

#include <utility>

#include "core/preemption/guarantee_deficit.h"
#include "core/preemption/moves.h"
#include "core/queues/holdings.h"
#include "core/queues/priority.h"

namespace trainyard::core {
namespace {

// The victims of a choice, as changes. Starts under way are given up first, and no other gang is preempted
// before they are.
Claim claimOf(const Preemptor& preemptor, const std::vector<Candidate>& candidates, VictimChoice choice) {
  Claim claim{std::move(choice.placement), {}};
  for (const std::size_t index : choice.victims) {
    const Candidate& victim = candidates[index];
    if (victim.isStarting) {
      claim.yields.push_back(victim.job);
      continue;
    }
    claim.releases.push_back({.job = victim.job,
                              .kind = ChangeKind::kPreempt,
                              .remove = victim.job->status.gang.placed->assignments,
                              .preemptor = preemptor.job->key,
                              .byOtherQueue = victim.queue != preemptor.queue});
  }
  return claim;
}

}  // namespace

ClaimAnswer Preemption::claim(const Preemptor& preemptor, std::size_t widest) {
  ClaimAnswer answer = claimWanted(preemptor, widest);
  if (answer.claim || answer.waitsForTerminating) return answer;
  const auto onGpuNodes = wantingGpuNodes(preemptor);
  return onGpuNodes ? claimWanted(*onGpuNodes, widest) : answer;
}

// Members without GPUs may find no place but on nodes with GPUs, among what other gangs borrow there.
// (Rejected: this search alone. It takes what the gang would not need with those members on nodes without
// GPUs.)
std::optional<Preemptor> Preemption::wantingGpuNodes(const Preemptor& preemptor) const {
  const ClusterCapacity& capacity = in_.tree.capacity();
  if (!capacity.hasNodesWithoutGpus() || !mayNeedGpuNodes(capacity, *preemptor.job)) return std::nullopt;
  Preemptor onGpuNodes = preemptor;
  onGpuNodes.wanted = demandOnGpuNodes(capacity, *preemptor.job, preemptor.demand);
  return onGpuNodes;
}

std::set<const model::Job*> Preemption::candidatesFor(const Preemptor& preemptor) {
  std::set<const model::Job*> jobs;
  const auto addAll = [&](const Preemptor& wanting) {
    for (const Candidate& each : rights_.candidatesFor(wanting)) jobs.insert(each.job.get());
  };
  addAll(preemptor);
  if (const auto onGpuNodes = wantingGpuNodes(preemptor)) addAll(*onGpuNodes);
  return jobs;
}

ClaimAnswer Preemption::claimAwaiting(const Preemptor& preemptor, std::size_t widest) {
  in_.awaitsTerminating = true;
  ClaimAnswer answer = claim(preemptor, widest);
  in_.awaitsTerminating = false;
  return answer;
}

ClaimAnswer Preemption::claimWanted(const Preemptor& preemptor, std::size_t widest) {
  if (in_.placer.budget().exhausted() || isUnbindable(*preemptor.job, in_.snapshot.now)) return {};
  ClaimAnswer shrunk = shrinks_.search(preemptor, widest);
  if (shrunk.claim) apply(*shrunk.claim);
  if (shrunk.claim || shrunk.waitsForTerminating) return shrunk;
  const bool mayPreempt = Priorities(in_.snapshot).mayPreempt(*preemptor.job);
  const std::vector<Candidate> candidates =
      mayPreempt ? rights_.candidatesFor(preemptor) : std::vector<Candidate>();
  if (candidates.empty()) return {.hadNoCandidate = gangs_.elastic().empty()};
  auto claim = chooseClaim(preemptor, widest, candidates);
  if (!claim) return {};
  if (!claim->yields.empty()) {
    for (const auto& each : claim->yields) in_.taken.insert(each.get());
    return {std::move(claim)};
  }
  shrinks_.spareMembers(preemptor, widest, *claim);
  if (placer_.waitsForTerminating(preemptor, *claim)) return {.waitsForTerminating = true};
  apply(*claim);
  return {std::move(claim)};
}

std::optional<Claim> Preemption::chooseClaim(const Preemptor& preemptor, std::size_t widest,
                                             const std::vector<Candidate>& candidates) {
  GuaranteeDeficit deficit(in_.tree, preemptor, candidates);
  const Chosen together = rights_.preemptibleTogether(preemptor, candidates);
  auto choice = chooseVictims(
      {.preemptor = *preemptor.job,
       .queue = preemptor.queue,
       .gpus = preemptor.demand[0],
       .widest = widest,
       .candidates = candidates,
       .together = together,
       .ledger = in_.ledger,
       .placer = in_.placer,
       .quotaAllows =
           [&](const Chosen& victims, const Placement* placement) {
             setCharged(in_.tree, candidates, victims, false);
             const bool allowed = placer_.quotaAllows(preemptor, placement);
             setCharged(in_.tree, candidates, victims, true);
             return allowed;
           },
       .place =
           [&](const Chosen& victims) {
             setCharged(in_.tree, candidates, victims, false);
             auto placement = placer_.place(preemptor, widest);
             setCharged(in_.tree, candidates, victims, true);
             return placement;
           },
       .mayPreemptAll =
           [&](const Chosen& victims) { return rights_.mayPreemptAll(preemptor, candidates, victims); },
       .deficit = [&](const Chosen& victims) { return deficit.of(victims); }});
  if (!choice) return std::nullopt;
  const auto placed = placedAt(in_.tree.capacity(), preemptor, choice->placement);
  if (placed && !rights_.mayPreemptAll(*placed, candidates, choice->victims)) return std::nullopt;
  return claimOf(preemptor, candidates, std::move(*choice));
}

std::optional<Claim> Preemption::claimShrinking(const Preemptor& preemptor, std::size_t widest) {
  auto claim = shrinks_.search(preemptor, widest).claim;
  if (claim) apply(*claim);
  return claim;
}

std::optional<Claim> Preemption::move(const Preemptor& preemptor, std::size_t widest) {
  if (searchedMoves_ || !in_.snapshot.policy.defragmentation.enabled) return std::nullopt;
  if (!Priorities(in_.snapshot).mayPreempt(*preemptor.job)) return std::nullopt;
  if (isUnbindable(*preemptor.job, in_.snapshot.now)) return std::nullopt;
  searchedMoves_ = true;
  auto claim = chooseMoves({.snapshot = in_.snapshot,
                            .ledger = in_.ledger,
                            .queues = in_.tree,
                            .placer = in_.placer,
                            .ends = in_.ends,
                            .runs = in_.runs},
                           preemptor, widest, gangs_.preemptibleNow());
  if (!claim) return std::nullopt;
  for (const Change& change : claim->releases) in_.taken.insert(change.job.get());
  return claim;
}

void Preemption::apply(const Claim& claim) {
  for (const Change& each : claim.releases) {
    in_.taken.insert(each.job.get());
    in_.tree.markLeaving(in_.tree.queueOf(*each.job), heldBy(in_.tree.capacity(), *each.job, each.remove));
  }
}

void Preemption::withdraw(const Claim& claim) {
  for (const Change& each : claim.releases) {
    in_.taken.erase(each.job.get());
    in_.tree.unmarkLeaving(in_.tree.queueOf(*each.job), heldBy(in_.tree.capacity(), *each.job, each.remove));
  }
}

}  // namespace trainyard::core
