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
      words_({snapshot_, ledger_, tree_, placer_, request.cache, report_, ends_, runs_, overdue_}),
      startingOf_(request.startingMembers) {
  for (const auto& [ns, members] : startingOf_) starting_ += members;
  request.cache.notes.follow(snapshot_.jobs);
  request.cache.followQueues(snapshot_);
  unreachedBefore_ = std::exchange(request.cache.unreached, std::nullopt);
}

Schedule Scheduler::run() {
  std::vector<Contender> contenders = listContenders();
  // The job that was not reached may be gone. Then no job's turn is due.
  const auto isUnreached = [&](const Contender& each) { return each.waiting->job->key == *unreachedBefore_; };
  if (unreachedBefore_ && std::none_of(contenders.begin(), contenders.end(), isUnreached))
    unreachedBefore_.reset();
  report_.countWaiting(contenders);
  for (const Contender& each : contenders) parts_.addWaiting(each.waiting->job->key.ns, each.queue);
  keepTurns(contenders);
  noteReservedSince(contenders);
  listHoldersToCome(contenders);
  placer_.prefer(typesForWaiting(contenders, snapshot_, ledger_, tree_));
  WaitingOrder order(tree_, contenders);
  while (const Contender* contender = order.next()) {
    if (consider(*contender)) order.charged();
  }
  resize();
  words_.explain(reservations_, schedule_);
  for (const Reservation& each : reservations_)
    schedule_.keptPools.push_back(
        {each.holder().job->key, each.holder().queue, each.holder().rank.priority, each.pool()});
  schedule_.keptBelow = limitHolds_;
  if (reservations_.empty() && limitHolds_.empty()) request_.reservedSince.reset();
  wakeAt(preemption_.wakeAt());
  wakeAt(words_.wakeAt());
  schedule_.queues = report_.news(snapshot_, schedule_);
  schedule_.fairnessLossPermille = report_.fairnessLossPermille();
  return std::move(schedule_);
}

std::vector<Contender> Scheduler::listContenders() {
  const Priorities priorities(snapshot_);
  std::vector<Contender> contenders;
  contenders.reserve(request_.waiting.size());
  schedule_.waits.reserve(request_.waiting.size());
  std::size_t position = 0;
  for (const WaitingJob& waiting : request_.waiting) {
    const Job& job = *waiting.job;
    position = request_.cache.notes.find(waiting.job, position);
    auto& asks = request_.cache.notes.of(position).asks;
    if (!asks) asks = asksOf(job, priorities);
    contenders.push_back({.waiting = &waiting,
                          .priority = asks->priority,
                          .queue = asks->queue,
                          .demand = demandOf(job, request_.cache.shapeOf(job, position)),
                          .rank = rankOf(job, asks->priority, asks->standing, orderSettings_, runs_),
                          .position = position,
                          .asks = &*asks});
    tree_.noteWaiting(asks->queue, contenders.back().demand);
    ++position;
  }
  return contenders;
}

JobNotes::Asks Scheduler::asksOf(const Job& job, const Priorities& priorities) {
  const auto& pending = job.status.pending;
  return {.standing = standingOf(job, snapshot_.now, runs_),
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
void Scheduler::keepTurns(std::vector<Contender>& contenders) {
  const bool byPresentUse = !snapshot_.policy.usageHalfLife;
  for (Contender& each : contenders) {
    const auto& reservedSince = each.asks->reservedSince;
    if (!reservedSince) continue;
    if (byPresentUse && report_.isBelowShare(each.queue)) each.keepsSince = reservedSince;
    each.overdue = overdue_.isOverdue(each);
  }
}

// Half of the budget is for the first jobs, the other half for jobs that the last cycle did not reach.
bool Scheduler::reached(const Contender& contender) {
  const model::ObjectKey& key = contender.waiting->job->key;
  if (unreachedBefore_ == key) unreachedBefore_.reset();
  const bool theirTurn = unreachedBefore_ && placer_.budget().left() < WorkBudget::kPerCycle / 2;
  if (!theirTurn && !placer_.budget().exhausted()) return true;
  if (!request_.cache.unreached && !theirTurn) request_.cache.unreached = key;
  return false;
}

// The number of starting members is bounded, because each costs the API server and kube-scheduler work. A
// namespace below its part of the bound does not wait for others: their members may never be bound.
bool Scheduler::mayStartMembers(const Contender& contender) const {
  if (starting_ < request_.mostStartingMembers) return true;
  const auto own = startingOf_.find(contender.waiting->job->key.ns);
  if (own == startingOf_.end()) return true;
  const auto namespaces = static_cast<std::int64_t>(startingOf_.size());
  return own->second < request_.mostStartingMembers / namespaces;
}

// Excludes GPU types that the queue may never hold enough of for the job. It then waits for other types.
void Scheduler::closeTypes(const Contender& contender) {
  if (!tree_.namesTypes()) return;
  const Job& job = *contender.waiting->job;
  const JobPtr least = leastOf(job, snapshot_.policy);
  auto closed =
      types_.closedTo(contender.queue, least ? *least : job, request_.cache.shapeOf(job, contender.position));
  if (closed) placer_.close(job.key, std::move(closed));
}

// Returns whether it was charged to its queue.
bool Scheduler::consider(const Contender& contender) {
  std::erase_if(holdersToCome_, [&](const HolderToCome& each) { return each.contender == &contender; });
  if (!mayStartMembers(contender)) return words_.behindStarting(contender, schedule_);
  if (!reached(contender)) return words_.notReached(contender, schedule_);
  closeTypes(contender);
  if (stopped_.empty()) {
    if (const auto equal = equalInVain(contender)) return words_.laterAs(contender, *equal, schedule_);
  }
  const auto beyondLimit = tree_.beyondLimit(contender.queue, contender.demand);
  // Jobs behind the first one that waits for a limit start below it only on the condition of its reservation.
  if (const auto stopped = stopped_.find(contender.queue);
      stopped != stopped_.end() && (beyondLimit || !snapshot_.policy.backfill.enabled)) {
    return words_.say(contender, stopped->second, schedule_);
  }
  if (const auto& beyond = beyondLimit) {
    if (startsSmaller(contender)) return true;
    return outOfQuota(contender, *beyond);
  }
  if (const auto beyond = tree_.beyondLimitYet(contender.queue, contender.demand)) {
    if (neverStarts(contender)) return false;
    const auto pending = words_.limits().limitReached(contender, *beyond, contender.demand);
    stopQueue(contender, *pending);
    if (snapshot_.policy.backfill.enabled) holdBelowLimit(contender, *beyond);
    return words_.say(contender, pending, schedule_);
  }
  if (!contender.asks->preemptible) {
    if (const auto beyond = tree_.beyondNonPreemptible(contender.queue, contender.demand)) {
      if (startsSmaller(contender)) return true;
      return beyondWhatIsItsOwn(contender, *beyond);
    }
  }
  return findPlaces(contender);
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
       .gangs = request_.cache.notes.stoppable(),
       .wanted =
           [this](const Job& job, const std::vector<model::Assignment>& places) {
             const QueueTree::Amounts held = tree_.heldBy(job, places);
             return std::any_of(reservations_.begin(), reservations_.end(),
                                [&](const Reservation& each) { return each.concerns(places); }) ||
                    std::any_of(limitHolds_.begin(), limitHolds_.end(), [&](const LimitHold& each) {
                      return !each.leavesRoom(tree_, tree_.queueOf(job), held);
                    });
           },
       .takesPart = [&](const Job& job) { return changed.contains(&job) || claimed.contains(job.key); },
       .fits = request_.cache.fits,
       .refusals = placer_.refusals()});
  for (Change& each : answer.changes) schedule_.changes.push_back(std::move(each));
  schedule_.sizes = answer.terms;
  wakeAt(answer.wakeAt);
}

const model::ObjectKey* Schedule::keptFor(const model::Job& job, int priority,
                                          const std::vector<model::Assignment>& places, const Ledger& ledger,
                                          const QueueTree& tree) const {
  if (keptPools.empty() && keptBelow.empty()) return nullptr;
  const QueueTree::Index queue = tree.queueOf(job);
  const QueueTree::Amounts held = tree.heldBy(job, places);
  if (isWithinGuarantee(tree, queue, held)) return nullptr;
  for (const KeptPool& pool : keptPools) {
    if (pool.queue == queue && pool.priority < priority) continue;
    for (const model::Assignment& each : places) {
      const auto node = ledger.find(each.node);
      if (node && pool.nodes[*node] != 0) return &pool.holder;
    }
  }
  for (const LimitHold& each : keptBelow) {
    if (each.own == queue && each.rank.priority < priority) continue;
    if (!each.leavesRoom(tree, queue, held)) return &each.job->key;
  }
  return nullptr;
}

Schedule schedule(const ScheduleRequest& request) { return Scheduler(request).run(); }

}  // namespace trainyard::core
