#include "core/schedule/scheduler.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/preemption/claims.h"
#include "core/queues/holdings.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "core/schedule/pending_rights.h"
#include "core/schedule/type_seekers.h"
#include "core/status/explain.h"

namespace trainyard::core {

Scheduler::Scheduler(const ScheduleRequest& request)
    : in_(request),
      report_(in_.tree),
      overdue_({.snapshot = in_.snapshot,
                .placer = in_.placer,
                .cache = request.cache,
                .report = report_,
                .runs = in_.runs}),
      explainer_({.snapshot = in_.snapshot,
                  .ledger = in_.ledger,
                  .tree = in_.tree,
                  .placer = in_.placer,
                  .cache = request.cache,
                  .report = report_,
                  .ends = in_.ends,
                  .runs = in_.runs,
                  .overdue = overdue_}),
      step_(in_, explainer_) {
  request.cache.notes.follow(in_.snapshot.jobs);
  request.cache.followQueues(in_.snapshot);
  unreachedBefore_ = std::exchange(request.cache.progress.unreached, std::nullopt);
}

Schedule Scheduler::run() {
  std::vector<PendingJob> pendingJobs;
  pendingJobs.reserve(in_.request.waiting.size());  // pointers to its elements stay valid
  listPendingJobs(false, pendingJobs);
  forgetUnreached(pendingJobs);
  report_.countWaiting(pendingJobs);
  keepReservedPositions(pendingJobs);
  step_.book().begin(pendingJobs);
  in_.placer.preferredTypes().choose(typesForWaiting(pendingJobs, in_.snapshot, in_.ledger, in_.tree));
  // They have a place in the order, but count in no report, and get nothing.
  const std::size_t awake = pendingJobs.size();
  listPendingJobs(true, pendingJobs);
  for (std::size_t i = awake; i < pendingJobs.size(); ++i) step_.book().expectResting(pendingJobs[i]);
  PendingOrder order(in_.tree, pendingJobs);
  while (const PendingJob* pendingJob = order.next()) {
    if (consider(*pendingJob)) order.charged();
  }
  resize();
  report();
  return std::move(in_.schedule);
}

void Scheduler::listPendingJobs(bool rests, std::vector<PendingJob>& pendingJobs) {
  const ScheduleRequest& request = in_.request;
  const OrderSettings settings = orderSettings(in_.snapshot.policy);
  const Priorities priorities(in_.snapshot);
  in_.schedule.waits.reserve(request.waiting.size());
  std::size_t position = 0;
  for (const SchedulableJob& waiting : request.waiting) {
    const model::Job& job = *waiting.job;
    if (waiting.rests != rests) continue;
    position = request.cache.notes.find(waiting.job, position);
    auto& facts = request.cache.notes.of(position).pendingFacts;
    if (!facts) facts = pendingFactsOf(job, priorities);
    pendingJobs.push_back({.waiting = &waiting,
                           .priority = facts->priority,
                           .queue = facts->queue,
                           .demand = demandOfShape(job, request.cache.shapeOf(job, position)),
                           .queuePosition = queuePositionOf(job, facts->priority, facts->queuePositionFacts,
                                                            settings, in_.runs),
                           .position = position,
                           .pendingFacts = &*facts});
    if (!rests) in_.tree.noteWaiting(facts->queue, pendingJobs.back().demand);
    ++position;
  }
}

JobNotes::PendingFacts Scheduler::pendingFactsOf(const model::Job& job, const Priorities& priorities) {
  const auto& pending = job.status.pending;
  return {.queuePositionFacts = queuePositionFactsOf(job, in_.snapshot.now, in_.runs),
          .priority = priorities.of(job),
          .queue = in_.tree.queueOf(job),
          .reservedSince = pending ? pending->reservedSince : std::nullopt,
          .estimatedDuration = job.spec.estimatedDuration,
          .preemptible = job.spec.preemptible,
          .mayPreempt = priorities.mayPreempt(job),
          .timesOut = job.spec.schedulingTimeout.count() != 0,
          .plain = !job.spec.elastic && !job.status.gang.backoff,
          .knowsTypes = knowsTypes(job)};
}

// Computed once for all jobs of a shape.
const Amounts& Scheduler::demandOfShape(const model::Job& job, std::uint32_t shape) {
  if (shape >= demands_.size()) demands_.resize(shape + std::size_t{1});
  auto& demand = demands_[shape];
  if (!demand) demand = std::make_unique<const Amounts>(demandOf(in_.tree.capacity(), job));
  return *demand;
}

// The job that was not reached may be gone. Then no job's turn is due.
void Scheduler::forgetUnreached(const std::vector<PendingJob>& pendingJobs) {
  const auto isUnreached = [&](const PendingJob& each) {
    return each.waiting->job->key == *unreachedBefore_;
  };
  if (unreachedBefore_ && std::none_of(pendingJobs.begin(), pendingJobs.end(), isUnreached))
    unreachedBefore_.reset();
}

// Positions are kept only if queues are compared by present usage alone. If past usage counts, a job that
// comes late is served in the end. A queue that used less must not wait for a position that another queue was
// given before.
void Scheduler::keepReservedPositions(std::vector<PendingJob>& pendingJobs) {
  const bool byPresentUse = !in_.snapshot.policy.usageHalfLife;
  for (PendingJob& each : pendingJobs) {
    const auto& reservedSince = each.pendingFacts->reservedSince;
    if (!reservedSince) continue;
    if (byPresentUse && report_.isBelowShare(each.queue)) each.reservationSince = reservedSince;
    each.overdue = overdue_.isOverdue(each);
  }
}

// Half of the budget is for the first jobs, the other half for jobs that the last cycle did not reach.
bool Scheduler::isReached(const PendingJob& pendingJob) {
  const model::ObjectKey& key = pendingJob.waiting->job->key;
  auto& unreached = in_.request.cache.progress.unreached;
  if (unreachedBefore_ == key) unreachedBefore_.reset();
  const bool forUnreached = unreachedBefore_ && in_.placer.budget().left() < WorkBudget::kPerCycle / 2;
  if (!forUnreached && !in_.placer.budget().exhausted()) return true;
  if (!unreached && !forUnreached) unreached = key;
  return false;
}

// Excludes GPU types that the queue may never hold enough of for the job. It then waits for other types.
void Scheduler::closeTypes(const PendingJob& pendingJob) {
  if (!in_.tree.dimensions().namesTypes()) return;
  const model::Job& job = *pendingJob.waiting->job;
  const auto minimum = minimumOf(job, in_.snapshot.policy);
  auto closed = in_.types.closedTo(pendingJob.queue, minimum ? *minimum : job,
                                   in_.request.cache.shapeOf(job, pendingJob.position));
  if (closed) in_.placer.close(job.key, std::move(closed));
}

bool Scheduler::consider(const PendingJob& pendingJob) {
  step_.book().beginTurn(pendingJob);
  if (pendingJob.waiting->rests) {
    step_.book().rest(pendingJob);
    return false;
  }
  if (!in_.starting.mayStart(pendingJob.waiting->job->key.ns))
    return explainer_.behindStarting(pendingJob, in_.schedule);
  if (!isReached(pendingJob)) return explainer_.notReached(pendingJob, in_.schedule);
  closeTypes(pendingJob);
  if (blockedQueues_.empty()) {
    if (const auto equal = step_.equivalentUnplaced(pendingJob))
      return explainer_.noteUnplacedAs(pendingJob, *equal, in_.schedule);
  }
  const auto beyond = beyondLimit(in_.tree, pendingJob.queue, pendingJob.demand);
  // Jobs behind the first one that waits for a limit start below it only on the condition of its reservation.
  if (const auto blocked = blockedQueues_.find(pendingJob.queue);
      blocked != blockedQueues_.end() && (beyond || !in_.snapshot.policy.backfill.enabled)) {
    if (in_.snapshot.policy.backfill.enabled && step_.startSmaller(pendingJob)) return true;
    return explainer_.addWait(pendingJob, blocked->second, in_.schedule);
  }
  if (beyond) return step_.startAsGuaranteed(pendingJob) || outOfQuota(pendingJob, *beyond);
  if (const auto withLeaving = beyondLimitWithLeaving(in_.tree, pendingJob.queue, pendingJob.demand)) {
    if (step_.startAsGuaranteed(pendingJob)) return true;
    if (neverStarts(pendingJob)) return false;
    if (step_.claimBeforeLeaving(pendingJob)) return true;
    waitForLimit(pendingJob, *withLeaving, pendingJob.demand);
    return false;
  }
  if (!pendingJob.pendingFacts->preemptible) {
    if (const auto share = beyondNonPreemptible(in_.tree, pendingJob.queue, pendingJob.demand))
      return step_.startSmaller(pendingJob) || outOfNominalQuota(pendingJob, *share);
  }
  return place(pendingJob);
}

bool Scheduler::place(const PendingJob& pendingJob) {
  const auto result = step_.place(pendingJob, blockedQueues_.contains(pendingJob.queue));
  if (result.isStarted || result.isOutOfQuota || in_.snapshot.policy.backfill.enabled)
    return result.isStarted;
  // Without backfill no job of the queue starts before one that waits for capacity.
  const GangShape shape = in_.shapeOf(pendingJob);
  if (explainer_.waitsForCapacity(pendingJob, shape))
    blockQueue(pendingJob, explainer_.classified(pendingJob, shape));
  return false;
}

// A job that these nodes could never hold does not wait for a limit, and no job waits behind it.
bool Scheduler::neverStarts(const PendingJob& pendingJob) {
  const GangShape shape = in_.shapeOf(pendingJob);
  if (in_.placer.mayEverStart(*pendingJob.waiting->job, shape.key)) return false;
  explainer_.noteUnplaced(pendingJob, shape, in_.schedule);
  return true;
}

bool Scheduler::outOfQuota(const PendingJob& pendingJob, Excess beyond) {
  if (neverStarts(pendingJob)) return false;
  if (const auto minimum = minimumOf(*pendingJob.waiting->job, in_.snapshot.policy)) {
    const auto minimumBeyond =
        beyondLimit(in_.tree, pendingJob.queue, demandOf(in_.tree.capacity(), *minimum));
    if (!minimumBeyond) return step_.placeMinimum(pendingJob, *minimum);
    beyond = *minimumBeyond;
  }
  if (step_.claim(pendingJob, in_.shapeOf(pendingJob))) return true;
  waitForLimit(pendingJob, beyond, startDemandOf(in_, pendingJob));
  return false;
}

bool Scheduler::outOfNominalQuota(const PendingJob& pendingJob, const Excess& beyond) {
  if (neverStarts(pendingJob)) return false;
  const auto minimum = minimumOf(*pendingJob.waiting->job, in_.snapshot.policy);
  if (minimum && !beyondNonPreemptible(in_.tree, pendingJob.queue, demandOf(in_.tree.capacity(), *minimum)))
    return step_.placeMinimum(pendingJob, *minimum);
  return explainer_.addWait(pendingJob, explainer_.limits().guaranteeReached(beyond), in_.schedule);
}

void Scheduler::waitForLimit(const PendingJob& pendingJob, const Excess& beyond, const Amounts& demand) {
  in_.wakeAtRelaxation(pendingJob, in_.shapeOf(pendingJob));
  const auto pending = explainer_.limits().limitReached(pendingJob, beyond, demand);
  blockQueue(pendingJob, *pending);
  if (in_.snapshot.policy.backfill.enabled) step_.book().reserveBelowLimit(pendingJob, beyond);
  explainer_.addWait(pendingJob, pending, in_.schedule);
}

void Scheduler::blockQueue(const PendingJob& pendingJob, const model::Pending& pending) {
  auto behind = std::make_shared<model::Pending>(explainPosition(*pendingJob.waiting->job, pending));
  behind->delay = pending.delay;
  explainer_.limits().waitsBehind(pendingJob, behind);
  blockedQueues_.emplace(pendingJob.queue, std::move(behind));
}

void Scheduler::resize() {
  if (!in_.snapshot.policy.resize.enabled) return;
  std::set<const model::Job*> changed = in_.request.changing;
  for (const Change& each : in_.schedule.changes) changed.insert(each.job.get());
  const auto claimed = claimedGangs(in_.request.cache.notes.proposing(), in_.snapshot.pods);
  ResizeAnswer answer = resizeGangs(
      {.snapshot = in_.snapshot,
       .ledger = in_.ledger,
       .domains = in_.request.domains,
       .queues = in_.tree,
       .gangs = in_.request.cache.notes.preemptibleNow(),
       .wanted =
           [this](const model::Job& job, const std::vector<model::Assignment>& assignments) {
             return step_.book().concerns(job, assignments);
           },
       .takesPart =
           [&](const model::Job& job) { return changed.contains(&job) || claimed.contains(job.key); },
       .fits = in_.request.cache.fits,
       .refusals = in_.placer.refusals()});
  for (Change& each : answer.changes) in_.schedule.changes.push_back(std::move(each));
  in_.schedule.sizes = answer.terms;
  in_.wakeAt(answer.wakeAt);
}

void Scheduler::report() {
  Schedule& schedule = in_.schedule;
  const auto& reservations = step_.book().reservations();
  const auto& limitHolds = step_.book().limitHolds().all();
  explainer_.explain(reservations, schedule);
  for (const Reservation& each : reservations)
    schedule.reservedPools.push_back(
        {each.holder().job->key, each.holder().queue, each.holder().queuePosition.priority, each.pool()});
  schedule.limitHolds = limitHolds;
  if (reservations.empty() && limitHolds.empty()) in_.request.reservedSince.reset();
  in_.wakeAt(in_.preemption.gangs().wakeAt());
  in_.wakeAt(explainer_.wakeAt());
  schedule.queues = report_.updates(in_.snapshot, schedule);
  schedule.fairnessLossPermille = report_.fairnessLossPermille();
}

}  // namespace trainyard::core
