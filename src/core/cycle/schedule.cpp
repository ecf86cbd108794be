#include "core/cycle/schedule.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/cycle/scheduler.h"
#include "core/cycle/type_seekers.h"
#include "core/preemption/claims.h"
#include "core/queues/guarantee.h"
#include "core/queues/priority.h"
#include "core/resize.h"

namespace trainyard::core {

Scheduler::Scheduler(const ScheduleRequest& request)
    : request_(request),
      snapshot_(request.snapshot),
      ledger_(request.ledger),
      tree_(request.queues),
      placer_(snapshot_, ledger_, request.domains, request.cache),
      types_(snapshot_, ledger_, tree_, placer_, request.cache),
      runs_(snapshot_, request.cache.liveRuns),
      orderSettings_(orderSettings(snapshot_.policy)),
      ends_(snapshot_, request.cache.notes, ledger_, runs_),
      preemption_(
          snapshot_, request.cache.notes, ledger_, tree_, placer_, ends_, runs_,
          [this](const Job& job, int priority) { return rankOf(job, priority, snapshot_, runs_); },
          request.changing),
      report_(tree_),
      overdue_({snapshot_, placer_, request.cache, report_, runs_}),
      explainer_({snapshot_, ledger_, tree_, placer_, request.cache, report_, ends_, runs_, overdue_}),
      startingOf_(request.startingMembers) {
  for (const auto& [ns, members] : startingOf_) starting_ += members;
  request.cache.notes.follow(snapshot_.jobs);
  request.cache.followQueues(snapshot_);
  unreachedBefore_ = std::exchange(request.cache.unreached, std::nullopt);
}

Schedule Scheduler::run() {
  std::vector<PendingJob> pendingJobs = listPendingJobs();
  // The job that was not reached may be gone. Then no job's turn is due.
  const auto isUnreached = [&](const PendingJob& each) {
    return each.waiting->job->key == *unreachedBefore_;
  };
  if (unreachedBefore_ && std::none_of(pendingJobs.begin(), pendingJobs.end(), isUnreached))
    unreachedBefore_.reset();
  report_.countWaiting(pendingJobs);
  for (const PendingJob& each : pendingJobs) parts_.addWaiting(each.waiting->job->key.ns, each.queue);
  keepReservedPositions(pendingJobs);
  noteReservedSince(pendingJobs);
  listUpcomingHolders(pendingJobs);
  placer_.prefer(typesForWaiting(pendingJobs, snapshot_, ledger_, tree_));
  PendingOrder order(tree_, pendingJobs);
  while (const PendingJob* pendingJob = order.next()) {
    if (consider(*pendingJob)) order.charged();
  }
  resize();
  explainer_.explain(reservations_, schedule_);
  for (const Reservation& each : reservations_)
    schedule_.reservedPools.push_back(
        {each.holder().job->key, each.holder().queue, each.holder().rank.priority, each.pool()});
  schedule_.limitHolds = limitHolds_;
  if (reservations_.empty() && limitHolds_.empty()) request_.reservedSince.reset();
  wakeAt(preemption_.wakeAt());
  wakeAt(explainer_.wakeAt());
  schedule_.queues = report_.updates(snapshot_, schedule_);
  schedule_.fairnessLossPermille = report_.fairnessLossPermille();
  return std::move(schedule_);
}

std::vector<PendingJob> Scheduler::listPendingJobs() {
  const Priorities priorities(snapshot_);
  std::vector<PendingJob> pendingJobs;
  pendingJobs.reserve(request_.waiting.size());
  schedule_.waits.reserve(request_.waiting.size());
  std::size_t position = 0;
  for (const SchedulableJob& waiting : request_.waiting) {
    const Job& job = *waiting.job;
    position = request_.cache.notes.find(waiting.job, position);
    auto& pendingFacts = request_.cache.notes.of(position).pendingFacts;
    if (!pendingFacts) pendingFacts = pendingFactsOf(job, priorities);
    pendingJobs.push_back(
        {.waiting = &waiting,
         .priority = pendingFacts->priority,
         .queue = pendingFacts->queue,
         .demand = demandOf(job, request_.cache.shapeOf(job, position)),
         .rank = rankOf(job, pendingFacts->priority, pendingFacts->standing, orderSettings_, runs_),
         .position = position,
         .pendingFacts = &*pendingFacts});
    tree_.noteWaiting(pendingFacts->queue, pendingJobs.back().demand);
    ++position;
  }
  return pendingJobs;
}

JobNotes::PendingFacts Scheduler::pendingFactsOf(const Job& job, const Priorities& priorities) {
  const auto& pending = job.status.pending;
  return {.standing = rankFactsOf(job, snapshot_.now, runs_),
          .priority = priorities.of(job),
          .queue = tree_.queueOf(job),
          .reservedSince = pending ? pending->reservedSince : std::nullopt,
          .estimatedDuration = job.spec.estimatedDuration,
          .preemptible = job.spec.preemptible,
          .mayPreempt = priorities.mayPreempt(job),
          .timesOut = job.spec.schedulingTimeout.count() != 0,
          .plain = !job.spec.elastic && !job.status.gang.backoff,
          .knowsTypes = knowsTypes(job)};
}

// Computed once for all jobs of a shape.
const QueueTree::Amounts& Scheduler::demandOf(const Job& job, std::uint32_t shape) {
  if (shape >= demands_.size()) demands_.resize(shape + std::size_t{1});
  auto& demand = demands_[shape];
  if (!demand) demand = std::make_unique<const QueueTree::Amounts>(tree_.demandOf(job));
  return *demand;
}

// Turns are kept only if queues are compared by present usage alone. If past usage counts, a job that comes
// late is served in the end. A queue that used less must not wait for a turn that another queue was given
// before.
void Scheduler::keepReservedPositions(std::vector<PendingJob>& pendingJobs) {
  const bool byPresentUse = !snapshot_.policy.usageHalfLife;
  for (PendingJob& each : pendingJobs) {
    const auto& reservedSince = each.pendingFacts->reservedSince;
    if (!reservedSince) continue;
    if (byPresentUse && report_.isBelowShare(each.queue)) each.reservationSince = reservedSince;
    each.overdue = overdue_.isOverdue(each);
  }
}

// Half of the budget is for the first jobs, the other half for jobs that the last cycle did not reach.
bool Scheduler::reached(const PendingJob& pendingJob) {
  const model::ObjectKey& key = pendingJob.waiting->job->key;
  if (unreachedBefore_ == key) unreachedBefore_.reset();
  const bool forUnreached = unreachedBefore_ && placer_.budget().left() < WorkBudget::kPerCycle / 2;
  if (!forUnreached && !placer_.budget().exhausted()) return true;
  if (!request_.cache.unreached && !forUnreached) request_.cache.unreached = key;
  return false;
}

// The number of starting members is bounded, because each costs the API server and kube-scheduler work. A
// namespace below its part of the bound does not wait for others: their members may never be bound.
bool Scheduler::mayStartMembers(const PendingJob& pendingJob) const {
  if (starting_ < request_.maxStartingMembers) return true;
  const auto own = startingOf_.find(pendingJob.waiting->job->key.ns);
  if (own == startingOf_.end()) return true;
  const auto namespaces = static_cast<std::int64_t>(startingOf_.size());
  return own->second < request_.maxStartingMembers / namespaces;
}

// Excludes GPU types that the queue may never hold enough of for the job. It then waits for other types.
void Scheduler::closeTypes(const PendingJob& pendingJob) {
  if (!tree_.namesTypes()) return;
  const Job& job = *pendingJob.waiting->job;
  const JobPtr minimum = minimumOf(job, snapshot_.policy);
  auto closed = types_.closedTo(pendingJob.queue, minimum ? *minimum : job,
                                request_.cache.shapeOf(job, pendingJob.position));
  if (closed) placer_.close(job.key, std::move(closed));
}

// Returns whether it was charged to its queue.
bool Scheduler::consider(const PendingJob& pendingJob) {
  std::erase_if(upcomingHolders_, [&](const UpcomingHolder& each) { return each.pendingJob == &pendingJob; });
  if (!mayStartMembers(pendingJob)) return explainer_.behindStarting(pendingJob, schedule_);
  if (!reached(pendingJob)) return explainer_.notReached(pendingJob, schedule_);
  closeTypes(pendingJob);
  if (blockedQueues_.empty()) {
    if (const auto equal = equivalentUnplaced(pendingJob))
      return explainer_.noteUnplacedAs(pendingJob, *equal, schedule_);
  }
  const auto beyondLimit = tree_.beyondLimit(pendingJob.queue, pendingJob.demand);
  // Jobs behind the first one that waits for a limit start below it only on the condition of its reservation.
  if (const auto stopped = blockedQueues_.find(pendingJob.queue);
      stopped != blockedQueues_.end() && (beyondLimit || !snapshot_.policy.backfill.enabled)) {
    return explainer_.addWait(pendingJob, stopped->second, schedule_);
  }
  if (const auto& beyond = beyondLimit) {
    if (startsSmaller(pendingJob)) return true;
    return outOfQuota(pendingJob, *beyond);
  }
  if (const auto beyond = tree_.beyondLimitWithLeaving(pendingJob.queue, pendingJob.demand)) {
    if (neverStarts(pendingJob)) return false;
    const auto pending = explainer_.limits().limitReached(pendingJob, *beyond, pendingJob.demand);
    blockQueue(pendingJob, *pending);
    if (snapshot_.policy.backfill.enabled) holdBelowLimit(pendingJob, *beyond);
    return explainer_.addWait(pendingJob, pending, schedule_);
  }
  if (!pendingJob.pendingFacts->preemptible) {
    if (const auto beyond = tree_.beyondNonPreemptible(pendingJob.queue, pendingJob.demand)) {
      if (startsSmaller(pendingJob)) return true;
      return outOfNominalQuota(pendingJob, *beyond);
    }
  }
  return findPlacement(pendingJob);
}

void Scheduler::resize() {
  if (!snapshot_.policy.resize.enabled) return;
  std::set<const Job*> changed = request_.changing;
  for (const Change& each : schedule_.changes) changed.insert(each.job.get());
  const auto claimed = claimedGangs(request_.cache.notes.proposing(), snapshot_.pods);
  ResizeAnswer answer = resizeGangs(
      {.snapshot = snapshot_,
       .ledger = ledger_,
       .domains = request_.domains,
       .queues = tree_,
       .gangs = request_.cache.notes.preemptibleNow(),
       .wanted =
           [this](const Job& job, const std::vector<model::Assignment>& assignments) {
             const QueueTree::Amounts held = tree_.heldBy(job, assignments);
             return std::any_of(reservations_.begin(), reservations_.end(),
                                [&](const Reservation& each) { return each.concerns(assignments); }) ||
                    std::any_of(limitHolds_.begin(), limitHolds_.end(), [&](const LimitHold& each) {
                      return !each.leavesCapacity(tree_, tree_.queueOf(job), held);
                    });
           },
       .takesPart = [&](const Job& job) { return changed.contains(&job) || claimed.contains(job.key); },
       .fits = request_.cache.fits,
       .refusals = placer_.refusals()});
  for (Change& each : answer.changes) schedule_.changes.push_back(std::move(each));
  schedule_.sizes = answer.terms;
  wakeAt(answer.wakeAt);
}

const model::ObjectKey* Schedule::reservedFor(const model::Job& job, int priority,
                                              const std::vector<model::Assignment>& assignments,
                                              const Ledger& ledger, const QueueTree& tree) const {
  if (reservedPools.empty() && limitHolds.empty()) return nullptr;
  const QueueTree::Index queue = tree.queueOf(job);
  const QueueTree::Amounts held = tree.heldBy(job, assignments);
  if (isWithinGuarantee(tree, queue, held)) return nullptr;
  for (const ReservedPool& pool : reservedPools) {
    if (pool.queue == queue && pool.priority < priority) continue;
    for (const model::Assignment& each : assignments) {
      const auto node = ledger.find(each.node);
      if (node && pool.nodes[*node] != 0) return &pool.holder;
    }
  }
  for (const LimitHold& each : limitHolds) {
    if (each.own == queue && each.rank.priority < priority) continue;
    if (!each.leavesCapacity(tree, queue, held)) return &each.job->key;
  }
  return nullptr;
}

Schedule schedule(const ScheduleRequest& request) { return Scheduler(request).run(); }

}  // namespace trainyard::core
