#include "core/preemption/preemption.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "core/ledger/what_if.h"
#include "core/order/preemption_cost.h"
#include "core/preemption/claims.h"
#include "core/preemption/guarantee_deficit.h"
#include "core/preemption/moves.h"
#include "core/queues/guarantee.h"
#include "core/queues/holdings.h"
#include "core/queues/priority.h"
#include "core/queues/quota_check.h"
#include "model/charge.h"

namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = Preemption::JobPtr;

// Evaluating this many eligibility rules costs as much as looking at one node.
constexpr std::int64_t kRightsForANode = 10;

// A gang that other queues have preempted is protected by an additional cost, in GPU seconds.
// Preemptions by its own queue do not count: a tenant could let its own jobs preempt each
// other, so that other gangs are preempted instead.
std::int64_t preemptionPenalty(const Job& job) {
  constexpr int kMaxCounted = 10;
  constexpr std::int64_t kHalfAnHour = 1'800;
  const int count = std::clamp(job.status.preemptions.byOtherQueues, 0, kMaxCounted);
  return base::saturatingMultiply(kHalfAnHour * ((1 << count) - 1),
                                  std::max<std::int64_t>(job.status.gpus, 1));
}

Victim victimOf(const Candidate& running) {
  return {running.job.get(), running.priority, running.queue, running.held, running.isUnprotected};
}

// The earliest condition that comes true after now.
std::optional<base::WallTime> nextCondition(const model::Charge& charge, base::WallTime now) {
  std::optional<base::WallTime> next;
  for (const auto& each : charge.backfilled) {
    if (each.from > now && (!next || each.from < *next)) next = each.from;
  }
  return next;
}

}  // namespace

std::optional<Claim> Preemption::claim(const Preemptor& preemptor, std::size_t widest) {
  if (auto claim = claimWanted(preemptor, widest)) return claim;
  const ClusterCapacity& capacity = tree_.capacity();
  if (waitsForTerminating_ || !capacity.hasNodesWithoutGpus() || !mayNeedGpuNodes(preemptor))
    return std::nullopt;
  // Members without GPUs may find no place but on nodes with GPUs, among what other gangs borrow there.
  // (Lost: this search alone. It takes what the gang would not need with those members on nodes without
  // GPUs.)
  Preemptor onGpuNodes = preemptor;
  onGpuNodes.wanted = demandOnGpuNodes(capacity, *preemptor.job, preemptor.demand);
  return claimWanted(onGpuNodes, widest);
}

std::optional<Claim> Preemption::claimWanted(const Preemptor& preemptor, std::size_t widest) {
  lastHadNoCandidate_ = false;
  if (placer_.budget().exhausted() || isUnbindable(*preemptor.job, snapshot_.now)) return std::nullopt;
  if (auto shrunk = claimShrinking(preemptor, widest)) return shrunk;
  if (waitsForTerminating_) return std::nullopt;
  const bool mayPreempt = Priorities(snapshot_).mayPreempt(*preemptor.job);
  const std::vector<Candidate> candidates = mayPreempt ? candidatesFor(preemptor) : std::vector<Candidate>();
  if (candidates.empty()) {
    lastHadNoCandidate_ = elastic_.empty();
    return std::nullopt;
  }
  GuaranteeDeficit deficit(tree_, preemptor.queue, candidates);
  auto choice =
      chooseVictims({*preemptor.job, preemptor.queue, preemptor.demand[0], widest, candidates,
                     preemptibleTogether(preemptor, candidates), ledger_, placer_,
                     [&](const Chosen& victims, const Placement* placement) {
                       setCharged(candidates, victims, false);
                       const bool allowed = quotaAllows(preemptor, placement);
                       setCharged(candidates, victims, true);
                       return allowed;
                     },
                     [&](const Chosen& victims) {
                       if (!tree_.capacity().dependsOnNodes(preemptor.job->spec.preemptible))
                         return placer_.tryClaim(*preemptor.job, widest);
                       setCharged(candidates, victims, false);
                       auto placement = placeInQuota(preemptor, widest);
                       setCharged(candidates, victims, true);
                       return placement;
                     },
                     [&](const Chosen& victims) { return mayPreemptAll(preemptor, candidates, victims); },
                     [&](const Chosen& victims) { return deficit.of(victims); }});
  if (!choice) return std::nullopt;
  if (const auto placed = placedAt(preemptor, choice->placement);
      placed && !mayPreemptAll(*placed, candidates, choice->victims))
    return std::nullopt;
  Claim claim{std::move(choice->placement), {}};
  for (const std::size_t index : choice->victims) {
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
  if (!claim.yields.empty()) {
    // No other gang is preempted before these starts are given up.
    for (const JobPtr& each : claim.yields) preempted_.insert(each.get());
    return claim;
  }
  spareMembers(preemptor, widest, claim);
  if (waitsForTerminating(preemptor, claim)) return std::nullopt;
  applyClaim(claim);
  return claim;
}

bool Preemption::hasNoCandidate(QueueTree::Index queue, const Rank& rank, bool mayPreempt) {
  if (!mayPreempt) return true;
  const auto known = noTimeSliceFor_.find({queue, rank.priority, rank.learnt});
  if (known == noTimeSliceFor_.end() || rank.expected < known->second) return false;
  spend(equivalentGangs_.size());
  return true;
}

bool Preemption::waitsForTerminating(const Preemptor& preemptor, const Claim& claim) {
  setCharged(claim.releases, false);
  const Amounts wanted = tree_.dimensions().namesTypes()
                             ? heldBy(tree_.capacity(), *preemptor.job, claim.placement.assignments)
                             : preemptor.demand;
  waitsForTerminating_ = beyondLimitWithLeaving(tree_, preemptor.queue, wanted).has_value();
  setCharged(claim.releases, true);
  return waitsForTerminating_;
}

// Whether the job has members without GPUs, and what they hold depends on whether their nodes have GPUs.
bool Preemption::mayNeedGpuNodes(const Preemptor& preemptor) const {
  const auto& roles = preemptor.job->spec.roles;
  return tree_.capacity().dependsOnNodes(false) &&
         std::any_of(roles.begin(), roles.end(),
                     [](const auto& role) { return role.shape.requests.gpus() <= 0; });
}

// What members without GPUs hold beside GPUs depends on the nodes. The rights by which gangs were chosen have
// to hold for that, too: else the preemptor could be preempted at once in turn. (Lost: a comparison with any
// guarantee on the path. That of a common parent hid that two siblings exceeded theirs, and their gangs
// preempted each other without end.) Returns nothing if the demand does not depend on the placement.
std::optional<Preemptor> Preemption::placedAt(const Preemptor& preemptor, const Placement& placement) const {
  if (!mayNeedGpuNodes(preemptor)) return std::nullopt;
  Preemptor placed = preemptor;
  placed.demand = heldBy(tree_.capacity(), *preemptor.job, placement.assignments);
  placed.wanted = std::nullopt;
  return placed;
}

void Preemption::applyClaim(const Claim& claim) {
  for (const Change& each : claim.releases) {
    preempted_.insert(each.job.get());
    tree_.markLeaving(tree_.queueOf(*each.job), heldBy(tree_.capacity(), *each.job, each.remove));
  }
}

void Preemption::withdraw(const Claim& claim) {
  for (const Change& each : claim.releases) {
    preempted_.erase(each.job.get());
    tree_.unmarkLeaving(tree_.queueOf(*each.job), heldBy(tree_.capacity(), *each.job, each.remove));
  }
}

std::optional<Placement> Preemption::placeWithout(const Preemptor& preemptor, std::size_t widest,
                                                  const std::vector<Change>& victims) {
  if (placer_.budget().exhausted() || !quotaAllowsWithout(preemptor, victims)) return std::nullopt;
  std::vector<NodeAmounts> released;
  for (const Change& each : victims) {
    released.push_back(each.kind == ChangeKind::kPreempt ? capacityHeldBy(*each.job, ledger_)
                                                         : amountsOf(*each.job, each.remove, ledger_));
  }
  WhatIf without(ledger_);
  for (const NodeAmounts& capacity : released) without.release(capacity);
  return placeInQuotaWithout(preemptor, widest, victims);
}

// Places the preemptor in the ledger as it is; quotas count these changes as done.
std::optional<Placement> Preemption::placeInQuotaWithout(const Preemptor& preemptor, std::size_t widest,
                                                         const std::vector<Change>& victims) {
  if (!tree_.capacity().dependsOnNodes(preemptor.job->spec.preemptible))
    return placer_.tryClaim(*preemptor.job, widest);
  setCharged(victims, false);
  auto placement = placeInQuota(preemptor, widest);
  setCharged(victims, true);
  return placement;
}

bool Preemption::quotaAllowsWithout(const Preemptor& preemptor, const std::vector<Change>& victims) {
  setCharged(victims, false);
  const bool allowed = quotaAllows(preemptor, nullptr);
  setCharged(victims, true);
  return allowed;
}

void Preemption::setCharged(const std::vector<Change>& victims, bool isCharged) {
  for (const Change& each : victims) {
    const Amounts held = heldBy(tree_.capacity(), *each.job, each.remove);
    if (isCharged) {
      tree_.charge(tree_.queueOf(*each.job), held, false);
    } else {
      tree_.discharge(tree_.queueOf(*each.job), held, false);
    }
  }
}

void Preemption::setCharged(const std::vector<Candidate>& candidates, const Chosen& victims, bool isCharged) {
  for (const std::size_t index : victims) {
    if (isCharged) {
      chargeAgain(candidates[index]);
    } else {
      discharge(candidates[index]);
    }
  }
}

// Without a placement, what the preemptor requests is checked; with one, what it holds there.
bool Preemption::quotaAllows(const Preemptor& preemptor, const Placement* placement) const {
  const bool byNodes =
      placement != nullptr && tree_.capacity().dependsOnNodes(preemptor.job->spec.preemptible);
  const Amounts wanted =
      byNodes ? heldBy(tree_.capacity(), *preemptor.job, placement->assignments) : preemptor.demand;
  return !exceededQuota(tree_, preemptor.queue, wanted, preemptor.job->spec.preemptible, Leaving::kIgnored);
}

// Leaves out nodes of a GPU type that the queue may not use more of. For a job that cannot be preempted, the
// members without GPUs leave out nodes with GPUs if the job would hold too much there.
std::optional<Placement> Preemption::placeInQuota(const Preemptor& preemptor, std::size_t widest) {
  AvoidedNodes avoid;
  while (auto placement = placer_.tryClaim(*preemptor.job, widest, avoid)) {
    const Amounts held = heldBy(tree_.capacity(), *preemptor.job, placement->assignments);
    const auto beyond =
        exceededQuota(tree_, preemptor.queue, held, preemptor.job->spec.preemptible, Leaving::kIgnored);
    if (!beyond) return placement;
    if (!avoid.add(tree_.capacity(), beyond->dimension)) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Claim> Preemption::move(const Preemptor& preemptor, std::size_t widest) {
  if (searchedMoves_ || !snapshot_.policy.defragmentation.enabled) return std::nullopt;
  if (!Priorities(snapshot_).mayPreempt(*preemptor.job)) return std::nullopt;
  if (isUnbindable(*preemptor.job, snapshot_.now)) return std::nullopt;
  searchedMoves_ = true;
  auto claim =
      chooseMoves({snapshot_, ledger_, tree_, placer_, ends_, runs_}, preemptor, widest, preemptibleNow());
  if (!claim) return std::nullopt;
  for (const Change& change : claim->releases) preempted_.insert(change.job.get());
  return claim;
}

std::vector<const Candidate*> Preemption::preemptibleNow() {
  listRunning();
  std::vector<const Candidate*> left;
  left.reserve(running_.size());
  for (const Candidate& running : running_) {
    if (running.isWithinMinRuntime || !core::preemptibleNow(*running.job)) continue;
    if (!preempted_.contains(running.job.get())) left.push_back(&running);
  }
  return left;
}

// The gangs that the preemptor may preempt, each taken alone; cheapest first.
std::vector<Candidate> Preemption::candidatesFor(const Preemptor& preemptor) {
  listRunning();
  std::vector<Candidate> candidates;
  // Capacity on other nodes helps only if a quota is exceeded.
  const bool anywhere = beyondLimit(tree_, preemptor.queue, preemptor.demand).has_value();
  std::vector<char> pool;
  for (const std::size_t index : findCandidates(preemptor)) {
    Candidate& running = running_[index];
    if (preempted_.contains(running.job.get())) continue;
    if (running.frees.empty()) running.frees = capacityHeldBy(*running.job, ledger_);
    if (pool.empty()) pool = poolOf(*preemptor.job, ledger_);
    if (anywhere || touches(running.frees, pool)) candidates.push_back(running);
  }
  return candidates;
}

// Indices into running_, ascending. Equal gangs are checked once: thousands of gangs run.
std::vector<std::size_t> Preemption::findCandidates(const Preemptor& preemptor) {
  std::vector<std::size_t> found;
  spend(equivalentGangs_.size());
  for (const EquivalentGangs& equivalent : equivalentGangs_) {
    const Candidate& any = running_[equivalent.front()];
    if (hasRightToPreempt(preemptor, victimOf(any), tree_, shares_))
      found.insert(found.end(), equivalent.begin(), equivalent.end());
  }
  addBackfilled(preemptor, found);
  if (snapshot_.policy.timeSlicing.enabled) addTimeSliced(preemptor, found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void Preemption::addBackfilled(const Preemptor& preemptor, std::vector<std::size_t>& found) {
  for (const std::size_t index : backfilled_) {
    if (preemptsBackfilled(preemptor, victimOf(running_[index]), tree_, snapshot_.now))
      found.push_back(index);
  }
  spend(backfilled_.size());
}

void Preemption::addTimeSliced(const Preemptor& preemptor, std::vector<std::size_t>& found) {
  const std::tuple asked{preemptor.queue, preemptor.priority, preemptor.rank.learnt};
  const auto known = noTimeSliceFor_.find(asked);
  if (known != noTimeSliceFor_.end() && preemptor.rank.expected >= known->second) return;
  const std::vector<std::size_t>& ofQueue = runningOf_[preemptor.queue];
  spend(ofQueue.size());
  bool any = false;
  for (const std::size_t index : ofQueue) {
    if (!mayTimeSlice(preemptor, running_[index])) continue;
    found.push_back(index);
    any = true;
  }
  if (!any) noTimeSliceFor_[asked] = preemptor.rank.expected;
}

// The candidates, cheapest first, that may still be preempted after those before them.
Chosen Preemption::preemptibleTogether(const Preemptor& preemptor, const std::vector<Candidate>& candidates) {
  Chosen together;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!mayPreemptGang(preemptor, candidates[i])) continue;
    discharge(candidates[i]);
    together.push_back(i);
  }
  for (const std::size_t index : together) chargeAgain(candidates[index]);
  return together;
}

// Tries the given order, then the smallest first: a queue may give back its largest gang only as the last.
bool Preemption::mayPreemptAll(const Preemptor& preemptor, const std::vector<Candidate>& candidates,
                               Chosen victims) {
  if (mayPreemptInOrder(preemptor, candidates, victims)) return true;
  std::stable_sort(victims.begin(), victims.end(), [&](std::size_t a, std::size_t b) {
    return candidates[a].job->status.gpus < candidates[b].job->status.gpus;
  });
  return mayPreemptInOrder(preemptor, candidates, victims);
}

bool Preemption::mayPreemptInOrder(const Preemptor& preemptor, const std::vector<Candidate>& candidates,
                                   const Chosen& victims) {
  std::size_t count = 0;
  while (count < victims.size() && mayPreemptGang(preemptor, candidates[victims[count]]))
    discharge(candidates[victims[count++]]);
  for (std::size_t i = 0; i < count; ++i) chargeAgain(candidates[victims[i]]);
  return count == victims.size();
}

void Preemption::discharge(const Candidate& running) { tree_.discharge(running.queue, running.held, false); }

void Preemption::chargeAgain(const Candidate& running) { tree_.charge(running.queue, running.held, false); }

bool Preemption::mayPreemptGang(const Preemptor& preemptor, const Candidate& running) {
  if (preemptsBackfilled(preemptor, victimOf(running), tree_, snapshot_.now)) return true;
  if (running.isWithinMinRuntime) return false;
  return hasRightToPreempt(preemptor, victimOf(running), tree_, shares_) || mayTimeSlice(preemptor, running);
}

bool Preemption::mayTimeSlice(const Preemptor& preemptor, const Candidate& running) {
  return mayPreemptByTimeSlice(preemptor, *running.job, running.priority, running.queue, tree_, snapshot_) &&
         isAhead(preemptor, rankOf(running));
}

Rank Preemption::rankOf(const Candidate& running) {
  const auto [rank, isNew] = ranks_.try_emplace(running.job.get());
  if (isNew) rank->second = rankOf_(*running.job, running.priority);
  return rank->second;
}

std::optional<JobPtr> Preemption::takeOver(const Preemptor& preemptor, std::size_t widest) {
  if (tookOver_) return std::nullopt;
  const auto& queue = tree_.node(preemptor.queue).queue;
  if (queue != nullptr && (*queue)->withinQueue == model::WithinQueue::kNever) return std::nullopt;
  const Priorities priorities(snapshot_);
  if (!anyClaiming() || !priorities.mayPreempt(*preemptor.job)) return std::nullopt;
  for (const JobPtr& job : *claiming_) {
    if (tree_.queueOf(*job) != preemptor.queue) continue;
    if (priorities.of(*job) >= preemptor.priority || !fitsWithout(*job, preemptor, widest)) continue;
    tookOver_ = true;
    return job;
  }
  return std::nullopt;
}

bool Preemption::anyRunning() {
  listRunning();
  return !running_.empty() || !elastic_.empty();
}

bool Preemption::anyClaiming() {
  if (!claiming_) {
    claiming_.emplace();
    for (const JobPtr& job : notes_.proposing()) {
      const model::Proposal& proposal = *job->status.gang.proposal;
      const bool claims =
          proposal.kind == model::ProposalKind::kStart && proposal.phase == model::ProposalPhase::kClaiming;
      if (claims) claiming_->push_back(job);
    }
  }
  return !claiming_->empty();
}

bool Preemption::anyClaimingBelow(QueueTree::Index queue, int priority) {
  if (!anyClaiming()) return false;
  const Priorities priorities(snapshot_);
  return std::any_of(claiming_->begin(), claiming_->end(), [&](const JobPtr& job) {
    return tree_.queueOf(*job) == queue && priorities.of(*job) < priority;
  });
}

// Whether `asking` has a placement within its queue's quota once the other claim is given up.
bool Preemption::fitsWithout(const Job& other, const Preemptor& asking, std::size_t widest) {
  const NodeAmounts amounts = amountsOf(other, other.status.gang.proposal->add, ledger_);
  WhatIf victims(ledger_);
  victims.release(amounts);
  const QueueTree::Index queue = tree_.queueOf(other);
  const Amounts held = holdingsOf(tree_.capacity(), other);
  const bool nonPreemptible = !model::chargedPreemptible(other);
  tree_.discharge(queue, held, nonPreemptible);
  auto placement = quotaAllows(asking, nullptr) ? placeInQuotaWithout(asking, widest, {}) : std::nullopt;
  const bool fits = placement && !waitsForTerminating(asking, {std::move(*placement), {}});
  tree_.charge(queue, held, nonPreemptible);
  return fits;
}

void Preemption::wakeAt(std::optional<base::WallTime> time) {
  if (time && (!wakeAt_ || *time < *wakeAt_)) wakeAt_ = time;
}

void Preemption::listRunning() {
  if (listed_) return;
  listed_ = true;
  const Priorities priorities(snapshot_);
  const auto claimed = claimedGangs(notes_.proposing(), snapshot_.pods);
  for (const auto& [job, facts] : notes_.holders()) {
    if (!preemptible(*job) || (!claimed.empty() && claimed.contains(job->key))) continue;
    const bool atPeace = core::preemptibleNow(*job);
    if (atPeace && job->spec.elastic) listElastic(job, priorities.of(*job));
    const base::WallTime started = startedSince(*job, snapshot_.now);
    const base::WallTime from = started + snapshot_.policy.preemption.minRuntime;
    const bool isWithinMinRuntime = from > snapshot_.now;
    const auto& charge = job->status.gang.charge;
    const bool hasCondition = charge && !charge->backfilled.empty();
    if (isWithinMinRuntime) wakeAt(from);
    if (hasCondition) wakeAt(nextCondition(*charge, snapshot_.now));
    if (isWithinMinRuntime && !hasCondition) continue;
    if (atPeace) wakeAt(timeSliceEnds(*job, started, snapshot_));
    const base::WallTime placed = facts.placedSince.value_or(snapshot_.now);
    const QueueTree::Index queue = tree_.queueOf(*job);
    const base::WallTime unprotectedFrom = protectedUntil(*job, snapshot_);
    if (unprotectedFrom > snapshot_.now) wakeAt(unprotectedFrom);
    running_.push_back(
        {.job = job,
         .priority = priorities.of(*job),
         .queue = queue,
         .cost = base::saturatingAdd(lostWork(*job, placed, snapshot_), preemptionPenalty(*job)),
         .held = holdingsOf(tree_.capacity(), *job),
         .isWithinMinRuntime = isWithinMinRuntime,
         .isUnprotected = unprotectedFrom <= snapshot_.now,
         .isStarting = !job->status.gang.placed});
  }
  sortByCost(running_);
  sortByCost(elastic_);
  groupEquivalent();
}

void Preemption::groupEquivalent() {
  std::map<std::tuple<QueueTree::Index, int, bool, Amounts>, std::size_t> known;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const Candidate& running = running_[i];
    const auto& charge = running.job->status.gang.charge;
    if (charge && !charge->backfilled.empty()) backfilled_.push_back(i);
    if (running.isWithinMinRuntime) continue;
    const QueueTree::Index queue = running.queue;
    const auto [at, isNew] = known.try_emplace({queue, running.priority, running.isUnprotected, running.held},
                                               equivalentGangs_.size());
    if (isNew) equivalentGangs_.emplace_back();
    equivalentGangs_[at->second].push_back(i);
    if (isCheckpointable(running.job->spec)) runningOf_[queue].push_back(i);
  }
}

bool Preemption::isHolder(const Job& job) {
  listRunning();
  return std::any_of(backfilled_.begin(), backfilled_.end(), [&](std::size_t index) {
    return model::backfillCondition(*running_[index].job, job) != nullptr;
  });
}

void Preemption::spend(std::size_t rights) {
  placer_.budget().spend(static_cast<std::int64_t>(rights) / kRightsForANode + 1);
}

}  // namespace trainyard::core
