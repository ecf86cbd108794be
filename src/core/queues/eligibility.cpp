#include "core/queues/eligibility.h"

#include <algorithm>

#include "core/queues/guarantee.h"
#include "core/queues/queue_share.h"
#include "model/charge.h"

namespace trainyard::core {
namespace {

using model::Job;

// Whether `yields` of each queue from the victim's branch down to its own.
template <typename Yields>
bool allYield(const Preemptor& preemptor, const Victim& victim, const QueueTree& tree, const Yields& yields) {
  const auto& path = tree.node(victim.queue).path;
  const auto from = std::find(path.begin(), path.end(), tree.branches(preemptor.queue, victim.queue).b);
  const auto& own = tree.node(preemptor.queue).path;
  const bool isAbove = std::find(own.begin(), own.end(), victim.queue) != own.end();
  const Yield yield{victim.held, victim.whole == nullptr ? victim.held : *victim.whole, isAbove};
  return std::all_of(from, path.end(), [&](auto queue) { return yields(queue, yield); });
}

bool yieldsBorrowed(const Preemptor& preemptor, const Victim& victim, const QueueTree& tree, Bound bound) {
  const Amounts& wanted = preemptor.wanted ? *preemptor.wanted : preemptor.demand;
  return allYield(preemptor, victim, tree, [&](auto queue, const Yield& yield) {
    return yieldsBorrowed(tree, queue, yield, wanted, bound);
  });
}

// Whether a pending job of the queue, or below it, is within its guarantee once a gang that holds this has
// gone. It is computed per resource: with several jobs it is true too early, never too late.
bool reclaimableAfter(const QueueTree& tree, QueueTree::Index queue, const Amounts& held) {
  const QueueTree::Node& node = tree.node(queue);
  if (!node.smallestPending) return false;
  bool gains = false;
  for (std::size_t d = 0; d < held.size(); ++d) {
    if (node.guaranteed[d] <= 0) continue;
    const std::int64_t then = base::saturatingAdd(node.usage[d] - held[d], (*node.smallestPending)[d]);
    if (then > node.guaranteed[d]) return false;
    gains = gains || held[d] > 0;
  }
  return gains;
}

// Whether one of these queues would take back at once, by its guarantee, what the victim gives up. The holder
// would then be preempted in turn, and neither would make progress.
bool wouldBeTakenBack(const Preemptor& preemptor, const Victim& victim, const QueueTree& tree) {
  const auto& path = tree.node(victim.queue).path;
  const auto from = std::find(path.begin(), path.end(), tree.branches(preemptor.queue, victim.queue).b);
  return std::any_of(from, path.end(),
                     [&](auto queue) { return reclaimableAfter(tree, queue, victim.held); });
}

// Guarantee and fair share: both require that the preemptor's own queue may reclaim.
bool reclaims(const Preemptor& preemptor, const Victim& victim, const QueueTree& tree, ShareCache& shares) {
  const auto& own = tree.node(preemptor.queue);
  if (own.queue != nullptr && !(*own.queue)->reclaim) return false;
  const QueueTree::Branches branches = tree.branches(preemptor.queue, victim.queue);
  if (branches.a == branches.b) return false;
  const auto isWithin = [&](Bound bound) {
    return isWithinGuaranteeBelow(tree, branches.a, preemptor.queue, preemptor.demand, bound);
  };
  // A chain ends: a job within a bound takes only from queues beyond the same bound.
  if (isWithin(Bound::kAtMost)) {
    return yieldsBorrowed(preemptor, victim, tree, Bound::kAtMost) ||
           (isWithin(Bound::kInProportion) && yieldsBorrowed(preemptor, victim, tree, Bound::kInProportion));
  }
  return victim.isUnprotected &&
         allYield(preemptor, victim, tree,
                  [&](auto queue, const Yield& yield) {
                    return yieldsShare(tree, queue, yield, preemptor.demand);
                  }) &&
         shares.with(branches.a, preemptor.demand) <=
             shares.without(branches.b, victim.held, preemptor.demand);
}

}  // namespace

template <typename Compute>
std::int64_t ShareCache::known(std::vector<Known>& all, QueueTree::Index queue, const Amounts& amounts,
                               const Amounts& wanted, Compute compute) {
  if (all.empty()) all.resize(tree_.size());
  Known& known = all[queue];
  if (known.version != tree_.version() || known.amounts != amounts || known.wanted != wanted)
    known = {tree_.version(), amounts, wanted, compute()};
  return known.share;
}

std::int64_t ShareCache::with(QueueTree::Index queue, const Amounts& more) {
  return known(with_, queue, more, more, [&] { return shareWith(tree_, queue, more); });
}

std::int64_t ShareCache::without(QueueTree::Index queue, const Amounts& less, const Amounts& wanted) {
  return known(without_, queue, less, wanted, [&] { return shareWithout(tree_, queue, less, wanted); });
}

bool forbidsPreemptionWithin(const QueueTree::Node& node) {
  return node.queue != nullptr && (*node.queue)->withinQueue == model::WithinQueue::kNever;
}

bool preemptibleNow(const Job& job) {
  return preemptible(job) && job.status.gang.placed && !job.status.gang.proposal;
}

bool preemptible(const Job& job) {
  const model::GangRecord& gang = job.status.gang;
  if (!model::chargedPreemptible(job) || job.deleting || job.finished() || job.spec.run.suspend) return false;
  if (!gang.proposal) return gang.placed.has_value();
  const model::Proposal& proposal = *gang.proposal;
  using Kind = model::ProposalKind;
  using Phase = model::ProposalPhase;
  if (proposal.movesFor) return false;
  if (!gang.placed)
    return proposal.kind == Kind::kStart &&
           (proposal.phase == Phase::kReserved || proposal.phase == Phase::kClaiming);
  // A restart of the whole gang without a new placement terminates it already.
  return proposal.kind != Kind::kRestart || (proposal.phase != Phase::kAborting && !proposal.add.empty());
}

std::optional<base::WallTime> preemptibleFrom(const Job& job, const model::Snapshot& snapshot) {
  if (!preemptible(job)) return std::nullopt;
  return startedSince(job, snapshot.now) + snapshot.policy.preemption.minRuntime;
}

base::WallTime protectedUntil(const Job& job, const model::Snapshot& snapshot) {
  const int times = std::clamp(job.status.preemptions.byOtherQueues, 0, kMaxProtectionDoublings);
  return std::max(startedSince(job, snapshot.now), job.status.preemptions.last) +
         snapshot.policy.preemption.minRuntime * (std::int64_t{1} << times);
}

bool hasRightToPreempt(const Preemptor& preemptor, const Victim& victim, const QueueTree& tree,
                       ShareCache& shares) {
  if (victim.queue == QueueTree::kCluster) return false;
  if (victim.queue != preemptor.queue) return reclaims(preemptor, victim, tree, shares);
  return victim.priority < preemptor.priority && !forbidsPreemptionWithin(tree.node(victim.queue));
}

bool hasCondition(const Preemptor& preemptor, const Victim& victim, const QueueTree& tree) {
  if (model::backfillCondition(*victim.job, *preemptor.job) == nullptr) return false;
  if (victim.queue == QueueTree::kCluster) return true;
  if (victim.queue == preemptor.queue) return !forbidsPreemptionWithin(tree.node(victim.queue));
  // No guarantee takes anything back from a job within its own.
  const QueueTree::Index branch = tree.branches(preemptor.queue, victim.queue).a;
  return yieldsBorrowed(preemptor, victim, tree, Bound::kAtMost) &&
         (isWithinGuaranteeBelow(tree, branch, preemptor.queue, preemptor.demand, Bound::kInProportion) ||
          !wouldBeTakenBack(preemptor, victim, tree));
}

bool preemptsBackfilled(const Preemptor& preemptor, const Victim& victim, const QueueTree& tree,
                        base::WallTime now) {
  const model::Charge::Backfill* condition = model::backfillCondition(*victim.job, *preemptor.job);
  return condition != nullptr && condition->from <= now && hasCondition(preemptor, victim, tree);
}

bool allowsTimeSlicing(const model::Policy& policy) {
  return policy.timeSlicing.enabled && model::traitsOf(policy.ordering).allowsTimeSlicing;
}

std::optional<base::WallTime> timeSliceEnds(const Job& job, base::WallTime placed,
                                            const model::Snapshot& snapshot) {
  if (!allowsTimeSlicing(snapshot.policy) || !isCheckpointable(job.spec)) return std::nullopt;
  const base::WallTime::duration turn = snapshot.policy.timeSlicing.interval;
  const auto whole = placed + turn;
  const auto from = std::max(whole, snapshot.now + base::WallTime::duration(1)).time_since_epoch();
  return base::WallTime((from + turn - base::WallTime::duration(1)) / turn * turn);
}

bool mayPreemptByTimeSlice(const Preemptor& preemptor, const Job& victim, int victimPriority,
                           QueueTree::Index victimQueue, const QueueTree& tree,
                           const model::Snapshot& snapshot) {
  if (!allowsTimeSlicing(snapshot.policy) || !isCheckpointable(victim.spec) || !preemptibleNow(victim))
    return false;
  if (victimPriority != preemptor.priority) return false;
  if (victimQueue != preemptor.queue || forbidsPreemptionWithin(tree.node(victimQueue))) return false;
  // Restarts do not begin a time slice again, but the work that would be lost is counted from them.
  const auto had = snapshot.now - startedSince(victim, snapshot.now);
  return had >= snapshot.policy.timeSlicing.interval &&
         lostTime(victim, placedSince(victim, snapshot.now), snapshot) * kMaxLostShareOfSlice <= had;
}

}  // namespace trainyard::core
