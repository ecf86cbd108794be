#include "core/queues/eligibility.h"

#include <algorithm>

#include <tuple>

#include "model/conditions.h"

namespace trainyard::core {
namespace {

using model::Job;

base::WallTime sinceCondition(const Job& job, std::string_view type, base::WallTime otherwise) {
  const model::Condition* condition = job.condition(type);
  const bool holds = condition != nullptr && condition->status == model::ConditionStatus::kTrue;
  return holds ? condition->lastTransition : otherwise;
}

// How much better merit by estimates must be.
constexpr double kWorthAStop = 1.1;

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

// Who was stopped has twice the time before it may be again: else two jobs that lose what they did when they
// are stopped, and run for longer than a turn, would stop each other for ever.
std::chrono::milliseconds turnOf(const Job& job, const model::TimeSlicing& slicing) {
  constexpr int kMostDoublings = 10;
  return slicing.interval * (1 << std::clamp(job.status.preemptions.count, 0, kMostDoublings));
}

}  // namespace

base::WallTime placedSince(const Job& job, base::WallTime now) {
  return sinceCondition(job, model::conditions::kScheduled, now);
}

base::WallTime waitingSince(const Job& job, base::WallTime now) {
  return sinceCondition(job, model::conditions::kQueued, now);
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

std::optional<base::WallTime> turnEnds(const Job& job, const model::Snapshot& snapshot) {
  const model::TimeSlicing& slicing = snapshot.policy.timeSlicing;
  if (!slicing.enabled) return std::nullopt;
  const base::WallTime placed = placedSince(job, snapshot.now);
  const auto turn = turnOf(job, slicing);
  return placed + ((snapshot.now - placed) / turn + 1) * turn;
}

bool mayTakeTurns(const Claimant& claimant, const Job& victim, int victimPriority, const QueueTree& tree,
                  const model::Snapshot& snapshot) {
  const model::TimeSlicing& slicing = snapshot.policy.timeSlicing;
  if (!slicing.enabled || victimPriority != claimant.priority) return false;
  if (!victim.spec.checkpoint || !victim.spec.checkpoint->keepsWork()) return false;
  const auto queue = tree.find(victim.spec.queue);
  if (queue != claimant.queue || forbidsWithin(tree.node(*queue))) return false;
  return placedSince(victim, snapshot.now) + turnOf(victim, slicing) <= snapshot.now;
}

bool isAhead(const Claimant& claimant, const Rank& victimRank, model::Ordering ordering) {
  const bool byEstimates = ordering == model::Ordering::kSrtf || ordering == model::Ordering::kSrsf;
  return claimant.rank.merit > (byEstimates ? kWorthAStop : 1) * victimRank.merit;
}

}  // namespace trainyard::core
