#include "core/timeline/outlook.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trainyard::core {
namespace {

// A placement costs up to a millisecond on 10,000 nodes: some ten of them there.
constexpr int kMostProbes = 64;
constexpr std::size_t kProbedNodes = 100'000;

}  // namespace

Outlook::Outlook(const Reservation& first, const model::Job& firstJob, const std::vector<Ending>& endings,
                 Ledger& ledger, const Domains& domains)
    : ledger_(ledger), domains_(domains), held_(ledger) {
  if (!first.start()) return;
  endings_.assign(endings.begin(),
                  endings.begin() + static_cast<std::ptrdiff_t>(std::min(endings.size(), kMostEndings)));
  const std::size_t affordable = kProbedNodes / std::max<std::size_t>(ledger.nodes().size(), 1);
  probes_ = static_cast<int>(std::min<std::size_t>(affordable, kMostProbes));
  hold(firstJob, first.places(), *first.start());
}

std::optional<base::WallTime> Outlook::start(const PlaceRequest& request, std::uint32_t shape) {
  std::size_t enough = endings_.size();
  std::size_t tooFew = 0;
  std::optional<Placement> places;
  if (const auto before = notBefore_.find(shape); before != notBefore_.end()) {
    // Most often the next of many equal ones: it fits at the same time, or it does not.
    const auto at = std::upper_bound(endings_.begin(), endings_.end(), before->second,
                                     [](base::WallTime time, const Ending& each) { return time < each.at; });
    tooFew = static_cast<std::size_t>(at - endings_.begin());
    if (places = placeAfter(request, tooFew); places) enough = tooFew;
  }
  if (!places) places = placeAfter(request, enough);
  if (!places) return std::nullopt;
  while (enough > tooFew + 1) {
    if (exhausted()) return std::nullopt;
    const std::size_t middle = tooFew + (enough - tooFew) / 2;
    if (auto earlier = placeAfter(request, middle)) {
      places = std::move(earlier);
      enough = middle;
    } else {
      tooFew = middle;
    }
  }
  if (enough == 0) return std::nullopt;
  const base::WallTime at = endings_[enough - 1].at;
  notBefore_[shape] = at;
  hold(*request.job, places->assignments, at);
  return at;
}

std::optional<Placement> Outlook::placeAfter(const PlaceRequest& request, std::size_t count) {
  if (probes_-- <= 0 || count == 0) return std::nullopt;
  WhatIf ended(ledger_);
  for (std::size_t i = 0; i < count; ++i) ended.release(endings_[i].holds);
  auto placed = place(request, ledger_, domains_);
  if (auto* placement = std::get_if<Placement>(&placed)) return std::move(*placement);
  return std::nullopt;
}

void Outlook::hold(const model::Job& job, const std::vector<model::Assignment>& places, base::WallTime from) {
  held_.take(amountsOf(job, places, ledger_));
  addEnding(endings_, job, places, from, ledger_);
}

std::optional<base::WallTime> steadyEstimate(const model::Job& job, std::optional<base::WallTime> estimate,
                                             base::WallTime now) {
  if (!estimate || !job.status.pending || !job.status.pending->estimatedStart) return estimate;
  const base::WallTime shown = *job.status.pending->estimatedStart;
  if (shown <= now) return estimate;
  return std::chrono::abs(*estimate - shown) <= (*estimate - now) / 10 ? shown : estimate;
}

}  // namespace trainyard::core
