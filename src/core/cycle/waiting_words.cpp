#include "core/cycle/waiting_words.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/order/job_times.h"
#include "core/order/stop_cost.h"
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

bool isForRoom(const Pending& pending) {
  return pending.reason == PendingReason::kWaitingForCapacity ||
         pending.reason == PendingReason::kWaitingForTopology;
}

std::optional<base::WallTime> knownStart(const Reservation& reservation, base::WallTime now) {
  const auto& start = reservation.start();
  if (!start || start->basis == Basis::kGuess) return std::nullopt;
  return steadyEstimate(*reservation.holder().job, start->at, now);
}

}  // namespace

bool WaitingWords::say(const Contender& contender, const PendingPtr& pending, Schedule& schedule) {
  schedule.waits.push_back(
      {contender.waiting->job, contender.waiting->silent, pending, false, contender.position});
  return false;
}

bool WaitingWords::behindStarting(const Contender& contender, Schedule& schedule) {
  say(contender, starting_, schedule);
  schedule.waits.back().behindStarting = true;
  return false;
}

bool WaitingWords::notReached(const Contender& contender, Schedule& schedule) {
  wakeAt(in_.snapshot.now + kLookAgain);
  return say(contender, saidBefore(contender), schedule);
}

WaitingWords::PendingPtr WaitingWords::saidBefore(const Contender& contender) const {
  const auto& said = contender.waiting->job->status.pending;
  return said ? std::make_shared<const Pending>(*said) : unreached_;
}

// If the nodes will be free for all jobs in a moment, the job keeps the reason that it reported. Otherwise,
// each of thousands of jobs would need two writes whenever a job ends.
bool WaitingWords::heldBack(const Contender& contender, const Reservation& by, bool briefly,
                            Schedule& schedule) {
  const auto& said = contender.waiting->job->status.pending;
  if (briefly && said && isForRoom(*said)) return say(contender, saidBefore(contender), schedule);
  PendingPtr& words = reservedBy_[&by];
  if (!words)
    words = std::make_shared<Pending>(explainReserved(*by.holder().job, knownStart(by, in_.snapshot.now)));
  return say(contender, words, schedule);
}

bool WaitingWords::later(const Contender& contender, const GangShape& shape, Schedule& schedule) {
  later_.push_back({schedule.waits.size(), &contender, shape});
  return say(contender, nullptr, schedule);
}

bool WaitingWords::laterAs(const Contender& contender, std::size_t equal, Schedule& schedule) {
  later_.push_back({schedule.waits.size(), &contender, later_[equal].shape, equal});
  return say(contender, nullptr, schedule);
}

WaitingWords::PendingPtr WaitingWords::failureOf(const Contender& contender, const GangShape& shape) {
  const PlacementCache::Question question{shape.key, shape.relaxation.widest};
  const model::Job& job = *contender.waiting->job;
  const auto* closed = in_.placer.closedTo(job);
  auto& [takes, words] = failures_[{question, closed}];
  if (words && takes == in_.ledger.takes()) return words;
  // Nodes are closed for one queue only, so the cache must not share such a failure with others.
  auto failure = closed == nullptr ? in_.cache.failure(question, in_.ledger) : nullptr;
  if (!failure) {
    failure = std::make_shared<const PlacementFailure>(in_.placer.failure(job, shape.relaxation.widest));
    if (closed == nullptr) in_.cache.remember(question, in_.ledger, failure);
  }
  takes = in_.ledger.takes();
  // The blocking jobs and their expected ends change with time, so the cached failure is explained again.
  words = std::make_shared<const Pending>(explainFailure(*failure, in_.ledger, in_.snapshot.now, in_.runs));
  return words;
}

bool WaitingWords::waitsForRoom(const Contender& contender, const GangShape& shape) {
  return isForRoom(*failureOf(contender, shape));
}

Pending WaitingWords::classified(const Contender& contender, const GangShape& shape) {
  return in_.report.classify(contender, *failureOf(contender, shape));
}

// "one rack", "any place".
std::string WaitingWords::levelWords(std::size_t level) const {
  return level == 0 ? "any nodes" : fmt::format("one {}", in_.placer.domains().levels()[level].name);
}

// The reason counts all members of the job. This adds how many of them are enough for a start.
void WaitingWords::tellLeast(const Contender& contender, const GangShape& shape, Pending& pending) {
  const model::Job& job = *contender.waiting->job;
  if (!mayStartSmaller(job, in_.snapshot.policy)) return;
  const bool isTooLarge = pending.reason == PendingReason::kTooLarge;
  if (!isTooLarge && !waitsForRoom(contender, shape)) return;
  const int all = job.spec.totalReplicas();
  const int least = all - job.spec.elastic->replicas + job.spec.elastic->minReplicas;
  pending.message +=
      fmt::format("; {} of its {} members {} be enough to start", least, all, isTooLarge ? "would" : "will");
}

// Adds when the first of the blocking jobs ends its time slice and may be preempted for this job.
void WaitingWords::tellSlice(const Contender& contender, Pending& pending) const {
  if (forbidsWithin(in_.tree.node(contender.queue))) return;
  const auto& holders = in_.cache.notes.holders();
  std::optional<base::WallTime> first;
  const model::Job* whose = nullptr;
  for (const model::Blocker& each : pending.blockedBy) {
    const auto at =
        std::lower_bound(holders.begin(), holders.end(), each.job,
                         [](const auto& holder, const auto& key) { return holder.job->key < key; });
    if (at == holders.end() || at->job->key != each.job || !stoppable(*at->job)) continue;
    const auto& charge = at->job->status.gang.charge;
    if (in_.tree.queueOf(*at->job) != contender.queue) continue;
    if (charge && charge->priority != contender.priority) continue;
    const auto end = turnEnds(*at->job, placedSince(*at->job, in_.snapshot.now), in_.snapshot);
    if (!end || (first && *first <= *end)) continue;
    first = end;
    whose = at->job.get();
  }
  if (first)
    pending.message += fmt::format("; the time slice of {} ends at {}", whose->key, base::formatTime(*first));
}

WaitingWords::PendingPtr WaitingWords::wordsFor(const Later& each) {
  const Contender& contender = *each.contender;
  const auto& next = each.shape.relaxation.next;
  std::optional<base::WallTime> nextAt;
  if (next) nextAt = in_.placer.waitingSinceOf(*contender.waiting->job, contender.position) + next->after;
  const bool slices = takesTurns(in_.snapshot.policy);
  const PlacementCache::Words key{contender.queue, each.shape.key,          each.shape.relaxation.widest,
                                  nextAt,          next ? next->widest : 0, slices ? contender.priority : 0};
  if (const auto told = told_.find(key); told != told_.end()) return lastTold_ = told->second;
  const bool known = in_.cache.failure({each.shape.key, each.shape.relaxation.widest}, in_.ledger) != nullptr;
  if (!known && in_.placer.budget().exhausted()) {
    wakeAt(in_.snapshot.now + kLookAgain);
    return saidBefore(contender);
  }
  Pending own = classified(contender, each.shape);
  tellLeast(contender, each.shape, own);
  if (slices) tellSlice(contender, own);
  if (nextAt && waitsForRoom(contender, each.shape)) {
    own.nextRelaxation = nextAt;
    own.message +=
        fmt::format("; accepts {} from {} on", levelWords(next->widest), base::formatTime(*nextAt));
    wakeAt(nextAt);
  }
  auto words = std::make_shared<const Pending>(std::move(own));
  // A reason that did not change stays the same object, so that it is not compared job by job.
  if (const auto before = in_.cache.told.find(key);
      before != in_.cache.told.end() && *before->second == *words)
    words = before->second;
  told_.emplace(key, words);
  return lastTold_ = words;
}

void WaitingWords::explain(const std::vector<Reservation>& reservations, Schedule& schedule) {
  std::vector<char> isShared(later_.size(), 0);
  for (std::size_t i = 0; i < later_.size(); ++i) {
    const Later& each = later_[i];
    auto& pending = schedule.waits[each.wait].pending;
    if (each.like && isShared[*each.like] != 0) {
      pending = schedule.waits[later_[*each.like].wait].pending;
      continue;
    }
    pending = wordsFor(each);
    isShared[i] = pending == lastTold_ ? 1 : 0;
  }
  tellHolders(reservations, schedule);
  tellStarts(reservations, schedule);
  limits_.tellStarts(schedule.waits);
  in_.cache.told = std::move(told_);
}

void WaitingWords::tellHolders(const std::vector<Reservation>& reservations, Schedule& schedule) {
  if (reservations.empty() && keepers_.empty()) return;
  for (const Reservation& each : reservations) {
    keepers_.insert(overdue_.elect(
        each, later_, [this](const Later& late) { return waitsForRoom(*late.contender, late.shape); }));
  }
  for (GangWait& wait : schedule.waits) {
    const auto holds = std::find_if(reservations.begin(), reservations.end(), [&](const Reservation& each) {
      return each.holder().position == wait.position;
    });
    if (holds == reservations.end() && !keepers_.contains(wait.position)) continue;
    auto told = std::make_shared<Pending>(*wait.pending);
    const auto& said = wait.job->status.pending;
    if (keepers_.contains(wait.position))
      told->reservedSince = said ? said->reservedSince.value_or(in_.snapshot.now) : in_.snapshot.now;
    if (holds != reservations.end()) told->estimatedStart = knownStart(*holds, in_.snapshot.now);
    wait.pending = std::move(told);
  }
}

void WaitingWords::tellStarts(const std::vector<Reservation>& reservations, Schedule& schedule) {
  ExpectedStarts starts(reservations, in_.snapshot, in_.ledger, in_.ends, in_.runs, in_.placer);
  for (GangWait& wait : schedule.waits) {
    if (starts.exhausted()) return;
    if (wait.pending->reservedSince) continue;
    if (!isForRoom(*wait.pending) && wait.pending->reason != PendingReason::kReservedForOthers) continue;
    const auto start = starts.start(*wait.job, in_.cache.shapeOf(*wait.job, wait.position));
    if (!start) continue;
    auto told = std::make_shared<Pending>(*wait.pending);
    told->estimatedStart = steadyEstimate(*wait.job, start, in_.snapshot.now);
    wait.pending = std::move(told);
  }
}

}  // namespace trainyard::core
