#include "core/preemption/running_gangs.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/saturating.h"
#include "core/order/preemption_cost.h"
#include "core/preemption/claims.h"
#include "core/queues/eligibility.h"
#include "core/queues/holdings.h"
#include "core/queues/priority.h"
#include "core/resize.h"
#include "model/charge.h"

namespace trainyard::core {
namespace {

using model::Job;

// A gang that other queues have preempted is protected by an additional cost, in GPU seconds.
// Preemptions by its own queue do not count: a tenant could let its own jobs preempt each
// other, so that other gangs are preempted instead.
std::int64_t preemptionPenalty(const Job& job) {
  constexpr int kMaxCounted = 10;
  constexpr std::int64_t kHalfAnHour = 1'800;
  const int count = std::clamp(job.status.preemptions.byOtherQueues, 0, kMaxCounted);
  return base::saturatingMultiply(kHalfAnHour * ((1 << count) - 1),
                                  std::max<std::int64_t>(job.status.gpus, 1));
}

// The earliest condition that comes true after now.
std::optional<base::WallTime> nextCondition(const model::Charge& charge, base::WallTime now) {
  std::optional<base::WallTime> next;
  for (const auto& each : charge.backfilled) {
    if (each.from > now && (!next || each.from < *next)) next = each.from;
  }
  return next;
}

// Between the last of its old pods and the first of its new ones, a gang that restarts has none by which a
// record could name it as a victim. Both gangs would then start on its nodes.
bool hasNoPodsYet(const Job& job, const Ledger& ledger) {
  const auto& proposal = job.status.gang.proposal;
  return proposal && proposal->kind == model::ProposalKind::kRestart && ledger.pods().of(job).empty();
}

}  // namespace

bool mayGiveMembers(const Job& job, const Ledger& ledger) {
  if (!givesMembers(job)) return false;
  const bool byRestart = resizeMethod(job.spec) == ResizeMethod::kByRestart;
  const auto& placed = job.status.gang.placed;
  const bool ended =
      placed && std::any_of(placed->succeeded.begin(), placed->succeeded.end(), [&](const auto& each) {
        return byRestart || each.role == job.spec.elastic->role;
      });
  const auto& pods = ledger.pods().of(job);
  return !ended && std::none_of(pods.begin(), pods.end(), [&](const auto& pod) {
    return pod->finished() && pod->member && (byRestart || pod->member->role == job.spec.elastic->role);
  });
}

bool RunningGangs::any() {
  list();
  return !preemptible_.empty() || !elastic_.empty();
}

std::vector<Candidate>& RunningGangs::preemptible() {
  list();
  return preemptible_;
}

const std::vector<LaterCandidate>& RunningGangs::later() {
  list();
  return later_;
}

const std::vector<Candidate>& RunningGangs::elastic() {
  list();
  return elastic_;
}

const std::vector<RunningGangs::EquivalentGangs>& RunningGangs::equivalent() {
  list();
  return equivalent_;
}

const std::vector<std::size_t>& RunningGangs::backfilled() {
  list();
  return backfilled_;
}

const std::vector<std::size_t>& RunningGangs::timeSlicedOf(QueueTree::Index queue) {
  list();
  return timeSliced_[queue];
}

bool RunningGangs::anyTimeSliced() {
  list();
  return !timeSliced_.empty();
}

bool RunningGangs::isHolder(const Job& job) {
  list();
  return std::any_of(backfilled_.begin(), backfilled_.end(), [&](std::size_t index) {
    return model::backfillCondition(*preemptible_[index].job, job) != nullptr;
  });
}

std::vector<const Candidate*> RunningGangs::preemptibleNow() {
  list();
  std::vector<const Candidate*> left;
  left.reserve(preemptible_.size());
  for (const Candidate& running : preemptible_) {
    if (running.isWithinMinRuntime || !core::preemptibleNow(*running.job)) continue;
    if (!in_.taken.contains(running.job.get())) left.push_back(&running);
  }
  return left;
}

const QueuePosition& RunningGangs::queuePositionOf(const Candidate& running) {
  const auto [position, isNew] = queuePositions_.try_emplace(running.job.get());
  if (isNew) position->second = in_.queuePositionOf(*running.job, running.priority);
  return position->second;
}

void RunningGangs::wakeAt(std::optional<base::WallTime> time) {
  if (time && (!wakeAt_ || *time < *wakeAt_)) wakeAt_ = time;
}

void RunningGangs::list() {
  if (listed_) return;
  listed_ = true;
  const Priorities priorities(in_.snapshot);
  const auto claimed = claimedGangs(in_.notes.proposing(), in_.snapshot.pods);
  for (const auto& [job, facts] : in_.notes.holders()) {
    if (!core::preemptible(*job) || hasNoPodsYet(*job, in_.ledger)) continue;
    const int priority = priorities.of(*job);
    if (!claimed.empty() && claimed.contains(job->key)) {
      if (job->status.gang.proposal) later_.push_back(afterShrink(job, priority, in_.snapshot));
      continue;
    }
    if (core::preemptibleNow(*job) && job->spec.elastic) addElastic(job, priority);
    add(job, priority, facts.placedSince);
  }
  sortByCost(preemptible_);
  sortByCost(elastic_);
  groupEquivalent();
}

void RunningGangs::add(const JobPtr& job, int priority, std::optional<base::WallTime> placedSince) {
  const model::Snapshot& snapshot = in_.snapshot;
  const base::WallTime started = startedSince(*job, snapshot.now);
  const base::WallTime from = started + snapshot.policy.preemption.minRuntime;
  const bool isWithinMinRuntime = from > snapshot.now;
  const auto& charge = job->status.gang.charge;
  const bool hasCondition = charge && !charge->backfilled.empty();
  if (isWithinMinRuntime) wakeAt(from);
  if (hasCondition) wakeAt(nextCondition(*charge, snapshot.now));
  if (isWithinMinRuntime) later_.push_back({job, priority, from});
  if (isWithinMinRuntime && !hasCondition) return;
  if (core::preemptibleNow(*job)) wakeAt(timeSliceEnds(*job, started, snapshot));
  const base::WallTime placed = placedSince.value_or(snapshot.now);
  const base::WallTime unprotectedFrom = protectedUntil(*job, snapshot);
  if (unprotectedFrom > snapshot.now) wakeAt(unprotectedFrom);
  preemptible_.push_back(
      {.job = job,
       .priority = priority,
       .queue = in_.tree.queueOf(*job),
       .cost = base::saturatingAdd(lostWork(*job, placed, snapshot), preemptionPenalty(*job)),
       .held = holdingsOf(in_.tree.capacity(), *job),
       .isWithinMinRuntime = isWithinMinRuntime,
       .isUnprotected = unprotectedFrom <= snapshot.now,
       .isStarting = !job->status.gang.placed});
}

void RunningGangs::addElastic(const JobPtr& job, int priority) {
  if (!in_.snapshot.policy.resize.enabled || !mayGiveMembers(*job, in_.ledger)) return;
  if (elasticMembers(*job) <= job->spec.elastic->minReplicas) return;
  // The loss of all members during the pause, per member that it can give: large gangs give first.
  const auto pause = std::chrono::duration_cast<std::chrono::seconds>(resizePause(*job, in_.snapshot));
  const int has = elasticMembers(*job);
  constexpr std::int64_t kPermille = 1'000;
  const std::int64_t each = kPermille * has / (has - job->spec.elastic->minReplicas);
  elastic_.push_back({.job = job,
                      .priority = priority,
                      .queue = in_.tree.queueOf(*job),
                      .cost = base::saturatingMultiply(pause.count() + 1, each),
                      .isUnprotected = protectedUntil(*job, in_.snapshot) <= in_.snapshot.now});
}

void RunningGangs::groupEquivalent() {
  std::map<std::tuple<QueueTree::Index, int, bool, Amounts>, std::size_t> known;
  for (std::size_t i = 0; i < preemptible_.size(); ++i) {
    const Candidate& running = preemptible_[i];
    const auto& charge = running.job->status.gang.charge;
    if (charge && !charge->backfilled.empty()) backfilled_.push_back(i);
    if (running.isWithinMinRuntime) continue;
    const auto [at, isNew] = known.try_emplace(
        {running.queue, running.priority, running.isUnprotected, running.held}, equivalent_.size());
    if (isNew) equivalent_.emplace_back();
    equivalent_[at->second].push_back(i);
    if (isCheckpointable(running.job->spec)) timeSliced_[running.queue].push_back(i);
  }
}

}  // namespace trainyard::core
