#include "core/preemption/shrink_search.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/queues/holdings.h"
#include "core/queues/priority.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "core/timeline/reservation.h"

namespace trainyard::core {
namespace {

using model::Job;

std::vector<Change> changesOf(const Preemptor& preemptor, const std::vector<Shrinkable>& candidates,
                              const std::vector<int>& gives) {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < gives.size(); ++i) {
    if (gives[i] == 0) continue;
    changes.push_back({.job = candidates[i].job,
                       .kind = ChangeKind::kShrink,
                       .remove = lastMembers(*candidates[i].job, gives[i]),
                       .preemptor = preemptor.job->key});
  }
  return changes;
}

}  // namespace

ClaimAnswer ShrinkSearch::search(const Preemptor& preemptor, std::size_t widest) {
  if (in_.placer.budget().exhausted()) return {};
  ClaimAnswer surplus = shrink(preemptor, widest, true);
  if (surplus.claim || surplus.waitsForTerminating) return surplus;
  if (!Priorities(in_.snapshot).mayPreempt(*preemptor.job)) return {};
  return shrink(preemptor, widest, false);
}

ClaimAnswer ShrinkSearch::shrink(const Preemptor& preemptor, std::size_t widest, bool surplusOnly) {
  const std::vector<Shrinkable> candidates = shrinkable(preemptor, surplusOnly);
  if (candidates.empty()) return {};
  const std::function<bool(const std::vector<int>&)> quotaAllows = [&](const std::vector<int>& gives) {
    return placer_.quotaAllowsWithout(preemptor, changesOf(preemptor, candidates, gives));
  };
  const std::function<std::optional<Placement>(const std::vector<int>&)> place =
      [&](const std::vector<int>& gives) {
        return placer_.placeCharged(preemptor, widest, changesOf(preemptor, candidates, gives));
      };
  auto choice = chooseShrinks({.preemptor = *preemptor.job,
                               .widest = widest,
                               .candidates = candidates,
                               .ledger = in_.ledger,
                               .placer = in_.placer,
                               .quotaAllows = quotaAllows,
                               .place = place});
  if (!choice) return {};
  Claim claim{std::move(choice->placement), changesOf(preemptor, candidates, choice->gives)};
  if (claim.releases.empty()) return {};
  if (placer_.waitsForTerminating(preemptor, claim)) return {.waitsForTerminating = true};
  if (!surplusOnly && !mayGiveThere(preemptor, claim.placement, candidates, choice->gives)) return {};
  return {std::move(claim)};
}

// Whether the preemptor has the same rights for what it holds on this placement.
bool ShrinkSearch::mayGiveThere(const Preemptor& preemptor, const Placement& placement,
                                const std::vector<Shrinkable>& candidates, const std::vector<int>& gives) {
  const auto placed = placedAt(in_.tree.capacity(), preemptor, placement);
  if (!placed) return true;
  const std::vector<Shrinkable> allowed = shrinkable(*placed, false);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto at = std::find_if(allowed.begin(), allowed.end(),
                                 [&](const Shrinkable& each) { return each.job == candidates[i].job; });
    if (gives[i] > (at == allowed.end() ? 0 : at->most)) return false;
  }
  return true;
}

// Cheapest first; each gives no more than it may beside what those before it give.
std::vector<Shrinkable> ShrinkSearch::shrinkable(const Preemptor& preemptor, bool surplusOnly) {
  QueueTree& tree = in_.tree;
  std::vector<Shrinkable> found;
  std::vector<char> pool;
  for (const Candidate& running : gangs_.elastic()) {
    const Job& job = *running.job;
    if (in_.taken.contains(&job)) continue;
    const int surplus = std::max(elasticMembers(job) - desiredMembers(job), 0);
    Shrinkable each{running.job, surplusOnly ? surplus : rights_.maxMembersGiven(preemptor, running)};
    if (each.most == 0) continue;
    each.frees = freedBy(job, each.most);
    in_.placer.budget().spend(each.most);
    if (static_cast<int>(each.frees.size()) != each.most) continue;  // a node of it is gone
    if (pool.empty()) pool = poolOf(*preemptor.job, in_.ledger);
    const bool anywhere = beyondLimit(tree, preemptor.queue, preemptor.demand).has_value();
    if (!anywhere && !touches(each.frees, pool)) continue;
    tree.discharge(running.queue, heldBy(tree.capacity(), job, lastMembers(job, each.most)), false);
    found.push_back(std::move(each));
  }
  for (const Shrinkable& each : found)
    tree.charge(tree.queueOf(*each.job),
                heldBy(tree.capacity(), *each.job, lastMembers(*each.job, each.most)), false);
  return found;
}

// The capacity of the last members, the last one's first; fewer entries if nodes are gone.
NodeAmounts ShrinkSearch::freedBy(const Job& job, int count) const {
  const model::Resources& each = job.spec.findRole(job.spec.elastic->role)->shape.requests;
  const int has = elasticMembers(job);
  std::vector<std::optional<std::size_t>> nodes(static_cast<std::size_t>(count));
  for (const model::Assignment& place : lastMembers(job, count)) {
    for (const int index : place.indices.values()) {
      const auto fromLast = static_cast<std::size_t>(has - 1 - index);
      if (fromLast < nodes.size()) nodes[fromLast] = in_.ledger.find(place.node);
    }
  }
  NodeAmounts freed;
  for (const auto& node : nodes) {
    if (node) freed.emplace_back(*node, each);
  }
  return freed;
}

void ShrinkSearch::spareMembers(const Preemptor& preemptor, std::size_t widest, Claim& claim) {
  for (auto at = claim.releases.rbegin(); at != claim.releases.rend(); ++at) {
    Change& stop = *at;
    if (!preemptibleNow(*stop.job) || !mayGiveMembers(*stop.job, in_.ledger)) continue;
    const int has = elasticMembers(*stop.job);
    int enough = has - stop.job->spec.elastic->minReplicas + 1;
    int tooFew = 0;
    const Change whole = stop;
    while (enough - tooFew > 1) {
      const int gives = tooFew + (enough - tooFew) / 2;
      stop.kind = ChangeKind::kShrink;
      stop.remove = lastMembers(*stop.job, gives);
      auto placement = placer_.placeWithout(preemptor, widest, claim.releases);
      if (placement) claim.placement = std::move(*placement);
      (placement ? enough : tooFew) = gives;
    }
    stop = whole;
    if (enough > has - stop.job->spec.elastic->minReplicas) continue;
    stop.kind = ChangeKind::kShrink;
    stop.remove = lastMembers(*stop.job, enough);
    if (auto placement = placer_.placeWithout(preemptor, widest, claim.releases))
      claim.placement = std::move(*placement);
  }
}

}  // namespace trainyard::core
