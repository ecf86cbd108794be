#include <algorithm>
#include <functional>
#include <utility>

#include "base/saturating.h"
#include "core/preemption/preemption.h"
#include "core/queues/holdings.h"
#include "core/queues/priority.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"

// Phase 6, as far as elastic gangs give up members (core/preemption/preemption.h).
namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = Preemption::JobPtr;

// What ended members held is free already and cannot be given again; a gang
// that restarts with another size claims it back.
bool mayGiveMembers(const model::Job& job, const Ledger& ledger) {
  if (!givesMembers(job)) return false;
  const bool byRestart = resizeMethod(job.spec) == ResizeMethod::kByRestart;
  const auto& placed = job.status.gang.placed;
  const bool ended =
      placed && std::any_of(placed->succeeded.begin(), placed->succeeded.end(), [&](const auto& each) {
        return byRestart || each.role == job.spec.elastic->role;
      });
  const auto& pods = ledger.pods().of(job);
  return !ended && std::none_of(pods.begin(), pods.end(), [&](const auto& pod) {
    return pod->finished() && pod->member && (byRestart || pod->member->role == job.spec.elastic->role);
  });
}

}  // namespace

std::optional<Claim> Preemption::claimShrinking(const Preemptor& preemptor, std::size_t widest) {
  waitsForTerminating_ = false;
  if (placer_.budget().exhausted()) return std::nullopt;
  if (auto surplus = shrinks(preemptor, widest, true)) return surplus;
  if (waitsForTerminating_) return std::nullopt;
  if (!Priorities(snapshot_).mayPreempt(*preemptor.job)) return std::nullopt;
  return shrinks(preemptor, widest, false);
}

// Members above the desired replicas of any gang go before all others.
std::optional<Claim> Preemption::shrinks(const Preemptor& preemptor, std::size_t widest, bool surplusOnly) {
  const std::vector<Shrinkable> candidates = shrinkable(preemptor, surplusOnly);
  if (candidates.empty()) return std::nullopt;
  const auto changesOf = [&](const std::vector<int>& gives) {
    std::vector<Change> changes;
    for (std::size_t i = 0; i < gives.size(); ++i) {
      if (gives[i] == 0) continue;
      changes.push_back({.job = candidates[i].job,
                         .kind = ChangeKind::kShrink,
                         .remove = lastMembers(*candidates[i].job, gives[i]),
                         .preemptor = preemptor.job->key});
    }
    return changes;
  };
  const std::function<bool(const std::vector<int>&)> quotaAllows = [&](const std::vector<int>& gives) {
    return quotaAllowsWithout(preemptor, changesOf(gives));
  };
  const std::function<std::optional<Placement>(const std::vector<int>&)> place =
      [&](const std::vector<int>& gives) { return placeInQuotaWithout(preemptor, widest, changesOf(gives)); };
  auto choice = chooseShrinks({*preemptor.job, widest, candidates, ledger_, placer_, quotaAllows, place});
  if (!choice) return std::nullopt;
  Claim claim{std::move(choice->placement), changesOf(choice->gives)};
  if (claim.releases.empty() || waitsForTerminating(preemptor, claim)) return std::nullopt;
  if (const auto placed = placedAt(preemptor, claim.placement); placed && !surplusOnly) {
    const std::vector<Shrinkable> allowed = shrinkable(*placed, surplusOnly);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto same = [&](const Shrinkable& each) { return each.job == candidates[i].job; };
      const auto at = std::find_if(allowed.begin(), allowed.end(), same);
      if (choice->gives[i] > (at == allowed.end() ? 0 : at->most)) return std::nullopt;
    }
  }
  applyClaim(claim);
  return claim;
}

// Cheapest first; each gives no more than it may beside what those before it give.
std::vector<Shrinkable> Preemption::shrinkable(const Preemptor& preemptor, bool surplusOnly) {
  listRunning();
  std::vector<Shrinkable> found;
  std::vector<char> pool;
  for (const Candidate& running : elastic_) {
    if (preempted_.contains(running.job.get())) continue;
    const int surplus = std::max(elasticMembers(*running.job) - desiredMembers(*running.job), 0);
    Shrinkable each{running.job, surplusOnly ? surplus : maxMembersGiven(preemptor, running)};
    if (each.most == 0) continue;
    each.frees = freedBy(*running.job, each.most);
    placer_.budget().spend(each.most);
    if (static_cast<int>(each.frees.size()) != each.most) continue;  // a node of it is gone
    if (pool.empty()) pool = poolOf(*preemptor.job, ledger_);
    const bool anywhere = beyondLimit(tree_, preemptor.queue, preemptor.demand).has_value();
    if (!anywhere && !touches(each.frees, pool)) continue;
    tree_.discharge(running.queue,
                    heldBy(tree_.capacity(), *running.job, lastMembers(*running.job, each.most)), false);
    found.push_back(std::move(each));
  }
  for (const Shrinkable& each : found)
    tree_.charge(tree_.queueOf(*each.job),
                 heldBy(tree_.capacity(), *each.job, lastMembers(*each.job, each.most)), false);
  return found;
}

// The capacity of the last members, the last one's first; fewer entries if nodes are gone.
NodeAmounts Preemption::freedBy(const Job& job, int count) const {
  const model::Resources& each = job.spec.findRole(job.spec.elastic->role)->shape.requests;
  const int has = elasticMembers(job);
  std::vector<std::optional<std::size_t>> nodes(static_cast<std::size_t>(count));
  for (const model::Assignment& place : lastMembers(job, count)) {
    for (const int index : place.indices.values()) {
      const auto fromLast = static_cast<std::size_t>(has - 1 - index);
      if (fromLast < nodes.size()) nodes[fromLast] = ledger_.find(place.node);
    }
  }
  NodeAmounts freed;
  for (const auto& node : nodes) {
    if (node) freed.emplace_back(*node, each);
  }
  return freed;
}

int Preemption::maxMembersGiven(const Preemptor& preemptor, const Candidate& running) {
  constexpr int kMaxAsked = 64;
  const Job& job = *running.job;
  const int has = elasticMembers(job);
  const int minimum = job.spec.elastic->minReplicas;
  int gives = std::max(has - desiredMembers(job), 0);
  const auto from = preemptibleFrom(job, snapshot_);
  if (!from || *from > snapshot_.now) return gives;
  const bool harmless = resizeMethod(job.spec) != ResizeMethod::kByRestart || isCheckpointable(job.spec);
  const bool within = running.queue == preemptor.queue && preemptor.priority >= running.priority &&
                      harmless && !forbidsPreemptionWithin(tree_.node(running.queue));
  if (preemptor.aboveMinimum) {
    const bool first = preemptor.priority > running.priority || preemptor.rank.before(rankOf(running));
    return within && first ? std::max(has - minimum, gives) : gives;
  }
  if (within) return std::max(has - minimum, 0);
  const Amounts whole = holdingsOf(tree_.capacity(), job);
  Amounts before = heldBy(tree_.capacity(), job, lastMembers(job, gives));
  for (int asked = 0; gives < has - minimum && asked < kMaxAsked; ++asked) {
    const Amounts together = heldBy(tree_.capacity(), job, lastMembers(job, gives + 1));
    // Only the next member: those before it are discharged.
    Amounts held = together;
    for (std::size_t i = 0; i < held.size(); ++i) held[i] -= before[i];
    tree_.discharge(running.queue, before, false);
    Amounts remaining = whole;
    for (std::size_t i = 0; i < held.size(); ++i) remaining[i] -= before[i];
    const Victim next{&job, running.priority, running.queue, held, running.isUnprotected, &remaining};
    const bool may = hasRightToPreempt(preemptor, next, tree_, shares_) ||
                     preemptsBackfilled(preemptor, next, tree_, snapshot_.now);
    tree_.charge(running.queue, before, false);
    if (!may) break;
    before = together;
    ++gives;
  }
  spend(static_cast<std::size_t>(gives + 1) * static_cast<std::size_t>(has));
  return gives;
}

// Reduces preemptions to shrinks, the most expensive first, where giving up the last members suffices.
void Preemption::spareMembers(const Preemptor& preemptor, std::size_t widest, Claim& claim) {
  for (auto at = claim.releases.rbegin(); at != claim.releases.rend(); ++at) {
    Change& stop = *at;
    if (!core::preemptibleNow(*stop.job) || !mayGiveMembers(*stop.job, ledger_)) continue;
    const int has = elasticMembers(*stop.job);
    int enough = has - stop.job->spec.elastic->minReplicas + 1;
    int tooFew = 0;
    const Change whole = stop;
    while (enough - tooFew > 1) {
      const int gives = tooFew + (enough - tooFew) / 2;
      stop.kind = ChangeKind::kShrink;
      stop.remove = lastMembers(*stop.job, gives);
      auto placement = placeWithout(preemptor, widest, claim.releases);
      if (placement) claim.placement = std::move(*placement);
      (placement ? enough : tooFew) = gives;
    }
    stop = whole;
    if (enough > has - stop.job->spec.elastic->minReplicas) continue;
    stop.kind = ChangeKind::kShrink;
    stop.remove = lastMembers(*stop.job, enough);
    if (auto placement = placeWithout(preemptor, widest, claim.releases))
      claim.placement = std::move(*placement);
  }
}

void Preemption::listElastic(const JobPtr& job, int priority) {
  if (!snapshot_.policy.resize.enabled || !mayGiveMembers(*job, ledger_)) return;
  if (elasticMembers(*job) <= job->spec.elastic->minReplicas) return;
  // The loss of all members during the pause, per member that it can give: large gangs give first.
  const auto pause = std::chrono::duration_cast<std::chrono::seconds>(resizePause(*job, snapshot_));
  const int has = elasticMembers(*job);
  constexpr std::int64_t kPermille = 1'000;
  const std::int64_t each = kPermille * has / (has - job->spec.elastic->minReplicas);
  elastic_.push_back({.job = job,
                      .priority = priority,
                      .queue = tree_.queueOf(*job),
                      .cost = base::saturatingMultiply(pause.count() + 1, each),
                      .isUnprotected = protectedUntil(*job, snapshot_) <= snapshot_.now});
}

}  // namespace trainyard::core
