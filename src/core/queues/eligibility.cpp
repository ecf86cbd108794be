#include "core/queues/eligibility.h"

#include <algorithm>

#include <tuple>

#include "model/charge.h"

namespace trainyard::core {
namespace {

using model::Job;

// Who loses more than is left of him would better end.
bool isWorthAStop(const Rank& running) { return running.stopCost < running.expected; }

// Let past while the claimant kept its reservation, because it can be stopped.
bool passed(const Claimant& claimant, const Victim& victim, const QueueTree& tree,
            const model::Snapshot& snapshot) {
  if (!claimant.reservedSince || startedSince(*victim.job, snapshot.now) < *claimant.reservedSince)
    return false;
  if (victim.queue == claimant.queue) {
    if (forbidsWithin(tree.node(victim.queue))) return false;
    // Where the order itself says who gives way to whom, it says so of who was let past, too.
    if (victim.priority == claimant.priority && takesTurns(snapshot.policy))
      return survivesStops(victim.job->spec) &&
             (claimant.overdue ? isWorthAStop(victim.rank()) : worthAStop(claimant.rank, victim.rank()));
    // As if it waited, too: that it runs is what is in question.
    Rank waiting = victim.rank();
    waiting.running = false;
    return victim.priority <= claimant.priority && (claimant.overdue || claimant.rank.before(waiting));
  }
  if (!claimant.belowShare) return false;
  // Nobody let him past who has stopped jobs of other queues. (Lost: that he may be stopped all the same. Two
  // that have a reservation each stop each other for ever, with a third one's help.)
  const auto& charge = victim.job->status.gang.charge;
  if (charge && charge->claimed) return false;
  // Who could take back at once what his queue, or one above it, is guaranteed is not stopped for it.
  const auto& path = tree.node(victim.queue).path;
  const auto from = std::find(path.begin(), path.end(), tree.branches(claimant.queue, victim.queue).b);
  const QueueTree::Amounts yielded = tree.yieldedOf(claimant.demand, victim.held);
  return std::all_of(from, path.end(), [&](auto queue) {
    return tree.borrows(queue, yielded) && tree.holdsGuaranteeWithout(queue, victim.held);
  });
}

bool reclaims(const Claimant& claimant, QueueTree::Index victimQueue, const QueueTree::Amounts& held,
              const QueueTree& tree, KnownShares& shares) {
  const auto& own = tree.node(claimant.queue);
  if (own.queue != nullptr && !(*own.queue)->reclaim) return false;
  const QueueTree::Branches branches = tree.branches(claimant.queue, victimQueue);
  if (branches.a == branches.b || !tree.borrows(branches.b, claimant.demand)) return false;
  const QueueTree::Amounts yielded = tree.yieldedOf(claimant.demand, held);
  if (!tree.borrows(branches.b, yielded)) return false;
  // What a branch has too much is had by those below it who have more than is theirs.
  const auto& path = tree.node(victimQueue).path;
  const auto from = std::find(path.begin(), path.end(), branches.b);
  if (!std::all_of(from, path.end(), [&](auto queue) { return tree.borrows(queue, yielded); })) return false;
  const bool guaranteed = !tree.beyondGuaranteeUpTo(claimant.queue, branches.a, claimant.demand);
  return guaranteed ||
         shares.with(branches.a, claimant.demand) <= shares.without(branches.b, held, claimant.demand);
}

}  // namespace

template <typename Compute>
std::int64_t KnownShares::known(std::vector<Known>& all, QueueTree::Index queue,
                                const QueueTree::Amounts& amounts, const QueueTree::Amounts& wanted,
                                Compute compute) {
  if (all.empty()) all.resize(tree_.size());
  Known& known = all[queue];
  if (known.version != tree_.version() || known.amounts != amounts || known.wanted != wanted)
    known = {tree_.version(), amounts, wanted, compute()};
  return known.share;
}

std::int64_t KnownShares::with(QueueTree::Index queue, const QueueTree::Amounts& more) {
  return known(with_, queue, more, more, [&] { return tree_.shareWith(queue, more); });
}

std::int64_t KnownShares::without(QueueTree::Index queue, const QueueTree::Amounts& less,
                                  const QueueTree::Amounts& wanted) {
  return known(without_, queue, less, wanted, [&] { return tree_.shareWithout(queue, less, wanted); });
}

bool forbidsWithin(const QueueTree::Node& node) {
  return node.queue != nullptr && (*node.queue)->withinQueue == model::WithinQueue::kNever;
}

bool stoppable(const Job& job) {
  const model::GangRecord& gang = job.status.gang;
  return model::chargedPreemptible(job) && gang.placed && !gang.proposal && !job.deleting && !job.finished();
}

std::optional<base::WallTime> stoppableFrom(const Job& job, const model::Snapshot& snapshot) {
  if (!stoppable(job)) return std::nullopt;
  return placedSince(job, snapshot.now) + snapshot.policy.preemption.minRuntime;
}

bool mayStop(const Claimant& claimant, const Victim& victim, const QueueTree& tree,
             const model::Snapshot& snapshot, KnownShares& shares) {
  if (victim.queue == QueueTree::kCluster) return false;
  if (victim.queue != claimant.queue) {
    if (reclaims(claimant, victim.queue, victim.held, tree, shares)) return true;
  } else if (victim.priority < claimant.priority && !forbidsWithin(tree.node(victim.queue))) {
    return true;
  }
  return passed(claimant, victim, tree, snapshot);
}

bool takesTurns(const model::Policy& policy) {
  return policy.timeSlicing.enabled && model::traitsOf(policy.ordering).takesTurns;
}

std::optional<base::WallTime> turnEnds(const Job& job, base::WallTime placed,
                                       const model::Snapshot& snapshot) {
  if (!takesTurns(snapshot.policy) || !survivesStops(job.spec)) return std::nullopt;
  const base::WallTime::duration turn = snapshot.policy.timeSlicing.interval;
  const auto whole = placed + turn;
  const auto from = std::max(whole, snapshot.now + base::WallTime::duration(1)).time_since_epoch();
  return base::WallTime((from + turn - base::WallTime::duration(1)) / turn * turn);
}

bool mayTakeTurns(const Claimant& claimant, const Job& victim, int victimPriority,
                  QueueTree::Index victimQueue, const QueueTree& tree, const model::Snapshot& snapshot) {
  if (!takesTurns(snapshot.policy) || !survivesStops(victim.spec)) return false;
  if (victimPriority != claimant.priority) return false;
  if (victimQueue != claimant.queue || forbidsWithin(tree.node(victimQueue))) return false;
  const base::WallTime placed = placedSince(victim, snapshot.now);
  const auto had = snapshot.now - placed;
  return had >= snapshot.policy.timeSlicing.interval &&
         lostTime(victim, placed, snapshot) * kLostOfTurn <= had;
}

}  // namespace trainyard::core
