#include "core/schedule/reservation_book.h"

#include <algorithm>

#include "core/gang/gang_proposals.h"
#include "core/queues/eligibility.h"
#include "core/queues/holdings.h"
#include "core/queues/priority.h"
#include "core/resize.h"
#include "core/schedule/pending_rights.h"
#include "model/charge.h"

namespace trainyard::core {
namespace {

// Whether an elastic gang gives up only members above its desired replicas, as it would for any pending job.
bool givesSurplus(const Change& change) {
  return change.kind == ChangeKind::kShrink &&
         memberCount(change.remove) <= elasticMembers(*change.job) - desiredMembers(*change.job);
}

// Whether it gives up members as it would for any job of its queue that is of no lower priority.
bool givesWithinQueue(const Change& change, const Holder& holder, const QueueTree& tree, int priority) {
  return change.kind == ChangeKind::kShrink && tree.queueOf(*change.job) == holder.queue &&
         holder.queuePosition.priority >= priority && !forbidsPreemptionWithin(tree.node(holder.queue));
}

}  // namespace

void ReservationBook::begin(const std::vector<PendingJob>& pendingJobs) {
  for (const PendingJob& each : pendingJobs) parts_.addWaiting(each.waiting->job->key.ns, each.queue);
  noteReservedSince(pendingJobs);
  listUpcomingHolders(pendingJobs);
}

void ReservationBook::beginTurn(const PendingJob& pendingJob) {
  std::erase_if(upcomingHolders_, [&](const AbsentHolder& each) { return each.pendingJob == &pendingJob; });
}

void ReservationBook::rest(const PendingJob& pendingJob) {
  const std::string& ns = pendingJob.waiting->job->key.ns;
  if (!in_.snapshot.policy.backfill.enabled || !restingParts_.hasLeft(ns, pendingJob.queue)) return;
  restingParts_.take(ns, pendingJob.queue);
  restingHolders_.push_back({&pendingJob});
}

// One period for all reservations. (Rejected: a period for each holder, or for each pool. Two of them keep
// the capacity of a gang that needs both for ever, in turn. Rejected: periods by the clock alone. Whether a
// gang keeps its capacity in the first minutes then depends on the time of day.)
void ReservationBook::noteReservedSince(const std::vector<PendingJob>& pendingJobs) {
  base::WallTime since = in_.request.reservedSince.value_or(in_.snapshot.now);
  for (const PendingJob& each : pendingJobs) {
    if (each.pendingFacts->reservedSince) since = std::min(since, *each.pendingFacts->reservedSince);
  }
  in_.request.reservedSince = since;
}

// In the order of creation a job that is served first needs no condition.
void ReservationBook::listUpcomingHolders(const std::vector<PendingJob>& pendingJobs) {
  const model::Policy& policy = in_.snapshot.policy;
  if (!policy.backfill.enabled || isOrderOfCreation(policy.ordering)) return;
  for (const PendingJob& each : pendingJobs) {
    if (each.pendingFacts->reservedSince) upcomingHolders_.push_back({&each});
  }
}

void ReservationBook::reserveIfAllowed(const PendingJob& pendingJob, const GangShape& shape) {
  const model::Job& job = *pendingJob.waiting->job;
  // The pool number identifies a job's nodes only if no node of the pool is excluded for that job.
  const bool isWhole = in_.placer.closedTo(job) == nullptr;
  const std::pair pool(job.key.ns, in_.request.cache.poolOf(job, shape.key));
  // A job within its guarantee has a reservation even if another job of its namespace comes before it.
  const bool isGuaranteed = isEntitled(in_, pendingJob);
  if (!isGuaranteed && isWhole && pools_.contains(pool)) return;
  if (!parts_.hasLeft(job.key.ns, pendingJob.queue)) return;
  if (!explainer_.waitsForCapacity(pendingJob, shape)) return;
  if (!isGuaranteed && isReservedByAnother(pendingJob)) return;
  if (isWhole) pools_.insert(pool);
  reserve(pendingJob, shape);
}

void ReservationBook::reserve(const PendingJob& pendingJob, const GangShape& shape) {
  const auto& job = pendingJob.waiting->job;
  if (!parts_.hasLeft(job->key.ns, pendingJob.queue)) return;
  parts_.take(job->key.ns, pendingJob.queue);
  // An elastic gang waits for its minimum.
  const auto minimum = minimumOf(*job, in_.snapshot.policy);
  Holder holder{.job = minimum ? minimum : job,
                .silent = pendingJob.waiting->silent,
                .position = pendingJob.position,
                .queue = pendingJob.queue,
                .queuePosition = pendingJob.queuePosition,
                .overdue = pendingJob.overdue,
                .isEntitled = isEntitled(in_, pendingJob),
                .shape = shape.key,
                .widest = shape.relaxation.widest,
                .since = pendingJob.pendingFacts->reservedSince.value_or(in_.snapshot.now),
                .reservingSince = *in_.request.reservedSince};
  std::optional<Ends> seen = endsFor(pendingJob);
  reservations_.emplace_back(std::move(holder), in_.snapshot, in_.ledger, seen ? *seen : in_.ends,
                             in_.placer);
  in_.wakeAt(reservations_.back().wakeAt());
  limitHolds_.addAll(pendingJob, startDemandOf(in_, pendingJob), reservations_.back().reserved());
}

void ReservationBook::reserveBelowLimit(const PendingJob& pendingJob, const Excess& beyond) {
  std::optional<Ends> seen = endsFor(pendingJob);
  if (limitHolds_.add(pendingJob, beyond, seen ? *seen : in_.ends)) explainer_.noteLimitHolder(pendingJob);
}

std::optional<Ends> ReservationBook::endsFor(const PendingJob& holder) {
  const model::Job& job = *holder.waiting->job;
  const bool preempts = Priorities(in_.snapshot).mayPreempt(job) && isEntitled(in_, holder);
  if (!preempts && !in_.preemption.gangs().isHolder(job)) return std::nullopt;
  const Preemptor preemptor = preemptorOf(in_, holder);
  return in_.ends.seenBy([&](const model::Job& victim) {
    if (!preempts && model::backfillCondition(victim, job) == nullptr) return std::optional<base::WallTime>();
    return preemptibleByFrom(preemptor, victim);
  });
}

// Returns the time from which on the preemptor may preempt the gang, by its queue's guarantee, its priority
// or a backfill condition. Returns nothing if it may not.
std::optional<base::WallTime> ReservationBook::preemptibleByFrom(const Preemptor& preemptor,
                                                                 const model::Job& gang) {
  const Amounts held = holdingsOf(in_.tree.capacity(), gang);
  const Victim victim{.job = &gang,
                      .priority = Priorities(in_.snapshot).of(gang),
                      .queue = in_.tree.queueOf(gang),
                      .held = held,
                      .isUnprotected = false};
  std::optional<base::WallTime> from;
  if (const auto* condition = model::backfillCondition(gang, *preemptor.job);
      condition != nullptr && hasCondition(preemptor, victim, in_.tree))
    from = condition->from;
  ShareCache shares(in_.tree);
  if (!hasRightToPreempt(preemptor, victim, in_.tree, shares)) return from;
  const auto always = preemptibleFrom(gang, in_.snapshot);
  if (!always) return from;
  return from ? std::min(*from, *always) : always;
}

// Returns true if an earlier job of the same namespace has a reservation on the same pool. (Rejected: of any
// namespace. A tenant's stream of jobs that state a second is always ahead, and a job that can never start
// stays so. The gangs of other tenants then had no reservation at all.)
bool ReservationBook::isReservedByAnother(const PendingJob& pendingJob) const {
  if (reservations_.empty()) return false;
  const model::Job& job = *pendingJob.waiting->job;
  const std::vector<char> pool = openPoolOf(job, in_.ledger, in_.placer);
  return std::any_of(reservations_.begin(), reservations_.end(), [&](const Reservation& each) {
    return each.holder().job->key.ns == job.key.ns && each.samePool(pool);
  });
}

Reservation::Asking ReservationBook::askingOf(const PendingJob& pendingJob, const Holder& holder,
                                              bool isEntitled) {
  const auto& ownSince = pendingJob.pendingFacts->reservedSince;
  const bool isInQueue = holder.queue == pendingJob.queue;
  const bool isHigher = isInQueue && pendingJob.priority > holder.queuePosition.priority;
  const bool comesFirst =
      isInQueue && !holder.overdue && pendingJob.queuePosition.before(holder.queuePosition);
  const bool isOlder = ownSince && *ownSince < holder.since && (isInQueue || !holder.isEntitled);
  BackfillRequest request = backfillRequestOf(in_, pendingJob, holder.queue, *holder.job);
  request.comesFirst = comesFirst;
  return {.job = pendingJob.waiting->job.get(),
          .isEntitled = isEntitled || isHigher || isOlder ||
                        (comesFirst && isOrderOfCreation(in_.snapshot.policy.ordering)),
          .request = request};
}

ReservationBook::Judgement ReservationBook::judge(const PendingJob& pendingJob,
                                                  const std::vector<model::Assignment>& assignments,
                                                  const std::vector<Change>* preempted) {
  using Kind = BackfillVerdict::Kind;
  std::optional<bool> entitled;
  Judgement judgement;
  const auto note = [&](const BackfillVerdict& verdict, const model::Job& holder) {
    if (verdict.kind != Kind::kConditional) return;
    if (judgement.kind == Kind::kFree) judgement.kind = Kind::kConditional;
    judgement.conditions.push_back({holder.key, holder.uid, verdict.from});
  };
  for (std::size_t i = 0; i < reservations_.size(); ++i) {
    Reservation& each = reservations_[i];
    if (!each.concerns(assignments)) continue;
    if (!entitled) entitled = isEntitled(in_, pendingJob);
    const Holder& holder = each.holder();
    Reservation::Asking asking = askingOf(pendingJob, holder, *entitled);
    const TakenFromHolder taken =
        preempted == nullptr ? TakenFromHolder{} : takeFromHolder(holder, *preempted);
    asking.request.inheritedFrom = taken.inheritedFrom;
    asking.preempts = preempted != nullptr;
    asking.handedOver = &taken.handedOver;
    const BackfillVerdict verdict = each.judge(asking, assignments);
    in_.wakeAt(verdict.again);
    note(verdict, *holder.job);
    if (!verdict.isReserved()) continue;
    judgement.by = i;
    if (judgement.kind != Kind::kReserved) judgement.kind = verdict.kind;
  }
  if (!judgement.isReserved()) {
    for (auto& each : conditionsForAbsentHolders(pendingJob, assignments, preempted != nullptr)) {
      judgement.kind = Kind::kConditional;
      judgement.conditions.push_back(std::move(each));
    }
  }
  if (limitHolds_.all().empty() || judgement.isReserved()) return judgement;
  const Amounts held = heldBy(in_.tree.capacity(), *pendingJob.waiting->job, assignments);
  for (const LimitHold& each : limitHolds_.all()) note(limitHolds_.judge(each, pendingJob, held), *each.job);
  return judgement;
}

// A gang with a shorter expected run is served before the holder of a reservation in its queue. So no
// reservation is in its way yet. The holder may preempt it minRuntime after that run should have ended.
// (Rejected: no condition. A job that states one second and never ends then keeps a pending gang of its queue
// from its capacity for ever.)
//
// A holder in the back-off after an aborted attempt keeps no capacity, because it might fail again and again.
// (Rejected: no condition. A gang that never ends took the capacity in the seconds of a holder's back-off,
// and the holder never started.) A claim on gangs of other queues is left alone: it may not be conditional.
ReservationBook::Conditions ReservationBook::conditionsForAbsentHolders(
    const PendingJob& pendingJob, const std::vector<model::Assignment>& assignments, bool preempts) {
  Conditions conditions;
  const auto add = [&](AbsentHolder& holder, bool comesFirst) {
    if (auto condition = conditionFor(holder, pendingJob, assignments, comesFirst))
      conditions.push_back(std::move(*condition));
  };
  const auto& ownSince = pendingJob.pendingFacts->reservedSince;
  for (AbsentHolder& each : upcomingHolders_) {
    const PendingJob& holder = *each.pendingJob;
    if (preempts || holder.queue != pendingJob.queue || holder.priority != pendingJob.priority) continue;
    if (ownSince && *ownSince < *holder.pendingFacts->reservedSince) continue;
    add(each, true);
  }
  for (AbsentHolder& each : restingHolders_) {
    const PendingJob& holder = *each.pendingJob;
    if (preempts && holder.queue != pendingJob.queue) continue;
    if (ownSince && *ownSince < holder.waiting->job->created) continue;
    add(each, false);
  }
  return conditions;
}

std::optional<model::Charge::Backfill> ReservationBook::conditionFor(
    AbsentHolder& absent, const PendingJob& pendingJob, const std::vector<model::Assignment>& assignments,
    bool comesFirst) {
  const PendingJob& holder = *absent.pendingJob;
  const model::Job& job = *holder.waiting->job;
  BackfillRequest request = backfillRequestOf(in_, pendingJob, holder.queue, job);
  if (!request.isPreemptible || isEntitled(in_, pendingJob)) return std::nullopt;
  if (!absent.pool) absent.pool = openPoolOf(job, in_.ledger, in_.placer);
  const bool concerned = std::any_of(assignments.begin(), assignments.end(), [&](const auto& assignment) {
    const auto node = in_.ledger.find(assignment.node);
    return node && (*absent.pool)[*node] != 0;
  });
  if (!concerned) return std::nullopt;
  request.comesFirst = comesFirst;
  const BackfillVerdict lent = lendReserved(request, {}, in_.snapshot.now, in_.snapshot.policy);
  return model::Charge::Backfill{job.key, job.uid, lent.from};
}

// Capacity of gangs that the holder cannot preempt is handed over. The rest is taken with the time from which
// on the holder may have it; members that an elastic gang would give to the holder as well, now. (Rejected:
// all but gangs of lower priority in the holder's queue are handed over. A tenant then rids its capacity of
// the condition by any preemption within its own queue.)
ReservationBook::TakenFromHolder ReservationBook::takeFromHolder(const Holder& holder,
                                                                 const std::vector<Change>& preempted) {
  const Priorities priorities(in_.snapshot);
  QueueTree& tree = in_.tree;
  const auto isForHolder = [&](const Change& each) {
    return givesSurplus(each) || (priorities.mayPreempt(*holder.job) &&
                                  givesWithinQueue(each, holder, tree, priorities.of(*each.job)));
  };
  if (!priorities.mayPreempt(*holder.job)) {
    TakenFromHolder taken{preempted, std::nullopt};
    std::erase_if(taken.handedOver, isForHolder);
    return taken;
  }
  const Preemptor preemptor{.job = holder.job.get(),
                            .priority = holder.queuePosition.priority,
                            .queue = holder.queue,
                            .demand = demandOf(tree.capacity(), *holder.job)};
  // Preemption rights are checked against the queues as they were before the claim.
  for (const Change& each : preempted)
    tree.unmarkLeaving(tree.queueOf(*each.job), heldBy(tree.capacity(), *each.job, each.remove));
  TakenFromHolder taken;
  for (const Change& each : preempted) {
    if (isForHolder(each)) continue;
    if (const auto from = preemptibleByFrom(preemptor, *each.job)) {
      taken.inheritedFrom = taken.inheritedFrom ? std::min(*taken.inheritedFrom, *from) : *from;
    } else {
      taken.handedOver.push_back(each);
    }
  }
  for (const Change& each : preempted)
    tree.markLeaving(tree.queueOf(*each.job), heldBy(tree.capacity(), *each.job, each.remove));
  return taken;
}

ReservationBook::Nodes ReservationBook::nodesAround(const std::vector<model::Assignment>& assignments) const {
  Nodes nodes;
  for (const Reservation& each : reservations_) {
    if (!each.concerns(assignments)) continue;
    nodes.freed.insert(nodes.freed.end(), each.freedNodes().begin(), each.freedNodes().end());
    const auto reserved = each.reservedNodes();
    nodes.reserved.insert(nodes.reserved.end(), reserved.begin(), reserved.end());
  }
  return nodes;
}

bool ReservationBook::concerns(const model::Job& job,
                               const std::vector<model::Assignment>& assignments) const {
  const bool onNodes = std::any_of(reservations_.begin(), reservations_.end(),
                                   [&](const Reservation& each) { return each.concerns(assignments); });
  if (onNodes) return true;
  const Amounts held = heldBy(in_.tree.capacity(), job, assignments);
  const auto& holds = limitHolds_.all();
  return std::any_of(holds.begin(), holds.end(), [&](const LimitHold& each) {
    return !each.leavesCapacity(in_.tree, in_.tree.queueOf(job), held);
  });
}

}  // namespace trainyard::core
