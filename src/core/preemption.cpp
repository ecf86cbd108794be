#include "core/preemption.h"

#include <algorithm>
#include <utility>

#include "core/claims.h"
#include "core/priority.h"
#include "core/what_if.h"

namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = Preemption::JobPtr;

constexpr int kSearchesPerCycle = 4;
// Questions whether one may stop another; some 10 ms.
constexpr std::size_t kRightsPerCycle = 100'000;

}  // namespace

std::int64_t lostWork(const Job& job, const model::Snapshot& snapshot) {
  const auto ran = std::min<base::WallTime::duration>(snapshot.now - placedSince(job, snapshot.now),
                                                      snapshot.policy.preemption.maxLostWork);
  return std::chrono::duration_cast<std::chrono::seconds>(ran).count() *
         std::max<std::int64_t>(job.status.gpus, 1);
}

std::optional<Claim> Preemption::claim(const Claimant& claimant, std::size_t widest) {
  if (searches_ >= kSearchesPerCycle || rightsAsked_ > kRightsPerCycle) return std::nullopt;
  const std::vector<Evictable> candidates = evictables(claimant);
  if (candidates.empty()) return std::nullopt;
  ++searches_;
  const auto quotaAllows = [&](const std::vector<std::size_t>& gone) {
    return quotaAllowsWithout(claimant, candidates, gone);
  };
  const auto tryPlace = [&] { return placer_.tryPlace(*claimant.job, widest); };
  auto choice = chooseVictims(candidates, ledger_, tryPlace, quotaAllows);
  if (!choice) return std::nullopt;
  Claim claim{std::move(choice->placement), {}};
  for (const std::size_t index : choice->victims) {
    const JobPtr& victim = candidates[index].job;
    stopped_.insert(victim.get());
    tree_.discharge(*tree_.find(victim->spec.queue), tree_.holdingsOf(*victim), false);
    claim.victims.push_back(victim);
  }
  return claim;
}

// Whom the claimant may stop, cheapest first, each judged as if those before it were gone.
std::vector<Evictable> Preemption::evictables(const Claimant& claimant) {
  listRunning();
  std::vector<Evictable> candidates;
  std::vector<std::pair<QueueTree::Index, QueueTree::Amounts>> gone;
  rightsAsked_ += running_.size();
  for (const Evictable& running : running_) {
    if (stopped_.contains(running.job.get())) continue;
    const QueueTree::Amounts held = tree_.holdingsOf(*running.job);
    if (!mayStop(claimant, *running.job, running.priority, held, tree_, snapshot_)) continue;
    const QueueTree::Index queue = *tree_.find(running.job->spec.queue);
    tree_.discharge(queue, held, false);
    gone.emplace_back(queue, held);
    candidates.push_back(running);
  }
  for (const auto& [queue, held] : gone) tree_.charge(queue, held, false);
  return candidates;
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
  NodeAmounts places;
  for (const model::Assignment& assignment : claimant.status.gang.proposal->add) {
    const model::Role* role = claimant.spec.findRole(assignment.role);
    const auto node = ledger_.find(assignment.node);
    if (role == nullptr || !node) continue;
    places.emplace_back(*node,
                        role->shape.requests.times(static_cast<std::int64_t>(assignment.indices.size())));
  }
  WhatIf gone(ledger_);
  gone.release(places);
  return placer_.tryPlace(*asking.job, widest).has_value();
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
      wakeAt_ = wakeAt_ ? std::min(*wakeAt_, *from) : *from;
      continue;
    }
    running_.push_back({job, priorities.of(*job), lostWork(*job, snapshot_), roomHeldBy(*job, ledger_)});
  }
  sortByCost(running_);
}

bool Preemption::quotaAllowsWithout(const Claimant& claimant, const std::vector<Evictable>& candidates,
                                    const std::vector<std::size_t>& gone) {
  for (const std::size_t index : gone) {
    const Job& victim = *candidates[index].job;
    tree_.discharge(*tree_.find(victim.spec.queue), tree_.holdingsOf(victim), false);
  }
  const bool firm = !claimant.job->spec.preemptible;
  const bool allowed = !tree_.beyondLimit(claimant.queue, claimant.demand) &&
                       !(firm && tree_.beyondFirm(claimant.queue, claimant.demand));
  for (const std::size_t index : gone) {
    const Job& victim = *candidates[index].job;
    tree_.charge(*tree_.find(victim.spec.queue), tree_.holdingsOf(victim), false);
  }
  return allowed;
}

}  // namespace trainyard::core
