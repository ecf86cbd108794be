#include "core/head.h"

#include <algorithm>
#include <utility>

#include "core/explain_queue.h"

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
      freed_(freedPlaces(snapshot)),
      pending_(pending) {
  pending_.passes = job_->status.pending ? job_->status.pending->passes : 0;
  pending_.estimatedStart = steadyEstimate(*job_, reservation_.start(), snapshot.now);
  reserved_ = std::make_shared<model::Pending>(explainReserved(*job_, pending_));
}

bool Head::letsPass(const model::Job& job, bool entitled, const Places& places) {
  if (entitled) return true;
  const auto start = reservation_.start();
  const auto& estimate = job.spec.estimatedDuration;
  if (start && estimate && snapshot_.now + *estimate <= *start) return true;
  if (justFreed(places)) return false;
  if (job.spec.preemptible) return true;
  if (start) return leavesReservedPlaces(job, places);
  // Until its last write is through, it is not known how many have passed.
  if (silent_ || pending_.passes >= snapshot_.policy.backfill.passesWithoutEstimate) return false;
  ++pending_.passes;
  return true;
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

std::vector<model::NodeName> Head::keptNodes() const {
  std::vector<model::NodeName> nodes = reservation_.nodes(ledger_);
  nodes.insert(nodes.end(), freed_.nodes.begin(), freed_.nodes.end());
  return nodes;
}

Outlook Head::outlook() const { return {reservation_, *job_, endings_, ledger_, domains_}; }

std::optional<base::WallTime> Head::wakeAt() const {
  const auto start = reservation_.start();
  if (!start || !freed_.nextEnd) return start ? start : freed_.nextEnd;
  return std::min(*start, *freed_.nextEnd);
}

}  // namespace trainyard::core
