#include "core/timeline/head.h"

#include <algorithm>
#include <utility>

namespace trainyard::core {

using Places = std::vector<model::Assignment>;

Head::Head(std::shared_ptr<const model::Job> job, bool silent, const model::Pending& pending,
           const PlaceRequest& request, std::vector<Ending> endings, const model::Snapshot& snapshot,
           Ledger& ledger, const Domains& domains)
    : job_(std::move(job)),
      silent_(silent),
      snapshot_(snapshot),
      ledger_(ledger),
      domains_(domains),
      endings_(std::move(endings)),
      reservation_(request, endings_, ledger, domains),
      freed_(freedPlaces(snapshot, ledger, *job_)),
      pending_(pending) {
  pending_.passes = job_->status.pending ? job_->status.pending->passes : 0;
  pending_.estimatedStart = steadyEstimate(*job_, reservation_.start(), snapshot.now);
}

Head::Verdict Head::judge(const model::Job& job, bool entitled, const Places& places) {
  if (entitled) return Verdict::kPasses;
  const auto start = reservation_.start();
  const auto& estimate = job.spec.estimatedDuration;
  if (start && estimate && snapshot_.now + *estimate <= *start) return Verdict::kPasses;
  // Until its last write is through, it is not known how many have passed.
  const bool counts = !job.spec.preemptible && !start;
  const bool passes = counts ? !silent_ && pending_.passes < snapshot_.policy.backfill.passesWithoutEstimate
                             : job.spec.preemptible || leavesReservedPlaces(job, places);
  if (!passes) return Verdict::kKept;
  if (justFreed(places)) return Verdict::kKeptBriefly;
  if (counts) ++pending_.passes;
  return Verdict::kPasses;
}

bool Head::justFreed(const Places& places) const {
  return std::any_of(places.begin(), places.end(), [&](const auto& each) {
    return std::binary_search(freed_.nodes.begin(), freed_.nodes.end(), each.node);
  });
}

bool Head::leavesReservedPlaces(const model::Job& job, const Places& places) {
  WhatIf taken(ledger_);
  taken.take(amountsOf(job, places, ledger_));
  return reservation_.leavesRoom(ledger_, places);
}

Outlook Head::outlook() const { return {reservation_, *job_, endings_, ledger_, domains_}; }

std::optional<base::WallTime> Head::wakeAt() const {
  const auto start = reservation_.start();
  if (!start || !freed_.nextEnd) return start ? start : freed_.nextEnd;
  return std::min(*start, *freed_.nextEnd);
}

}  // namespace trainyard::core
