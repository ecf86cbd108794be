#include "core/queues/eligibility.h"

#include <algorithm>

#include <tuple>

#include "model/conditions.h"

namespace trainyard::core {
namespace {

using model::Job;

bool forbidsWithin(const QueueTree::Node& node) {
  return node.queue != nullptr && (*node.queue)->withinQueue == model::WithinQueue::kNever;
}

bool passed(const Claimant& claimant, const Job& victim, int victimPriority,
            const model::Snapshot& snapshot) {
  if (!claimant.isHead || victimPriority > claimant.priority) return false;
  const Job& head = *claimant.job;
  const bool later = victimPriority < claimant.priority ||
                     std::tie(head.created, head.key) < std::tie(victim.created, victim.key);
  return later && placedSince(victim, snapshot.now) > waitingSince(head, snapshot.now);
}

bool reclaims(const Claimant& claimant, QueueTree::Index victimQueue, const QueueTree::Amounts& held,
              const QueueTree& tree) {
  const auto& own = tree.node(claimant.queue);
  if (own.queue != nullptr && !(*own.queue)->reclaim) return false;
  const QueueTree::Branches branches = tree.branches(claimant.queue, victimQueue);
  if (branches.a == branches.b || !tree.borrows(branches.b, claimant.demand)) return false;
  const bool guaranteed = !tree.beyondGuaranteeUpTo(claimant.queue, branches.a, claimant.demand);
  return guaranteed || tree.shareWith(branches.a, claimant.demand) <= tree.shareWithout(branches.b, held);
}

}  // namespace

base::WallTime waitingSince(const Job& job, base::WallTime now) {
  const model::Condition* condition = job.condition(model::conditions::kQueued);
  const bool holds = condition != nullptr && condition->status == model::ConditionStatus::kTrue;
  return holds ? condition->lastTransition : now;
}

bool stoppable(const Job& job) {
  const model::GangRecord& gang = job.status.gang;
  return job.spec.preemptible && gang.placed && !gang.proposal && !job.deleting && !job.finished();
}

std::optional<base::WallTime> stoppableFrom(const Job& job, const model::Snapshot& snapshot) {
  if (!stoppable(job)) return std::nullopt;
  return placedSince(job, snapshot.now) + snapshot.policy.preemption.minRuntime;
}

bool mayStop(const Claimant& claimant, const Job& victim, int victimPriority, const QueueTree::Amounts& held,
             const QueueTree& tree, const model::Snapshot& snapshot) {
  const auto queue = tree.find(victim.spec.queue);
  if (!queue) return false;
  if (*queue != claimant.queue) return reclaims(claimant, *queue, held, tree);
  const auto& node = tree.node(*queue);
  if (!forbidsWithin(node) && victimPriority < claimant.priority) return true;
  return passed(claimant, victim, victimPriority, snapshot);
}

bool takesTurns(const model::Policy& policy) {
  return policy.timeSlicing.enabled && policy.ordering != model::Ordering::kFifo;
}

std::optional<base::WallTime> turnEnds(const Job& job, const model::Snapshot& snapshot) {
  if (!takesTurns(snapshot.policy) || !survivesStops(job.spec)) return std::nullopt;
  const auto turn = snapshot.policy.timeSlicing.interval;
  const base::WallTime placed = placedSince(job, snapshot.now);
  return placed + ((snapshot.now - placed) / turn + 1) * turn;
}

bool mayTakeTurns(const Claimant& claimant, const Job& victim, int victimPriority, const QueueTree& tree,
                  const model::Snapshot& snapshot) {
  if (!takesTurns(snapshot.policy) || !survivesStops(victim.spec)) return false;
  if (victimPriority != claimant.priority) return false;
  const auto queue = tree.find(victim.spec.queue);
  if (queue != claimant.queue || forbidsWithin(tree.node(*queue))) return false;
  return placedSince(victim, snapshot.now) + snapshot.policy.timeSlicing.interval <= snapshot.now;
}

}  // namespace trainyard::core
