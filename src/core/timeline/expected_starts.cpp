#include "core/timeline/expected_starts.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trainyard::core {
namespace {

// One placement costs up to a millisecond on 10,000 nodes, so a cluster of that size gets about ten.
constexpr int kMaxProbes = 64;
constexpr std::size_t kProbedNodes = 100'000;

}  // namespace

ExpectedStarts::ExpectedStarts(const std::vector<Reservation>& reservations, const model::Snapshot& snapshot,
                               Ledger& ledger, Ends& ends, RunTimeModel& runs, GangPlacer& placer)
    : snapshot_(snapshot), ledger_(ledger), runs_(runs), placer_(placer), held_(ledger) {
  const auto known = [](const Reservation& each) {
    return each.start() && each.start()->basis != Basis::kGuess;
  };
  if (!std::any_of(reservations.begin(), reservations.end(), known)) return;
  // A start that depends on a guessed end would be a guess, too.
  for (std::size_t i = 0; i < ends.all().size() && endings_.size() < kMaxEndings; ++i) {
    if (ends.all()[i].basis == Basis::kGuess) continue;
    (void)ends.holds(i);
    endings_.push_back(ends.all()[i]);
  }
  const std::size_t affordable = kProbedNodes / std::max<std::size_t>(ledger.nodes().size(), 1);
  probes_ = static_cast<int>(std::min<std::size_t>(affordable, kMaxProbes));
  for (const Reservation& each : reservations) {
    if (known(each)) hold(*each.holder().job, each.assignments(), each.start()->at);
  }
}

std::optional<base::WallTime> ExpectedStarts::start(const model::Job& job, std::uint32_t shape) {
  const PlaceRequest request = placer_.request(job, 0);
  std::size_t enough = endings_.size();
  std::size_t tooFew = 0;
  std::optional<Placement> assignments;
  if (const auto before = notBefore_.find(shape); before != notBefore_.end()) {
    // Usually the next of many equal jobs: it fits at the same time, or not at all.
    const auto at = std::upper_bound(endings_.begin(), endings_.end(), before->second,
                                     [](base::WallTime time, const Ending& each) { return time < each.at; });
    tooFew = static_cast<std::size_t>(at - endings_.begin());
    if (assignments = placeAfter(request, tooFew); assignments) enough = tooFew;
  }
  if (!assignments) assignments = placeAfter(request, enough);
  if (!assignments) return std::nullopt;
  while (enough > tooFew + 1) {
    if (exhausted()) return std::nullopt;
    const std::size_t middle = tooFew + (enough - tooFew) / 2;
    if (auto earlier = placeAfter(request, middle)) {
      assignments = std::move(earlier);
      enough = middle;
    } else {
      tooFew = middle;
    }
  }
  if (enough == 0) return std::nullopt;
  const base::WallTime at = endings_[enough - 1].at;
  notBefore_[shape] = at;
  hold(job, assignments->assignments, at);
  return at;
}

std::optional<Placement> ExpectedStarts::placeAfter(const PlaceRequest& request, std::size_t count) {
  if (probes_-- <= 0 || count == 0) return std::nullopt;
  WhatIf ended(ledger_);
  for (std::size_t i = 0; i < count; ++i) ended.release(*endings_[i].holds);
  return placer_.tryPlace(request);
}

void ExpectedStarts::hold(const model::Job& job, const std::vector<model::Assignment>& assignments,
                          base::WallTime from) {
  NodeAmounts amounts = amountsOf(job, assignments, ledger_);
  held_.take(amounts);
  const ExpectedRun run = expectedRun(job, snapshot_.now, runs_);
  if (run.basis == Basis::kGuess) return;
  insertEnding(endings_, {from + run.time, &job, run.basis, std::move(amounts)});
}

std::optional<base::WallTime> steadyEstimate(const model::Job& job, std::optional<base::WallTime> estimate,
                                             base::WallTime now) {
  if (!estimate || !job.status.pending || !job.status.pending->estimatedStart) return estimate;
  const base::WallTime shown = *job.status.pending->estimatedStart;
  if (shown <= now) return estimate;
  return std::chrono::abs(*estimate - shown) <= (*estimate - now) / 10 ? shown : estimate;
}

}  // namespace trainyard::core
