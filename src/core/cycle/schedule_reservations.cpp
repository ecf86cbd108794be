#include <algorithm>
#include <utility>

#include "core/cycle/scheduler.h"
#include "core/queues/eligibility.h"
#include "core/queues/priority.h"
#include "core/resize.h"

namespace trainyard::core {
namespace {

// Pools for which something is kept at the same time; each costs some placements.
constexpr std::size_t kMostReservations = 8;

}  // namespace

// The first that waits for room in its pool keeps a reservation there, and room below its limits.
void Scheduler::keepPlaces(const Contender& contender, const GangShape& shape) {
  if (!snapshot_.policy.backfill.enabled) return;
  const JobPtr& job = contender.waiting->job;
  if (exhausted_) {
    if (!isShareExhausted_) holdBelowLimit(contender, *exhausted_);
    return;
  }
  // Of who is closed out of a part of it no other is told by this number.
  const bool isWhole = placer_.closedTo(*job) == nullptr;
  const std::uint32_t pool = request_.cache.poolOf(*job, shape.key);
  if ((isWhole && pools_.contains(pool)) || reservations_.size() >= kMostReservations) return;
  if (!words_.waitsForRoom(contender, shape) || keptByAnother(contender)) return;
  if (isWhole) pools_.insert(pool);
  // An elastic gang waits for the least that it can do with.
  const JobPtr least = leastOf(*job, snapshot_.policy);
  const JobPtr awaited = least ? least : job;
  Holder holder{.job = awaited,
                .silent = contender.waiting->silent,
                .position = contender.position,
                .queue = contender.queue,
                .rank = contender.rank,
                .overdue = contender.overdue,
                .shape = shape.key,
                .widest = shape.relaxation.widest,
                .since = job->status.pending ? job->status.pending->reservedSince.value_or(snapshot_.now)
                                             : snapshot_.now};
  reservations_.emplace_back(std::move(holder), snapshot_, ledger_, ends_, placer_);
  wakeAt(reservations_.back().wakeAt());
  keepBelowLimits(contender, least ? tree_.demandOf(*least) : contender.demand);
}

// Whether an earlier one keeps what it waits for.
bool Scheduler::keptByAnother(const Contender& contender) const {
  if (reservations_.empty()) return false;
  const std::vector<char> pool = openPoolOf(*contender.waiting->job, ledger_, placer_);
  return std::any_of(reservations_.begin(), reservations_.end(),
                     [&](const Reservation& each) { return each.samePool(pool); });
}

Reservation::Verdict Scheduler::judge(const Contender& contender,
                                      const std::vector<model::Assignment>& places,
                                      const std::vector<Change>* stopped) {
  using Verdict = Reservation::Verdict;
  const Job& job = *contender.waiting->job;
  std::optional<Reservation::Asking> asking;
  Verdict worst = Verdict::kPasses;
  for (std::size_t i = 0; i < reservations_.size(); ++i) {
    Reservation& each = reservations_[i];
    if (!each.concerns(places)) continue;
    if (!asking)
      asking = Reservation::Asking{.job = &job,
                                   .entitled = entitled(contender),
                                   .stops = stopped != nullptr,
                                   .run = cautiousRun(job, snapshot_.now, runs_)};
    Reservation::Asking own = *asking;
    const Holder& holder = each.holder();
    if (stopped != nullptr && !mayStop(holder, *stopped)) continue;
    const bool sameQueue = holder.queue == contender.queue;
    const bool first =
        contender.priority > holder.rank.priority || (!holder.overdue && contender.rank.before(holder.rank));
    own.entitled = own.entitled || (sameQueue && first);
    own.mayBeStopped =
        job.spec.preemptible && Priorities(snapshot_).mayPreempt(*holder.job) &&
        (sameQueue ? givesWay(holder, contender) : stopped == nullptr && borrows(holder, contender));
    const Verdict verdict = each.judge(own, places);
    if (verdict == Verdict::kPasses) continue;
    keeper_ = i;
    if (worst != Verdict::kKept) worst = verdict;
  }
  return worst;
}

// Whether they are no obstacle to the holder: of his own queue, and of lower priority.
bool Scheduler::mayStop(const Holder& holder, const std::vector<Change>& stopped) const {
  const Priorities priorities(snapshot_);
  if (!priorities.mayPreempt(*holder.job) || forbidsWithin(tree_.node(holder.queue))) return false;
  return std::all_of(stopped.begin(), stopped.end(), [&](const Change& each) {
    return tree_.queueOf(*each.job) == holder.queue && priorities.of(*each.job) < holder.rank.priority;
  });
}

// What core/queues/eligibility.h calls passed, of one that asks to be let past.
bool Scheduler::givesWay(const Holder& holder, const Contender& contender) const {
  if (forbidsWithin(tree_.node(holder.queue))) return false;
  // Where the order says who gives way to whom, it is only those who come through a stop.
  const bool byOrder = holder.rank.priority == contender.priority && takesTurns(snapshot_.policy);
  const bool comesThrough = !byOrder || survivesStops(contender.waiting->job->spec);
  return comesThrough && (holder.overdue || holder.rank.before(contender.rank));
}

bool Scheduler::borrows(const Holder& holder, const Contender& contender) const {
  return report_.isBelowShare(holder.queue) &&
         tree_.holdsGuarantee(tree_.branches(holder.queue, contender.queue).b, contender.demand);
}

// Places with which it may pass: off the nodes that somebody has just left, or off the reserved ones as
// well.
std::optional<Placement> Scheduler::besideKept(const Contender& contender, const GangShape& shape,
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
    auto places = placeOff(freed, contender, shape);
    if (places && judge(contender, places->assignments) == Reservation::Verdict::kPasses) return places;
  }
  if (reserved.empty()) return std::nullopt;
  freed.insert(freed.end(), reserved.begin(), reserved.end());
  auto places = placeOff(std::move(freed), contender, shape);
  if (places && judge(contender, places->assignments) == Reservation::Verdict::kPasses) return places;
  return std::nullopt;
}

std::optional<Placement> Scheduler::placeOff(std::vector<model::NodeName> nodes, const Contender& contender,
                                             const GangShape& shape) {
  const Job& job = *contender.waiting->job;
  PlaceRequest request = placer_.request(job, shape.relaxation.widest);
  request.avoidNodes = std::move(nodes);
  auto placement = placer_.tryPlace(request);
  if (!placement) return std::nullopt;
  const QueueTree::Amounts held = tree_.heldBy(job, placement->assignments);
  const bool beyond = tree_.beyondLimit(contender.queue, held) ||
                      tree_.beyondLimitYet(contender.queue, held) ||
                      (!job.spec.preemptible && tree_.beyondNonPreemptible(contender.queue, held));
  if (beyond || keptBelowLimit(contender, held)) return std::nullopt;
  return placement;
}

// Nodes that reservations keep, of those that any of these places concerns.
std::vector<model::NodeName> Scheduler::keptNodes(const std::vector<model::Assignment>& places) const {
  std::vector<model::NodeName> kept;
  for (const Reservation& each : reservations_) {
    if (!each.concerns(places)) continue;
    kept.insert(kept.end(), each.freedNodes().begin(), each.freedNodes().end());
    const auto nodes = each.reservedNodes();
    kept.insert(kept.end(), nodes.begin(), nodes.end());
  }
  return kept;
}

Scheduler::HeldBackKey Scheduler::heldBackKey(const Contender& contender, const GangShape& shape,
                                              Basis basis) {
  const model::JobSpec& spec = contender.waiting->job->spec;
  return {contender.queue, shape.key, shape.relaxation.widest, spec.preemptible, survivesStops(spec), basis};
}

// What is kept from one is kept from its equals, unless they end earlier, or keep off nodes of their own.
bool Scheduler::equalWasHeldBack(const Contender& contender, const GangShape& shape) {
  const Job& job = *contender.waiting->job;
  if (heldBack_.empty() || job.status.gang.backoff) return false;
  const ExpectedRun run = cautiousRun(job, snapshot_.now, runs_);
  const auto equal = heldBack_.find(heldBackKey(contender, shape, run.basis));
  if (equal == heldBack_.end() || run.time < equal->second.run) return false;
  sayHeldBack(contender, shape, equal->second);
  return true;
}

// It found places, but they are not for it.
void Scheduler::holdBack(const Contender& contender, const GangShape& shape, bool briefly) {
  const Job& job = *contender.waiting->job;
  const ExpectedRun run = cautiousRun(job, snapshot_.now, runs_);
  const HeldBack held{run.time, briefly, keeper_};
  if (!job.status.gang.backoff) heldBack_[heldBackKey(contender, shape, run.basis)] = held;
  sayHeldBack(contender, shape, held);
}

void Scheduler::sayHeldBack(const Contender& contender, const GangShape& shape, const HeldBack& held) {
  if (const auto& next = shape.relaxation.next)
    wakeAt(placer_.waitingSinceOf(*contender.waiting->job, contender.position) + next->after);
  words_.heldBack(contender, reservations_[held.by], held.briefly, schedule_);
}

}  // namespace trainyard::core
