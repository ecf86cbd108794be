#include "core/schedule/limit_waits.h"

#include "core/queues/holdings.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "core/status/explain.h"
#include "core/status/explain_queue.h"
#include "core/timeline/earliest_fit.h"
#include "core/timeline/expected_starts.h"

namespace trainyard::core {
namespace {

// Each search costs several placement attempts.
constexpr int kMaxSearches = 8;
// Each estimate costs a status write when it changes.
constexpr int kMaxReported = 64;

}  // namespace

LimitWaits::PendingPtr LimitWaits::limitReached(const PendingJob& pendingJob, const Excess& beyond,
                                                const Amounts& demand) {
  heads_[pendingJob.position] = {&pendingJob, beyond, demand[beyond.dimension]};
  model::Pending pending = explainLimit(tree_, pendingJob.queue, beyond, demand);
  addHolders(beyond, pending);
  return std::make_shared<const model::Pending>(std::move(pending));
}

LimitWaits::PendingPtr LimitWaits::guaranteeReached(const Excess& beyond) {
  model::Pending pending = explainNonPreemptible(tree_, beyond);
  addHolders(beyond, pending);
  return std::make_shared<const model::Pending>(std::move(pending));
}

void LimitWaits::addHolders(const Excess& beyond, model::Pending& pending) {
  const auto [known, isNew] = holders_.try_emplace({beyond.queue, beyond.dimension});
  if (isNew) known->second = limitHolders(tree_, beyond.queue, beyond.dimension, quotaHolders());
  addBlockers(known->second, ledger_, snapshot_.now, runs_, pending);
}

void LimitWaits::waitsBehind(const PendingJob& pendingJob, PendingPtr pending) {
  if (heads_.contains(pendingJob.position)) behind_.emplace(std::move(pending), pendingJob.position);
}

void LimitWaits::addExpectedStarts(std::vector<GangWait>& waits) {
  if (heads_.empty()) return;
  int reported = 0;
  for (GangWait& wait : waits) {
    if (reported == kMaxReported) return;
    const auto start = startOf(wait);
    if (!start) continue;
    ++reported;
    auto pending = std::make_shared<model::Pending>(*wait.pending);
    pending->estimatedStart = steadyEstimate(*wait.job, start, snapshot_.now);
    wait.pending = std::move(pending);
  }
}

std::optional<base::WallTime> LimitWaits::startOf(const GangWait& wait) {
  const auto own = heads_.find(wait.position);
  const auto behind = own == heads_.end() ? behind_.find(wait.pending) : behind_.end();
  if (own == heads_.end() && behind == behind_.end()) return std::nullopt;
  const Head& head = own != heads_.end() ? own->second : heads_.at(behind->second);
  LimitStarts& starts = startsBelow(head.beyond);
  std::int64_t amount = head.amount;
  std::optional<base::WallTime> notBefore;
  if (own == heads_.end()) {
    const auto minimum = minimumOf(*wait.job, snapshot_.policy);
    amount = demandOf(tree_.capacity(), minimum ? *minimum : *wait.job)[head.beyond.dimension];
  } else {
    notBefore = nodesFreeAt(*head.pendingJob);
    // The number of GPUs of a type that the job takes depends on its placement.
    if (!notBefore || amount <= 0) starts.giveUp();
  }
  const auto start = starts.start(amount, expectedRun(*wait.job, snapshot_.now, runs_), notBefore);
  return start && *start > snapshot_.now ? start : std::nullopt;
}

// Returns nothing if the time is unknown, or too expensive to find.
std::optional<base::WallTime> LimitWaits::nodesFreeAt(const PendingJob& pendingJob) {
  const model::Job& job = *pendingJob.waiting->job;
  const auto minimum = minimumOf(job, snapshot_.policy);
  const model::Job& asked = minimum ? *minimum : job;
  if (searches_ == kMaxSearches || placer_.budget().exhausted()) return std::nullopt;
  ++searches_;
  const GangShape shape = placer_.shapeOf(job, pendingJob.demand[0], pendingJob.position);
  if (placer_.tryPlace(asked, shape.relaxation.widest)) return snapshot_.now;
  const auto fit = earliestFit(asked, placer_.widenings(asked, shape.key, pendingJob.position),
                               shape.relaxation.widest, ledger_, ends_, placer_);
  if (!fit || fit->time.basis == Basis::kGuess) return std::nullopt;
  return fit->time.at;
}

const QuotaHolders& LimitWaits::quotaHolders() {
  if (!quotaHolders_) quotaHolders_.emplace(tree_, ends_);
  return *quotaHolders_;
}

LimitStarts& LimitWaits::startsBelow(const Excess& beyond) {
  const Limit limit{beyond.queue, beyond.dimension};
  const auto known = starts_.find(limit);
  if (known != starts_.end()) return known->second;
  LimitStarts starts(tree_, beyond.queue, beyond.dimension, beyond.bound, snapshot_.now, quotaHolders());
  return starts_.emplace(limit, std::move(starts)).first->second;
}

}  // namespace trainyard::core
