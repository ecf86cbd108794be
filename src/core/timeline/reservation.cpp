#include "core/timeline/reservation.h"

#include <algorithm>
#include <utility>

#include "core/ledger/fit.h"
#include "core/ledger/what_if.h"

namespace trainyard::core {
namespace {

using Places = std::vector<model::Assignment>;

bool anyNegative(const model::Resources& amount) {
  const auto negative = [](const auto& entry) { return entry.second < 0; };
  const auto& extended = amount.extendedAll();
  return amount.cpu.value < 0 || amount.memory.value < 0 || amount.ephemeralStorage.value < 0 ||
         amount.pods < 0 || std::any_of(extended.begin(), extended.end(), negative);
}

// A moment at which the holder may fit: an end, or a wider level that will do.
struct Moment {
  base::WallTime at{};
  Basis basis = Basis::kStated;
  std::optional<std::size_t> ending = std::nullopt;  // index into Ends::all()
  std::size_t widest = 0;
};

std::vector<Moment> momentsOf(const std::vector<Ending>& ends,
                              const std::vector<GangPlacer::Widening>& widenings, std::size_t widestNow) {
  std::vector<Moment> moments;
  moments.reserve(ends.size() + widenings.size());
  auto wider = widenings.begin();
  std::size_t widest = widestNow;
  const auto widenUntil = [&](base::WallTime at) {
    for (; wider != widenings.end() && wider->at <= at; ++wider) {
      widest = wider->widest;
      moments.push_back({wider->at, Basis::kStated, std::nullopt, widest});
    }
  };
  for (std::size_t i = 0; i < ends.size(); ++i) {
    widenUntil(ends[i].at);
    moments.push_back({ends[i].at, ends[i].basis, i, widest});
  }
  widenUntil(base::WallTime::max());
  return moments;
}

}  // namespace

std::vector<char> poolOf(const model::Job& job, const Ledger& ledger) {
  const bool gpus = std::any_of(job.spec.roles.begin(), job.spec.roles.end(),
                                [](const model::Role& role) { return role.shape.requests.gpus() > 0; });
  std::vector<char> pool(ledger.nodes().size(), 0);
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const bool usable =
        std::any_of(job.spec.roles.begin(), job.spec.roles.end(), [&](const model::Role& role) {
          if (gpus && role.shape.requests.gpus() <= 0) return false;
          return !nodeRefusal(*ledger.nodes()[i].node, role.shape);
        });
    pool[i] = usable ? 1 : 0;
  }
  return pool;
}

Reservation::Reservation(Holder holder, const model::Snapshot& snapshot, Ledger& ledger, Ends& ends,
                         GangPlacer& placer)
    : holder_(std::move(holder)),
      snapshot_(snapshot),
      ledger_(ledger),
      pool_(poolOf(*holder_.job, ledger)),
      freed_(freedPlaces(snapshot, ledger, *holder_.job)),
      passes_(holder_.job->status.pending ? holder_.job->status.pending->passes : 0) {
  findStart(ends, placer);
}

// By doubling, then by halving: what is asked grows with how far ahead the answer lies.
void Reservation::findStart(Ends& ends, GangPlacer& placer) {
  const model::Job& job = *holder_.job;
  const std::vector<Moment> moments = momentsOf(
      ends.all(), placer.widenings(job, holder_.shape, holder_.position), holder_.widest);
  std::optional<Placement> reserved;
  const auto placeAfter = [&](std::size_t count) {
    WhatIf ended(ledger_);
    for (std::size_t i = 0; i < count; ++i) {
      if (moments[i].ending) ended.release(ends.holds(*moments[i].ending));
    }
    auto placed = placer.tryPlace(job, moments[count - 1].widest);
    if (!placed) return false;
    reserved = std::move(placed);
    return true;
  };
  std::size_t tooFew = 0;
  std::size_t enough = std::min<std::size_t>(1, moments.size());
  while (enough != tooFew && !placeAfter(enough)) {
    tooFew = enough;
    enough = std::min(2 * enough, moments.size());
    if (placer.budget().exhausted()) return;
  }
  if (enough == tooFew) return;
  while (enough - tooFew > 1) {
    const std::size_t middle = tooFew + (enough - tooFew) / 2;
    (placeAfter(middle) ? enough : tooFew) = middle;
  }
  Basis basis = Basis::kStated;
  for (std::size_t i = 0; i < enough; ++i) basis = std::min(basis, moments[i].basis);
  start_ = {moments[enough - 1].at, basis};
  places_ = reserved->assignments;
  for (const auto& [node, amount] : amountsOf(job, places_, ledger_)) spare_[node].subtract(amount);
  for (std::size_t i = 0; i < enough; ++i) {
    if (!moments[i].ending) continue;
    for (const auto& [node, amount] : ends.holds(*moments[i].ending)) {
      if (const auto at = spare_.find(node); at != spare_.end()) at->second.add(amount);
    }
  }
}

Reservation::Verdict Reservation::judge(const Asking& asking, const Places& places) {
  if (asking.entitled) return Verdict::kPasses;
  const model::Job& job = *asking.job;
  const bool stoppable = job.spec.preemptible;
  const bool guess = !start_ || start_->basis == Basis::kGuess;
  const base::WallTime now = snapshot_.now;
  const bool inTime = start_ && asking.run.basis != Basis::kGuess && now + asking.run.time <= start_->at;
  if (inTime && (stoppable || asking.run.basis == Basis::kLearnt || counts(true))) return Verdict::kPasses;
  const bool leaves = leavesRoom(job, places);
  const bool inTimeToStop =
      stoppable && (guess || now + snapshot_.policy.preemption.minRuntime <= start_->at);
  const bool counted = !leaves && !stoppable && guess;
  if (!leaves && !inTimeToStop && !(counted && counts(false))) return Verdict::kKept;
  if (justFreed(places)) return Verdict::kKeptBriefly;
  if (counted) ++passes_;
  return Verdict::kPasses;
}

// Until its last write is through, it is not known how many have passed.
bool Reservation::counts(bool passes) {
  if (holder_.silent || passes_ >= snapshot_.policy.backfill.passesWithoutEstimate) return false;
  if (passes) ++passes_;
  return true;
}

bool Reservation::justFreed(const Places& places) const {
  return std::any_of(places.begin(), places.end(), [&](const auto& each) {
    return std::binary_search(freed_.nodes.begin(), freed_.nodes.end(), each.node);
  });
}

bool Reservation::concerns(const Places& places) const {
  return std::any_of(places.begin(), places.end(), [&](const auto& each) {
    const auto node = ledger_.find(each.node);
    return node && pool_[*node] != 0;
  });
}

bool Reservation::leavesRoom(const model::Job& job, const Places& places) {
  if (!start_) return false;
  WhatIf taken(ledger_);
  taken.take(amountsOf(job, places, ledger_));
  return std::all_of(places.begin(), places.end(), [&](const auto& assignment) {
    const std::size_t node = *ledger_.find(assignment.node);
    const auto spare = spare_.find(node);
    if (spare == spare_.end()) return true;
    model::Resources then = ledger_.nodes()[node].free;
    then.add(spare->second);
    return !anyNegative(then);
  });
}

std::vector<model::NodeName> Reservation::reservedNodes() const {
  std::vector<model::NodeName> names;
  for (const auto& [node, amount] : spare_) names.push_back(ledger_.nodes()[node].node->name);
  return names;
}

std::optional<base::WallTime> Reservation::wakeAt() const {
  std::optional<base::WallTime> start;
  if (start_ && start_->basis != Basis::kGuess) start = start_->at;
  if (!start || !freed_.nextEnd) return start ? start : freed_.nextEnd;
  return std::min(*start, *freed_.nextEnd);
}

}  // namespace trainyard::core
