#include "core/preemption/preemption.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "core/ledger/what_if.h"
#include "core/order/stop_cost.h"
#include "core/preemption/claims.h"
#include "core/preemption/guarantee_deficit.h"
#include "core/preemption/moves.h"
#include "core/queues/guarantee.h"
#include "core/queues/priority.h"
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
std::int64_t grievanceOf(const Job& job) {
  constexpr int kMostCounted = 10;
  constexpr std::int64_t kHalfAnHour = 1'800;
  const int count = std::clamp(job.status.preemptions.byOtherQueues, 0, kMostCounted);
  return base::saturatingMultiply(kHalfAnHour * ((1 << count) - 1),
                                  std::max<std::int64_t>(job.status.gpus, 1));
}

Victim victimOf(const Concession& running) {
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

std::optional<Claim> Preemption::claim(const Claimant& claimant, std::size_t widest) {
  lastHadNobody_ = false;
  if (placer_.budget().exhausted() || isUnbindable(*claimant.job, snapshot_.now)) return std::nullopt;
  if (auto shrunk = claimShrinking(claimant, widest)) return shrunk;
  if (tooEarly_) return std::nullopt;
  const bool mayPreempt = Priorities(snapshot_).mayPreempt(*claimant.job);
  const std::vector<Concession> candidates = mayPreempt ? concessions(claimant) : std::vector<Concession>();
  if (candidates.empty()) {
    lastHadNobody_ = elastic_.empty();
    return std::nullopt;
  }
  GuaranteeDeficit deficit(tree_, claimant.queue, candidates);
  auto choice = chooseStops({*claimant.job, claimant.queue, claimant.demand[0], widest, candidates,
                             stoppableTogether(claimant, candidates), ledger_, placer_,
                             [&](const Chosen& gone, const Placement* placement) {
                               leave(candidates, gone, false);
                               const bool allowed = quotaAllows(claimant, placement);
                               leave(candidates, gone, true);
                               return allowed;
                             },
                             [&](const Chosen& gone) {
                               if (!tree_.dependsOnPlaces(claimant.job->spec.preemptible))
                                 return placer_.tryClaim(*claimant.job, widest);
                               leave(candidates, gone, false);
                               auto placement = placeInQuota(claimant, widest);
                               leave(candidates, gone, true);
                               return placement;
                             },
                             [&](const Chosen& gone) { return mayStopAll(claimant, candidates, gone); },
                             [&](const Chosen& gone) { return deficit.of(gone); }});
  if (!choice) return std::nullopt;
  Claim claim{std::move(choice->placement), {}};
  for (const std::size_t index : choice->victims) {
    const Concession& victim = candidates[index];
    if (victim.isStarting) {
      claim.yields.push_back(victim.job);
      continue;
    }
    claim.concessions.push_back({.job = victim.job,
                                 .kind = ChangeKind::kStop,
                                 .remove = victim.job->status.gang.placed->assignments,
                                 .pays = claimant.job->key,
                                 .byOtherQueue = victim.queue != claimant.queue});
  }
  if (!claim.yields.empty()) {
    // No other gang is preempted before these starts are given up.
    for (const JobPtr& each : claim.yields) stopped_.insert(each.get());
    return claim;
  }
  spareMembers(claimant, widest, claim);
  if (comesTooEarly(claimant, claim) || outgrowsGuarantee(claimant, claim)) return std::nullopt;
  giveAway(claim);
  return claim;
}

bool Preemption::hasNobody(QueueTree::Index queue, const Rank& rank, bool mayPreempt) {
  if (!mayPreempt) return true;
  const auto known = noTurnFor_.find({queue, rank.priority, rank.learnt});
  if (known == noTurnFor_.end() || rank.expected < known->second) return false;
  spend(alike_.size());
  return true;
}

bool Preemption::comesTooEarly(const Claimant& claimant, const Claim& claim) {
  leave(claim.concessions, false);
  const QueueTree::Amounts wanted =
      tree_.namesTypes() ? tree_.heldBy(*claimant.job, claim.placement.assignments) : claimant.demand;
  tooEarly_ = tree_.beyondLimitYet(claimant.queue, wanted).has_value();
  leave(claim.concessions, true);
  return tooEarly_;
}

// What members without GPUs hold beside GPUs depends on the nodes. A claim by a guarantee has to stay within
// it there, too: else the gang could be preempted at once in turn.
bool Preemption::outgrowsGuarantee(const Claimant& claimant, const Claim& claim) {
  const auto& roles = claimant.job->spec.roles;
  const bool depends = tree_.dependsOnPlaces(false) &&
                       std::any_of(roles.begin(), roles.end(),
                                   [](const auto& role) { return role.shape.requests.gpus() <= 0; });
  const auto& gone = claim.concessions;
  const bool takesFromOthers = std::any_of(gone.begin(), gone.end(), [&](const Change& each) {
    return tree_.queueOf(*each.job) != claimant.queue;
  });
  if (!depends || !takesFromOthers) return false;
  leave(gone, false);
  const QueueTree::Amounts held = tree_.heldBy(*claimant.job, claim.placement.assignments);
  const auto outgrows = [&](Bound bound) {
    return isWithinGuarantee(tree_, claimant.queue, claimant.demand, bound) &&
           !isWithinGuarantee(tree_, claimant.queue, held, bound);
  };
  const bool outgrown = outgrows(Bound::kInProportion) || outgrows(Bound::kAtMost);
  leave(gone, true);
  return outgrown;
}

void Preemption::giveAway(const Claim& claim) {
  for (const Change& each : claim.concessions) {
    stopped_.insert(each.job.get());
    tree_.giveUp(tree_.queueOf(*each.job), tree_.heldBy(*each.job, each.remove));
  }
}

void Preemption::withdraw(const Claim& claim) {
  for (const Change& each : claim.concessions) {
    stopped_.erase(each.job.get());
    tree_.takeBack(tree_.queueOf(*each.job), tree_.heldBy(*each.job, each.remove));
  }
}

std::optional<Placement> Preemption::placedBeside(const Claimant& claimant, std::size_t widest,
                                                  const std::vector<Change>& gone) {
  if (placer_.budget().exhausted() || !quotaAllowsBeside(claimant, gone)) return std::nullopt;
  std::vector<NodeAmounts> rooms;
  for (const Change& each : gone) {
    rooms.push_back(each.kind == ChangeKind::kStop ? roomHeldBy(*each.job, ledger_)
                                                   : amountsOf(*each.job, each.remove, ledger_));
  }
  WhatIf without(ledger_);
  for (const NodeAmounts& room : rooms) without.release(room);
  return placeBeside(claimant, widest, gone);
}

// Places the preemptor in the ledger as it is; quotas count these changes as done.
std::optional<Placement> Preemption::placeBeside(const Claimant& claimant, std::size_t widest,
                                                 const std::vector<Change>& gone) {
  if (!tree_.dependsOnPlaces(claimant.job->spec.preemptible)) return placer_.tryClaim(*claimant.job, widest);
  leave(gone, false);
  auto placement = placeInQuota(claimant, widest);
  leave(gone, true);
  return placement;
}

bool Preemption::quotaAllowsBeside(const Claimant& claimant, const std::vector<Change>& gone) {
  leave(gone, false);
  const bool allowed = quotaAllows(claimant, nullptr);
  leave(gone, true);
  return allowed;
}

void Preemption::leave(const std::vector<Change>& gone, bool isBack) {
  for (const Change& each : gone) {
    const QueueTree::Amounts held = tree_.heldBy(*each.job, each.remove);
    if (isBack) {
      tree_.charge(tree_.queueOf(*each.job), held, false);
    } else {
      tree_.discharge(tree_.queueOf(*each.job), held, false);
    }
  }
}

void Preemption::leave(const std::vector<Concession>& candidates, const Chosen& gone, bool isBack) {
  for (const std::size_t index : gone) {
    if (isBack) {
      chargeAgain(candidates[index]);
    } else {
      discharge(candidates[index]);
    }
  }
}

// Without a placement, what the preemptor requests is checked; with one, what it holds there.
bool Preemption::quotaAllows(const Claimant& claimant, const Placement* placement) const {
  const bool byPlaces = placement != nullptr && tree_.dependsOnPlaces(claimant.job->spec.preemptible);
  const QueueTree::Amounts wanted =
      byPlaces ? tree_.heldBy(*claimant.job, placement->assignments) : claimant.demand;
  return !tree_.beyondLimit(claimant.queue, wanted) &&
         (claimant.job->spec.preemptible || !tree_.beyondNonPreemptible(claimant.queue, wanted));
}

// Leaves out nodes of a GPU type that the queue may not use more of. For a job that cannot be preempted it
// also leaves out GPU nodes on which the job would hold too much.
std::optional<Placement> Preemption::placeInQuota(const Claimant& claimant, std::size_t widest) {
  std::vector<model::NodeName> avoid;
  while (auto placement = placer_.tryClaim(*claimant.job, widest, avoid)) {
    const QueueTree::Amounts held = tree_.heldBy(*claimant.job, placement->assignments);
    auto beyond = tree_.beyondLimit(claimant.queue, held);
    if (!beyond && !claimant.job->spec.preemptible) beyond = tree_.beyondNonPreemptible(claimant.queue, held);
    if (!beyond) return placement;
    const auto nodes = tree_.nodesOfType(beyond->dimension);
    if (nodes.empty()) return std::nullopt;
    avoid.insert(avoid.end(), nodes.begin(), nodes.end());
  }
  return std::nullopt;
}

std::optional<Claim> Preemption::move(const Claimant& claimant, std::size_t widest) {
  if (askedToMove_ || !snapshot_.policy.defragmentation.enabled) return std::nullopt;
  if (!Priorities(snapshot_).mayPreempt(*claimant.job)) return std::nullopt;
  if (isUnbindable(*claimant.job, snapshot_.now)) return std::nullopt;
  askedToMove_ = true;
  auto claim = chooseMoves({snapshot_, ledger_, tree_, placer_, ends_, runs_}, claimant, widest, stoppable());
  if (!claim) return std::nullopt;
  for (const Change& change : claim->concessions) stopped_.insert(change.job.get());
  return claim;
}

std::vector<const Concession*> Preemption::stoppable() {
  listRunning();
  std::vector<const Concession*> left;
  left.reserve(running_.size());
  for (const Concession& running : running_) {
    if (running.isYoung || !core::stoppable(*running.job)) continue;
    if (!stopped_.contains(running.job.get())) left.push_back(&running);
  }
  return left;
}

// The gangs that the preemptor may preempt, each taken alone; cheapest first.
std::vector<Concession> Preemption::concessions(const Claimant& claimant) {
  listRunning();
  std::vector<Concession> candidates;
  // Capacity on other nodes helps only if a quota is exceeded.
  const bool anywhere = tree_.beyondLimit(claimant.queue, claimant.demand).has_value();
  std::vector<char> pool;
  for (const std::size_t index : whomMayStop(claimant)) {
    Concession& running = running_[index];
    if (stopped_.contains(running.job.get())) continue;
    if (running.frees.empty()) running.frees = roomHeldBy(*running.job, ledger_);
    if (pool.empty()) pool = poolOf(*claimant.job, ledger_);
    if (anywhere || touches(running.frees, pool)) candidates.push_back(running);
  }
  return candidates;
}

// Indices into running_, ascending. Equal gangs are checked once: thousands of gangs run.
std::vector<std::size_t> Preemption::whomMayStop(const Claimant& claimant) {
  std::vector<std::size_t> found;
  spend(alike_.size());
  for (const Alike& alike : alike_) {
    const Concession& any = running_[alike.front()];
    if (outranks(claimant, victimOf(any), tree_, shares_))
      found.insert(found.end(), alike.begin(), alike.end());
  }
  addBackfilled(claimant, found);
  if (snapshot_.policy.timeSlicing.enabled) addTurns(claimant, found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void Preemption::addBackfilled(const Claimant& claimant, std::vector<std::size_t>& found) {
  for (const std::size_t index : backfilled_) {
    if (preemptsBackfilled(claimant, victimOf(running_[index]), tree_, snapshot_.now)) found.push_back(index);
  }
  spend(backfilled_.size());
}

void Preemption::addTurns(const Claimant& claimant, std::vector<std::size_t>& found) {
  const std::tuple asked{claimant.queue, claimant.priority, claimant.rank.learnt};
  const auto known = noTurnFor_.find(asked);
  if (known != noTurnFor_.end() && claimant.rank.expected >= known->second) return;
  const std::vector<std::size_t>& ofQueue = runningOf_[claimant.queue];
  spend(ofQueue.size());
  bool any = false;
  for (const std::size_t index : ofQueue) {
    if (!mayTakeTurn(claimant, running_[index])) continue;
    found.push_back(index);
    any = true;
  }
  if (!any) noTurnFor_[asked] = claimant.rank.expected;
}

// The candidates, cheapest first, that may still be preempted after those before them.
Chosen Preemption::stoppableTogether(const Claimant& claimant, const std::vector<Concession>& candidates) {
  Chosen together;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!mayTakeFrom(claimant, candidates[i])) continue;
    discharge(candidates[i]);
    together.push_back(i);
  }
  for (const std::size_t index : together) chargeAgain(candidates[index]);
  return together;
}

// Tries the given order, then the smallest first: a queue may give back its largest gang only as the last.
bool Preemption::mayStopAll(const Claimant& claimant, const std::vector<Concession>& candidates,
                            Chosen gone) {
  if (mayStopInTurn(claimant, candidates, gone)) return true;
  std::stable_sort(gone.begin(), gone.end(), [&](std::size_t a, std::size_t b) {
    return candidates[a].job->status.gpus < candidates[b].job->status.gpus;
  });
  return mayStopInTurn(claimant, candidates, gone);
}

bool Preemption::mayStopInTurn(const Claimant& claimant, const std::vector<Concession>& candidates,
                               const Chosen& gone) {
  std::size_t count = 0;
  while (count < gone.size() && mayTakeFrom(claimant, candidates[gone[count]]))
    discharge(candidates[gone[count++]]);
  for (std::size_t i = 0; i < count; ++i) chargeAgain(candidates[gone[i]]);
  return count == gone.size();
}

void Preemption::discharge(const Concession& running) { tree_.discharge(running.queue, running.held, false); }

void Preemption::chargeAgain(const Concession& running) { tree_.charge(running.queue, running.held, false); }

bool Preemption::mayTakeFrom(const Claimant& claimant, const Concession& running) {
  if (preemptsBackfilled(claimant, victimOf(running), tree_, snapshot_.now)) return true;
  if (running.isYoung) return false;
  return outranks(claimant, victimOf(running), tree_, shares_) || mayTakeTurn(claimant, running);
}

bool Preemption::mayTakeTurn(const Claimant& claimant, const Concession& running) {
  return mayTakeTurns(claimant, *running.job, running.priority, running.queue, tree_, snapshot_) &&
         isAhead(claimant, rankOf(running));
}

Rank Preemption::rankOf(const Concession& running) {
  const auto [rank, isNew] = ranks_.try_emplace(running.job.get());
  if (isNew) rank->second = rankOf_(*running.job, running.priority);
  return rank->second;
}

std::optional<JobPtr> Preemption::takeOver(const Claimant& claimant, std::size_t widest) {
  if (tookOver_) return std::nullopt;
  const auto& queue = tree_.node(claimant.queue).queue;
  if (queue != nullptr && (*queue)->withinQueue == model::WithinQueue::kNever) return std::nullopt;
  const Priorities priorities(snapshot_);
  if (!anyClaiming() || !priorities.mayPreempt(*claimant.job)) return std::nullopt;
  for (const JobPtr& job : *claiming_) {
    if (tree_.queueOf(*job) != claimant.queue) continue;
    if (priorities.of(*job) >= claimant.priority || !fitsWithout(*job, claimant, widest)) continue;
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
bool Preemption::fitsWithout(const Job& other, const Claimant& asking, std::size_t widest) {
  const NodeAmounts places = amountsOf(other, other.status.gang.proposal->add, ledger_);
  WhatIf gone(ledger_);
  gone.release(places);
  const QueueTree::Index queue = tree_.queueOf(other);
  const QueueTree::Amounts held = tree_.holdingsOf(other);
  const bool nonPreemptible = !model::chargedPreemptible(other);
  tree_.discharge(queue, held, nonPreemptible);
  auto placement = quotaAllows(asking, nullptr) ? placeBeside(asking, widest, {}) : std::nullopt;
  const bool fits = placement && !comesTooEarly(asking, {std::move(*placement), {}});
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
    const bool atPeace = core::stoppable(*job);
    if (atPeace && job->spec.elastic) listElastic(job, priorities.of(*job));
    const base::WallTime started = startedSince(*job, snapshot_.now);
    const base::WallTime from = started + snapshot_.policy.preemption.minRuntime;
    const bool isYoung = from > snapshot_.now;
    const auto& charge = job->status.gang.charge;
    const bool hasCondition = charge && !charge->backfilled.empty();
    if (isYoung) wakeAt(from);
    if (hasCondition) wakeAt(nextCondition(*charge, snapshot_.now));
    if (isYoung && !hasCondition) continue;
    if (atPeace) wakeAt(turnEnds(*job, started, snapshot_));
    const base::WallTime placed = facts.placedSince.value_or(snapshot_.now);
    const QueueTree::Index queue = tree_.queueOf(*job);
    const base::WallTime unprotectedFrom = protectedUntil(*job, snapshot_);
    if (unprotectedFrom > snapshot_.now) wakeAt(unprotectedFrom);
    running_.push_back({.job = job,
                        .priority = priorities.of(*job),
                        .queue = queue,
                        .cost = base::saturatingAdd(lostWork(*job, placed, snapshot_), grievanceOf(*job)),
                        .held = tree_.holdingsOf(*job),
                        .isYoung = isYoung,
                        .isUnprotected = unprotectedFrom <= snapshot_.now,
                        .isStarting = !job->status.gang.placed});
  }
  sortByCost(running_);
  sortByCost(elastic_);
  listAlike();
}

void Preemption::listAlike() {
  std::map<std::tuple<QueueTree::Index, int, bool, QueueTree::Amounts>, std::size_t> known;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const Concession& running = running_[i];
    const auto& charge = running.job->status.gang.charge;
    if (charge && !charge->backfilled.empty()) backfilled_.push_back(i);
    if (running.isYoung) continue;
    const QueueTree::Index queue = running.queue;
    const auto [at, isNew] =
        known.try_emplace({queue, running.priority, running.isUnprotected, running.held}, alike_.size());
    if (isNew) alike_.emplace_back();
    alike_[at->second].push_back(i);
    if (survivesStops(running.job->spec)) runningOf_[queue].push_back(i);
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
