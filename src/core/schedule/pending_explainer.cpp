#include "core/schedule/pending_explainer.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/order/job_times.h"
#include "core/order/preemption_cost.h"
#include "core/queues/eligibility.h"
#include "core/resize.h"
#include "core/status/explain.h"
#include "core/status/explain_queue.h"
#include "core/timeline/expected_starts.h"

namespace trainyard::core {
namespace {

using model::Pending;
using model::PendingReason;

// Jobs that were not reached are considered again after this time, even if nothing changes.
constexpr std::chrono::seconds kLookAgain{1};

bool isForCapacity(const Pending& pending) { return model::traitsOf(pending.reason).waitsForCapacity; }

std::optional<base::WallTime> knownStart(const Reservation& reservation, base::WallTime now) {
  const auto& start = reservation.start();
  if (!start || start->basis == Basis::kGuess) return std::nullopt;
  return steadyEstimate(*reservation.holder().job, start->at, now);
}

}  // namespace

bool PendingExplainer::addWait(const PendingJob& pendingJob, const PendingPtr& pending, Schedule& schedule) {
  schedule.waits.push_back({.job = pendingJob.waiting->job,
                            .silent = pendingJob.waiting->silent,
                            .pending = pending,
                            .behindStarting = false,
                            .position = pendingJob.position});
  return false;
}

bool PendingExplainer::behindStarting(const PendingJob& pendingJob, Schedule& schedule) {
  addWait(pendingJob, starting_, schedule);
  schedule.waits.back().behindStarting = true;
  return false;
}

bool PendingExplainer::notReached(const PendingJob& pendingJob, Schedule& schedule) {
  wakeAt(in_.snapshot.now + kLookAgain);
  return addWait(pendingJob, previousReason(pendingJob), schedule);
}

PendingExplainer::PendingPtr PendingExplainer::previousReason(const PendingJob& pendingJob) const {
  const auto& previous = pendingJob.waiting->job->status.pending;
  return previous ? std::make_shared<const Pending>(*previous) : unreached_;
}

// If the nodes will be free for all jobs in a moment, the job keeps the reason that it reported. Otherwise,
// each of thousands of jobs would need two writes whenever a job ends.
bool PendingExplainer::heldBack(const PendingJob& pendingJob, const Reservation& by, bool briefly,
                                Schedule& schedule) {
  const auto& previous = pendingJob.waiting->job->status.pending;
  if (briefly && previous && isForCapacity(*previous))
    return addWait(pendingJob, previousReason(pendingJob), schedule);
  PendingPtr& words = reservedBy_[&by];
  if (!words)
    words = std::make_shared<Pending>(explainReserved(*by.holder().job, knownStart(by, in_.snapshot.now)));
  return addWait(pendingJob, words, schedule);
}

bool PendingExplainer::noteUnplaced(const PendingJob& pendingJob, const GangShape& shape,
                                    Schedule& schedule) {
  unplaced_.push_back({schedule.waits.size(), &pendingJob, shape});
  return addWait(pendingJob, nullptr, schedule);
}

bool PendingExplainer::noteUnplacedAs(const PendingJob& pendingJob, std::size_t equal, Schedule& schedule) {
  unplaced_.push_back({schedule.waits.size(), &pendingJob, unplaced_[equal].shape, equal});
  return addWait(pendingJob, nullptr, schedule);
}

PendingExplainer::PendingPtr PendingExplainer::failureOf(const PendingJob& pendingJob,
                                                         const GangShape& shape) {
  const UnplacedShapes::Question question{shape.key, shape.relaxation.widest};
  const model::Job& job = *pendingJob.waiting->job;
  const auto* closed = in_.placer.closedTo(job);
  auto& [takes, words] = failures_[{question, closed}];
  if (words && takes == in_.ledger.takes()) return words;
  // Nodes are closed for one queue only, so the cache must not share such a failure with others.
  auto failure = closed == nullptr ? in_.cache.unplaced.reason(question, in_.ledger) : nullptr;
  if (!failure) {
    failure = std::make_shared<const PlacementFailure>(in_.placer.failure(job, shape.relaxation.widest));
    if (closed == nullptr) in_.cache.unplaced.rememberReason(question, in_.ledger, failure);
  }
  takes = in_.ledger.takes();
  // The blocking jobs and their expected ends change with time, so the cached failure is explained again.
  words = std::make_shared<const Pending>(explainFailure(*failure, in_.ledger, in_.snapshot.now, in_.runs));
  return words;
}

bool PendingExplainer::waitsForCapacity(const PendingJob& pendingJob, const GangShape& shape) {
  return isForCapacity(*failureOf(pendingJob, shape));
}

Pending PendingExplainer::classified(const PendingJob& pendingJob, const GangShape& shape) {
  return in_.report.classify(pendingJob, *failureOf(pendingJob, shape));
}

// "one rack", "any nodes".
std::string PendingExplainer::levelText(std::size_t level) const {
  return level == 0 ? "any nodes" : fmt::format("one {}", in_.placer.domains().levels()[level].name);
}

// The reason counts all members of the job. This adds how many of them are enough for a start.
void PendingExplainer::describeMinimum(const PendingJob& pendingJob, const GangShape& shape,
                                       Pending& pending) {
  const model::Job& job = *pendingJob.waiting->job;
  if (!mayStartSmaller(job, in_.snapshot.policy)) return;
  const bool isTooLarge = pending.reason == PendingReason::kTooLarge;
  if (!isTooLarge && !waitsForCapacity(pendingJob, shape)) return;
  const int all = job.spec.totalReplicas();
  const int minimum = all - job.spec.elastic->replicas + job.spec.elastic->minReplicas;
  pending.message += fmt::format("; {} of its {} members {} be enough to start", minimum, all,
                                 isTooLarge ? "would" : "will");
}

// Adds when the first of the blocking jobs ends its time slice and may be preempted for this job.
void PendingExplainer::describeTimeSlice(const PendingJob& pendingJob, Pending& pending) const {
  if (forbidsPreemptionWithin(in_.tree.node(pendingJob.queue))) return;
  const auto& holders = in_.cache.notes.holders();
  std::optional<base::WallTime> first;
  const model::Job* sliceOwner = nullptr;
  for (const model::Blocker& each : pending.blockedBy) {
    const auto at =
        std::lower_bound(holders.begin(), holders.end(), each.job,
                         [](const auto& holder, const auto& key) { return holder.job->key < key; });
    if (at == holders.end() || at->job->key != each.job || !preemptibleNow(*at->job)) continue;
    const auto& charge = at->job->status.gang.charge;
    if (in_.tree.queueOf(*at->job) != pendingJob.queue) continue;
    if (charge && charge->priority != pendingJob.priority) continue;
    const auto end = timeSliceEnds(*at->job, placedSince(*at->job, in_.snapshot.now), in_.snapshot);
    if (!end || (first && *first <= *end)) continue;
    first = end;
    sliceOwner = at->job.get();
  }
  if (first)
    pending.message +=
        fmt::format("; the time slice of {} ends at {}", sliceOwner->key, base::formatTime(*first));
}

PendingExplainer::Explained PendingExplainer::pendingOf(const UnplacedJob& each) {
  const PendingJob& pendingJob = *each.pendingJob;
  const auto& next = each.shape.relaxation.next;
  std::optional<base::WallTime> nextAt;
  if (next) nextAt = in_.placer.waitingSinceOf(*pendingJob.waiting->job, pendingJob.position) + next->after;
  const bool slices = allowsTimeSlicing(in_.snapshot.policy);
  const PlacementCache::MessageKey key{
      pendingJob.queue, each.shape.key,          each.shape.relaxation.widest,
      nextAt,           next ? next->widest : 0, slices ? pendingJob.priority : 0};
  if (const auto reported = reported_.find(key); reported != reported_.end()) return {reported->second, true};
  const bool known =
      in_.cache.unplaced.reason({each.shape.key, each.shape.relaxation.widest}, in_.ledger) != nullptr;
  if (!known && in_.placer.budget().exhausted()) {
    wakeAt(in_.snapshot.now + kLookAgain);
    return {previousReason(pendingJob), false};
  }
  Pending own = classified(pendingJob, each.shape);
  describeMinimum(pendingJob, each.shape, own);
  if (slices) describeTimeSlice(pendingJob, own);
  if (nextAt && waitsForCapacity(pendingJob, each.shape)) {
    own.nextRelaxation = nextAt;
    own.message += fmt::format("; accepts {} from {} on", levelText(next->widest), base::formatTime(*nextAt));
    wakeAt(nextAt);
  }
  auto pending = std::make_shared<const Pending>(std::move(own));
  // A reason that did not change stays the same object, so that it is not compared job by job.
  if (const auto before = in_.cache.reported.find(key);
      before != in_.cache.reported.end() && *before->second == *pending)
    pending = before->second;
  reported_.emplace(key, pending);
  return {std::move(pending), true};
}

void PendingExplainer::explain(const std::vector<Reservation>& reservations, Schedule& schedule) {
  std::vector<char> shareable(unplaced_.size(), 0);
  for (std::size_t i = 0; i < unplaced_.size(); ++i) {
    const UnplacedJob& each = unplaced_[i];
    auto& pending = schedule.waits[each.wait].pending;
    if (each.equivalentTo && shareable[*each.equivalentTo] != 0) {
      pending = schedule.waits[unplaced_[*each.equivalentTo].wait].pending;
      continue;
    }
    Explained explained = pendingOf(each);
    pending = std::move(explained.pending);
    shareable[i] = explained.isShareable ? 1 : 0;
  }
  describeHolders(reservations, schedule);
  addExpectedStarts(reservations, schedule);
  limits_.addExpectedStarts(schedule.waits);
  in_.cache.reported = std::move(reported_);
}

void PendingExplainer::describeHolders(const std::vector<Reservation>& reservations, Schedule& schedule) {
  if (reservations.empty() && holders_.empty()) return;
  for (const Reservation& each : reservations) {
    holders_.insert(overdue_.elect(each, unplaced_, [this](const UnplacedJob& late) {
      return waitsForCapacity(*late.pendingJob, late.shape);
    }));
  }
  for (GangWait& wait : schedule.waits) {
    const auto holds = std::find_if(reservations.begin(), reservations.end(), [&](const Reservation& each) {
      return each.holder().position == wait.position;
    });
    if (holds == reservations.end() && !holders_.contains(wait.position)) continue;
    auto reported = std::make_shared<Pending>(*wait.pending);
    const auto& previous = wait.job->status.pending;
    if (holders_.contains(wait.position))
      reported->reservedSince =
          previous ? previous->reservedSince.value_or(in_.snapshot.now) : in_.snapshot.now;
    if (holds != reservations.end()) reported->estimatedStart = knownStart(*holds, in_.snapshot.now);
    wait.pending = std::move(reported);
  }
}

void PendingExplainer::addExpectedStarts(const std::vector<Reservation>& reservations, Schedule& schedule) {
  ExpectedStarts starts(reservations, in_.snapshot, in_.ledger, in_.ends, in_.runs, in_.placer);
  for (GangWait& wait : schedule.waits) {
    if (starts.exhausted()) return;
    if (wait.pending->reservedSince) continue;
    if (!model::traitsOf(wait.pending->reason).expectsStart) continue;
    const auto start = starts.start(*wait.job, in_.cache.shapeOf(*wait.job, wait.position));
    if (!start) continue;
    auto reported = std::make_shared<Pending>(*wait.pending);
    reported->estimatedStart = steadyEstimate(*wait.job, start, in_.snapshot.now);
    wait.pending = std::move(reported);
  }
}

}  // namespace trainyard::core
