#include "core/preemption/preemption.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/ledger/what_if.h"
#include "core/preemption/claims.h"
#include "core/queues/priority.h"

namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = Preemption::JobPtr;

constexpr int kSearchesPerCycle = 4;
// Questions whether one may stop another; some 10 ms.
constexpr std::size_t kRightsPerCycle = 100'000;

}  // namespace

std::optional<Claim> Preemption::claim(const Claimant& claimant, std::size_t widest) {
  if (searches_ >= kSearchesPerCycle || rightsAsked_ > kRightsPerCycle) return std::nullopt;
  const std::vector<Evictable> candidates = evictables(claimant);
  if (candidates.empty()) return std::nullopt;
  ++searches_;
  auto choice =
      chooseVictims({candidates, stoppableTogether(claimant, candidates), ledger_,
                     [&] { return placer_.tryPlace(*claimant.job, widest); },
                     [&](const Chosen& gone) { return quotaAllowsWithout(claimant, candidates, gone); },
                     [&](const Chosen& gone) { return mayStopAll(claimant, candidates, gone); }});
  if (!choice) return std::nullopt;
  Claim claim{std::move(choice->placement), {}};
  for (const std::size_t index : choice->victims) {
    const Evictable& victim = candidates[index];
    stopped_.insert(victim.job.get());
    discharge(victim);
    claim.victims.push_back(victim.job);
  }
  return claim;
}

std::vector<Evictable> Preemption::stoppable() {
  listRunning();
  std::vector<Evictable> left;
  for (const Evictable& running : running_) {
    if (!stopped_.contains(running.job.get())) left.push_back(running);
  }
  return left;
}

// Whom the claimant may stop, were it the only one; cheapest first.
std::vector<Evictable> Preemption::evictables(const Claimant& claimant) {
  listRunning();
  std::vector<Evictable> candidates;
  for (const std::size_t index : whomMayStop(claimant)) {
    Evictable& running = running_[index];
    if (stopped_.contains(running.job.get())) continue;
    if (running.holds.empty()) running.holds = roomHeldBy(*running.job, ledger_);
    candidates.push_back(running);
  }
  return candidates;
}

// Indices into running_, ascending. One question for all that are alike: there are thousands that run.
std::vector<std::size_t> Preemption::whomMayStop(const Claimant& claimant) {
  std::vector<std::size_t> found;
  if (claimant.isHead) {
    rightsAsked_ += running_.size();
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (mayTakeFrom(claimant, running_[i])) found.push_back(i);
    }
    return found;
  }
  rightsAsked_ += alike_.size();
  for (const Alike& alike : alike_) {
    const Evictable& any = running_[alike.front()];
    if (mayStop(claimant, *any.job, any.priority, any.held, tree_, snapshot_))
      found.insert(found.end(), alike.begin(), alike.end());
  }
  if (takesTurns(snapshot_.policy)) addTurns(claimant, found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void Preemption::addTurns(const Claimant& claimant, std::vector<std::size_t>& found) {
  const auto known = noTurnFor_.find({claimant.queue, claimant.priority});
  if (known != noTurnFor_.end() && claimant.rank.expected >= known->second) return;
  const std::vector<std::size_t>& ofQueue = runningOf_[claimant.queue];
  rightsAsked_ += ofQueue.size();
  bool any = false;
  for (const std::size_t index : ofQueue) {
    if (!mayTakeTurn(claimant, running_[index])) continue;
    found.push_back(index);
    any = true;
  }
  if (!any) noTurnFor_[{claimant.queue, claimant.priority}] = claimant.rank.expected;
}

// Of these, cheapest first, whoever may still be stopped when those before are gone.
Preemption::Chosen Preemption::stoppableTogether(const Claimant& claimant,
                                                 const std::vector<Evictable>& candidates) {
  Chosen together;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!mayTakeFrom(claimant, candidates[i])) continue;
    discharge(candidates[i]);
    together.push_back(i);
  }
  for (const std::size_t index : together) chargeAgain(candidates[index]);
  return together;
}

// In some order: as given, or the smallest first, so that the largest is the last that a queue gives back.
bool Preemption::mayStopAll(const Claimant& claimant, const std::vector<Evictable>& candidates, Chosen gone) {
  if (mayStopInTurn(claimant, candidates, gone)) return true;
  std::stable_sort(gone.begin(), gone.end(), [&](std::size_t a, std::size_t b) {
    return candidates[a].job->status.gpus < candidates[b].job->status.gpus;
  });
  return mayStopInTurn(claimant, candidates, gone);
}

bool Preemption::mayStopInTurn(const Claimant& claimant, const std::vector<Evictable>& candidates,
                               const Chosen& gone) {
  std::size_t count = 0;
  while (count < gone.size() && mayTakeFrom(claimant, candidates[gone[count]]))
    discharge(candidates[gone[count++]]);
  for (std::size_t i = 0; i < count; ++i) chargeAgain(candidates[gone[i]]);
  return count == gone.size();
}

void Preemption::discharge(const Evictable& running) {
  tree_.discharge(*tree_.find(running.job->spec.queue), running.held, false);
}

void Preemption::chargeAgain(const Evictable& running) {
  tree_.charge(*tree_.find(running.job->spec.queue), running.held, false);
}

bool Preemption::mayTakeFrom(const Claimant& claimant, const Evictable& running) {
  if (mayStop(claimant, *running.job, running.priority, running.held, tree_, snapshot_)) return true;
  return mayTakeTurn(claimant, running);
}

bool Preemption::mayTakeTurn(const Claimant& claimant, const Evictable& running) {
  if (!mayTakeTurns(claimant, *running.job, running.priority, tree_, snapshot_)) return false;
  const auto [rank, isNew] = ranks_.try_emplace(running.job.get());
  if (isNew) rank->second = rankOf_(*running.job, running.priority);
  return isAhead(claimant, rank->second);
}

std::optional<JobPtr> Preemption::takeOver(const Claimant& claimant, std::size_t widest) {
  if (tookOver_) return std::nullopt;
  const auto& queue = tree_.node(claimant.queue).queue;
  if (queue != nullptr && (*queue)->withinQueue == model::WithinQueue::kNever) return std::nullopt;
  const Priorities priorities(snapshot_);
  if (!anyClaiming()) return std::nullopt;
  for (const JobPtr& job : *claiming_) {
    if (job->spec.queue != claimant.job->spec.queue) continue;
    if (priorities.of(*job) >= claimant.priority || !fitsWithout(*job, claimant, widest)) continue;
    tookOver_ = true;
    return job;
  }
  return std::nullopt;
}

bool Preemption::anyRunning() {
  listRunning();
  return !running_.empty();
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

// Whether `asking` has places once those of the other's claim are free.
bool Preemption::fitsWithout(const Job& claimant, const Claimant& asking, std::size_t widest) {
  const NodeAmounts places = amountsOf(claimant, claimant.status.gang.proposal->add, ledger_);
  WhatIf gone(ledger_);
  gone.release(places);
  return placer_.tryPlace(*asking.job, widest).has_value();
}

void Preemption::wakeAt(std::optional<base::WallTime> time) {
  if (time && (!wakeAt_ || *time < *wakeAt_)) wakeAt_ = time;
}

void Preemption::listRunning() {
  if (listed_) return;
  listed_ = true;
  const Priorities priorities(snapshot_);
  const auto claimed = claimedGangs(notes_.proposing(), snapshot_.pods);
  for (const JobPtr& job : notes_.stoppable()) {
    const auto from = stoppableFrom(*job, snapshot_);
    if (!from || claimed.contains(job->key)) continue;
    if (*from > snapshot_.now) {
      wakeAt(from);
      continue;
    }
    wakeAt(turnEnds(*job, snapshot_));
    running_.push_back({job, priorities.of(*job), lostWork(*job, snapshot_), tree_.holdingsOf(*job)});
  }
  sortByCost(running_);
  listAlike();
}

void Preemption::listAlike() {
  std::map<std::tuple<QueueTree::Index, int, QueueTree::Amounts>, std::size_t> known;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const Evictable& running = running_[i];
    const QueueTree::Index queue = tree_.find(running.job->spec.queue).value_or(QueueTree::kCluster);
    const auto [at, isNew] = known.try_emplace({queue, running.priority, running.held}, alike_.size());
    if (isNew) alike_.emplace_back();
    alike_[at->second].push_back(i);
    runningOf_[queue].push_back(i);
  }
}

bool Preemption::quotaAllowsWithout(const Claimant& claimant, const std::vector<Evictable>& candidates,
                                    const Chosen& gone) {
  for (const std::size_t index : gone) discharge(candidates[index]);
  const bool nonPreemptible = !claimant.job->spec.preemptible;
  const bool allowed = !tree_.beyondLimit(claimant.queue, claimant.demand) &&
                       !(nonPreemptible && tree_.beyondNonPreemptible(claimant.queue, claimant.demand));
  for (const std::size_t index : gone) chargeAgain(candidates[index]);
  return allowed;
}

}  // namespace trainyard::core
