#include <algorithm>
#include <utility>

#include "core/cycle/scheduler.h"
#include "core/queues/eligibility.h"
#include "core/queues/priority.h"
#include "core/resize.h"
#include "model/charge.h"

namespace trainyard::core {
// The first job that waits for capacity in its pool gets a reservation there, and below its queue's limits.
void Scheduler::reserveIfAllowed(const PendingJob& pendingJob, const GangShape& shape) {
  if (!snapshot_.policy.backfill.enabled) return;
  const JobPtr& job = pendingJob.waiting->job;
  if (exhausted_) {
    if (!isShareExhausted_) holdBelowLimit(pendingJob, *exhausted_);
    return;
  }
  // The pool number identifies a job's nodes only if no node of the pool is excluded for that job.
  const bool isWhole = placer_.closedTo(*job) == nullptr;
  const std::pair pool(job->key.ns, request_.cache.poolOf(*job, shape.key));
  // A job within its guarantee has a reservation even if another job of its namespace comes before it.
  const bool isGuaranteed = entitled(pendingJob);
  if ((!isGuaranteed && isWhole && pools_.contains(pool)) || !hasReservationLeft(pendingJob)) return;
  if (!explainer_.waitsForCapacity(pendingJob, shape) || (!isGuaranteed && reservedByAnother(pendingJob)))
    return;
  if (isWhole) pools_.insert(pool);
  reserve(pendingJob, shape);
}

bool Scheduler::hasReservationLeft(const PendingJob& pendingJob) const {
  return parts_.hasLeft(pendingJob.waiting->job->key.ns, pendingJob.queue);
}

void Scheduler::reserve(const PendingJob& pendingJob, const GangShape& shape) {
  if (!hasReservationLeft(pendingJob)) return;
  const JobPtr& job = pendingJob.waiting->job;
  parts_.take(job->key.ns, pendingJob.queue);
  // An elastic gang waits for its minimum.
  const JobPtr minimum = minimumOf(*job, snapshot_.policy);
  const JobPtr awaited = minimum ? minimum : job;
  Holder holder{.job = awaited,
                .silent = pendingJob.waiting->silent,
                .position = pendingJob.position,
                .queue = pendingJob.queue,
                .rank = pendingJob.rank,
                .overdue = pendingJob.overdue,
                .isEntitled = entitled(pendingJob),
                .shape = shape.key,
                .widest = shape.relaxation.widest,
                .since = pendingJob.pendingFacts->reservedSince.value_or(snapshot_.now),
                .reservingSince = *request_.reservedSince};
  std::optional<Ends> seen = endsFor(pendingJob);
  reservations_.emplace_back(std::move(holder), snapshot_, ledger_, seen ? *seen : ends_, placer_);
  wakeAt(reservations_.back().wakeAt());
  reserveBelowLimits(pendingJob, minimum ? tree_.demandOf(*minimum) : pendingJob.demand);
}

// Returns the ends of other gangs as seen by a holder that may preempt some of them; nothing for others.
std::optional<Ends> Scheduler::endsFor(const PendingJob& holder) {
  const Job& job = *holder.waiting->job;
  const bool preempts = Priorities(snapshot_).mayPreempt(job) && entitled(holder);
  if (!preempts && !preemption_.isHolder(job)) return std::nullopt;
  const Preemptor preemptor = preemptorOf(holder);
  return ends_.seenBy([&](const Job& victim) {
    if (!preempts && model::backfillCondition(victim, job) == nullptr) return std::optional<base::WallTime>();
    return preemptibleByFrom(preemptor, victim);
  });
}

// Returns the time from which on `claimant` may preempt the gang, by its queue's guarantee, its priority or
// a backfill condition. Returns nothing if it may not.
std::optional<base::WallTime> Scheduler::preemptibleByFrom(const Preemptor& preemptor, const Job& gang) {
  const QueueTree::Amounts held = tree_.holdingsOf(gang);
  const Victim victim{&gang, Priorities(snapshot_).of(gang), tree_.queueOf(gang), held, false};
  std::optional<base::WallTime> from;
  if (const auto* condition = model::backfillCondition(gang, *preemptor.job);
      condition != nullptr && hasCondition(preemptor, victim, tree_))
    from = condition->from;
  ShareCache shares(tree_);
  if (!hasRightToPreempt(preemptor, victim, tree_, shares)) return from;
  const auto always = preemptibleFrom(gang, snapshot_);
  if (!always) return from;
  return from ? std::min(*from, *always) : always;
}

// Returns true if an earlier job of the same namespace has a reservation on the same pool. (Lost: of any
// namespace. A tenant's stream of jobs that state a second is always ahead, and a job that can never start
// stays so. The gangs of other tenants then had no reservation at all.)
bool Scheduler::reservedByAnother(const PendingJob& pendingJob) const {
  if (reservations_.empty()) return false;
  const Job& job = *pendingJob.waiting->job;
  const std::vector<char> pool = openPoolOf(job, ledger_, placer_);
  return std::any_of(reservations_.begin(), reservations_.end(), [&](const Reservation& each) {
    return each.holder().job->key.ns == job.key.ns && each.samePool(pool);
  });
}

Scheduler::Judgement Scheduler::judge(const PendingJob& pendingJob,
                                      const std::vector<model::Assignment>& assignments,
                                      const std::vector<Change>* preempted) {
  using Kind = BackfillVerdict::Kind;
  const Job& job = *pendingJob.waiting->job;
  const auto& ownSince = pendingJob.pendingFacts->reservedSince;
  // True if the order uses expected run times, which tenants state.
  const bool byExpectedRun = model::traitsOf(snapshot_.policy.ordering).allowsTimeSlicing;
  std::optional<bool> isEntitled;
  Judgement judgement;
  const auto note = [&](const BackfillVerdict& verdict, const Job& holder) {
    if (verdict.kind != Kind::kConditional) return;
    if (judgement.kind == Kind::kFree) judgement.kind = Kind::kConditional;
    judgement.conditions.push_back({holder.key, holder.uid, verdict.from});
  };
  for (std::size_t i = 0; i < reservations_.size(); ++i) {
    Reservation& each = reservations_[i];
    if (!each.concerns(assignments)) continue;
    if (!isEntitled) isEntitled = entitled(pendingJob);
    const Holder& holder = each.holder();
    const bool isInQueue = holder.queue == pendingJob.queue;
    const bool isHigher = isInQueue && pendingJob.priority > holder.rank.priority;
    const bool comesFirst = isInQueue && !holder.overdue && pendingJob.rank.before(holder.rank);
    const bool isOlder = ownSince && *ownSince < holder.since && (isInQueue || !holder.isEntitled);
    BackfillRequest request = requestOf(pendingJob, holder.queue, *holder.job);
    request.comesFirst = comesFirst;
    const TakenFromHolder passed =
        preempted == nullptr ? TakenFromHolder{} : takeFromHolder(holder, *preempted);
    request.inheritedFrom = passed.inheritedFrom;
    const BackfillVerdict verdict =
        each.judge({.job = &job,
                    .isEntitled = *isEntitled || isHigher || isOlder || (comesFirst && !byExpectedRun),
                    .request = request,
                    .preempts = preempted != nullptr,
                    .handedOver = &passed.handedOver},
                   assignments);
    wakeAt(verdict.again);
    note(verdict, *holder.job);
    if (!verdict.isReserved()) continue;
    judgement.by = i;
    if (judgement.kind != Kind::kReserved) judgement.kind = verdict.kind;
  }
  if (preempted == nullptr && !judgement.isReserved()) {
    for (auto& each : conditionsForUpcomingHolders(pendingJob, assignments)) {
      judgement.kind = Kind::kConditional;
      judgement.conditions.push_back(std::move(each));
    }
  }
  if (limitHolds_.empty() || judgement.isReserved()) return judgement;
  const QueueTree::Amounts held = tree_.heldBy(job, assignments);
  for (const LimitHold& each : limitHolds_) note(judgeBelow(each, pendingJob, held), *each.job);
  return judgement;
}

// One period for all reservations. (Lost: a period for each holder, or for each pool. Two of them keep the
// capacity of a gang that needs both for ever, in turn. Lost: periods by the clock alone. Whether a gang
// keeps its capacity in the first minutes then depends on the time of day.)
void Scheduler::noteReservedSince(const std::vector<PendingJob>& pendingJobs) {
  base::WallTime since = request_.reservedSince.value_or(snapshot_.now);
  for (const PendingJob& each : pendingJobs) {
    if (each.pendingFacts->reservedSince) since = std::min(since, *each.pendingFacts->reservedSince);
  }
  request_.reservedSince = since;
}

// Only for orderings by expected run time. Otherwise a job that is served first needs no condition.
void Scheduler::listUpcomingHolders(const std::vector<PendingJob>& pendingJobs) {
  if (!snapshot_.policy.backfill.enabled || !model::traitsOf(snapshot_.policy.ordering).allowsTimeSlicing)
    return;
  for (const PendingJob& each : pendingJobs) {
    if (each.pendingFacts->reservedSince) upcomingHolders_.push_back({&each});
  }
}

// A gang with a shorter expected run is served before the holder of a reservation in its queue. So no
// reservation is in its way yet. The holder may preempt it minRuntime after that run should have ended.
// (Lost: no condition. A job that states one second and never ends then keeps a pending gang of its queue
// from its capacity for ever.)
Scheduler::Conditions Scheduler::conditionsForUpcomingHolders(
    const PendingJob& pendingJob, const std::vector<model::Assignment>& assignments) {
  Conditions conditions;
  const auto& ownSince = pendingJob.pendingFacts->reservedSince;
  for (UpcomingHolder& each : upcomingHolders_) {
    const PendingJob& holder = *each.pendingJob;
    if (holder.queue != pendingJob.queue || holder.priority != pendingJob.priority) continue;
    if (ownSince && *ownSince < *holder.pendingFacts->reservedSince) continue;
    BackfillRequest request = requestOf(pendingJob, holder.queue, *holder.waiting->job);
    if (!request.isPreemptible || entitled(pendingJob)) continue;
    if (!each.pool) each.pool = openPoolOf(*holder.waiting->job, ledger_, placer_);
    const bool concerned = std::any_of(assignments.begin(), assignments.end(), [&](const auto& place) {
      const auto node = ledger_.find(place.node);
      return node && (*each.pool)[*node] != 0;
    });
    if (!concerned) continue;
    request.comesFirst = true;
    const BackfillVerdict lent = lendReserved(request, {}, snapshot_.now, snapshot_.policy);
    conditions.push_back({holder.waiting->job->key, holder.waiting->job->uid, lent.from});
  }
  return conditions;
}

// Capacity of gangs that the holder cannot preempt is handed over. The rest is taken with the time from which
// on the holder may have it. (Lost: all but gangs of lower priority in the holder's queue are handed over. A
// tenant then rids its capacity of the condition by any preemption within its own queue.)
Scheduler::TakenFromHolder Scheduler::takeFromHolder(const Holder& holder,
                                                     const std::vector<Change>& preempted) {
  const Priorities priorities(snapshot_);
  if (!priorities.mayPreempt(*holder.job)) return {preempted, std::nullopt};
  const Preemptor preemptor{.job = holder.job.get(),
                            .priority = holder.rank.priority,
                            .queue = holder.queue,
                            .demand = tree_.demandOf(*holder.job)};
  // Preemption rights are checked against the queues as they were before the claim.
  for (const Change& each : preempted)
    tree_.unmarkLeaving(tree_.queueOf(*each.job), tree_.heldBy(*each.job, each.remove));
  TakenFromHolder passed;
  for (const Change& each : preempted) {
    if (const auto from = preemptibleByFrom(preemptor, *each.job)) {
      passed.inheritedFrom = passed.inheritedFrom ? std::min(*passed.inheritedFrom, *from) : *from;
    } else {
      passed.handedOver.push_back(each);
    }
  }
  for (const Change& each : preempted)
    tree_.markLeaving(tree_.queueOf(*each.job), tree_.heldBy(*each.job, each.remove));
  return passed;
}

BackfillRequest Scheduler::requestOf(const PendingJob& pendingJob, QueueTree::Index holders,
                                     const Job& holder) {
  const Job& job = *pendingJob.waiting->job;
  const bool isForbidden = holders == pendingJob.queue && forbidsPreemptionWithin(tree_.node(holders));
  return {.isPreemptible = job.spec.preemptible && !isForbidden && Priorities(snapshot_).mayPreempt(holder),
          .run = cautiousRun(job, snapshot_.now, runs_),
          .deadline = job.spec.run.activeDeadline};
}

// Returns another placement that is not kept: off the nodes that a gang has just left, or off the reserved
// nodes as well.
std::optional<Placement> Scheduler::placeOffReserved(const PendingJob& pendingJob, const GangShape& shape,
                                                     const Placement& found) {
  std::vector<model::NodeName> freed;
  std::vector<model::NodeName> reserved;
  for (const Reservation& each : reservations_) {
    if (!each.concerns(found.assignments)) continue;
    freed.insert(freed.end(), each.freedNodes().begin(), each.freedNodes().end());
    const auto nodes = each.reservedNodes();
    reserved.insert(reserved.end(), nodes.begin(), nodes.end());
  }
  if (!freed.empty()) {
    auto assignments = placeOffNodes(freed, pendingJob, shape);
    if (assignments && !judge(pendingJob, assignments->assignments).isReserved()) return assignments;
  }
  if (reserved.empty()) return std::nullopt;
  freed.insert(freed.end(), reserved.begin(), reserved.end());
  auto assignments = placeOffNodes(std::move(freed), pendingJob, shape);
  if (assignments && !judge(pendingJob, assignments->assignments).isReserved()) return assignments;
  return std::nullopt;
}

std::optional<Placement> Scheduler::placeOffNodes(std::vector<model::NodeName> nodes,
                                                  const PendingJob& pendingJob, const GangShape& shape) {
  const Job& job = *pendingJob.waiting->job;
  PlaceRequest request = placer_.request(job, shape.relaxation.widest);
  request.avoidNodes = std::move(nodes);
  auto placement = placer_.tryPlace(request);
  if (!placement) return std::nullopt;
  const QueueTree::Amounts held = tree_.heldBy(job, placement->assignments);
  const bool beyond = tree_.beyondLimit(pendingJob.queue, held) ||
                      tree_.beyondLimitWithLeaving(pendingJob.queue, held) ||
                      (!job.spec.preemptible && tree_.beyondNonPreemptible(pendingJob.queue, held));
  if (beyond || reservedBelowLimit(pendingJob, held)) return std::nullopt;
  return placement;
}

// Returns the nodes kept by those reservations that any of these assignments concerns.
std::vector<model::NodeName> Scheduler::nodesOfReservations(
    const std::vector<model::Assignment>& assignments) const {
  std::vector<model::NodeName> kept;
  for (const Reservation& each : reservations_) {
    if (!each.concerns(assignments)) continue;
    kept.insert(kept.end(), each.freedNodes().begin(), each.freedNodes().end());
    const auto nodes = each.reservedNodes();
    kept.insert(kept.end(), nodes.begin(), nodes.end());
  }
  return kept;
}

Scheduler::HeldBackKey Scheduler::heldBackKey(const PendingJob& pendingJob, const GangShape& shape,
                                              Basis basis) {
  const model::JobSpec& spec = pendingJob.waiting->job->spec;
  return {pendingJob.queue,       shape.key, shape.relaxation.widest, spec.preemptible,
          isCheckpointable(spec), basis,     spec.run.activeDeadline};
}

// A placement kept from one job is kept from its equals, unless they end earlier or avoid nodes of their own.
bool Scheduler::equivalentWasHeldBack(const PendingJob& pendingJob, const GangShape& shape) {
  const Job& job = *pendingJob.waiting->job;
  if (heldBack_.empty() || job.status.gang.backoff) return false;
  const ExpectedRun run = cautiousRun(job, snapshot_.now, runs_);
  const auto equal = heldBack_.find(heldBackKey(pendingJob, shape, run.basis));
  if (equal == heldBack_.end() || run.time < equal->second.run) return false;
  reportHeldBack(pendingJob, shape, equal->second);
  return true;
}

// The contender found only a placement that is kept for another gang.
void Scheduler::holdBack(const PendingJob& pendingJob, const GangShape& shape, const Judgement& judgement) {
  const Job& job = *pendingJob.waiting->job;
  const ExpectedRun run = cautiousRun(job, snapshot_.now, runs_);
  const HeldBack held{run.time, judgement.kind == BackfillVerdict::Kind::kReservedBriefly, judgement.by};
  if (!job.status.gang.backoff) heldBack_[heldBackKey(pendingJob, shape, run.basis)] = held;
  reportHeldBack(pendingJob, shape, held);
}

void Scheduler::reportHeldBack(const PendingJob& pendingJob, const GangShape& shape, const HeldBack& held) {
  if (const auto& next = shape.relaxation.next)
    wakeAt(placer_.waitingSinceOf(*pendingJob.waiting->job, pendingJob.position) + next->after);
  explainer_.heldBack(pendingJob, reservations_[held.by], held.briefly, schedule_);
}

}  // namespace trainyard::core
