#include "core/timeline/backfill.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "core/queues/eligibility.h"

namespace trainyard::core {
namespace {

bool before(const Ending& a, const Ending& b) {
  return std::tie(a.at, a.job->key) < std::tie(b.at, b.job->key);
}

// When a gang that holds room will have left it, as far as anything tells.
std::optional<base::WallTime> leaves(const model::Job& job, base::WallTime now) {
  const auto& proposal = job.status.gang.proposal;
  if (!job.status.gang.placed && !proposal) return std::nullopt;
  const bool goes =
      job.deleting || job.finished() || job.spec.run.suspend ||
      (proposal && (proposal->phase == model::ProposalPhase::kAborting ||
                    (proposal->kind == model::ProposalKind::kRestart && proposal->add.empty())));
  if (goes) return now + kLeastOverrun;
  if (!job.status.gang.placed)
    return job.spec.estimatedDuration ? std::optional(now + *job.spec.estimatedDuration) : std::nullopt;
  return expectedEnd(job, now);
}

}  // namespace

std::vector<Ending> endings(const model::Snapshot& snapshot, const Ledger& ledger) {
  std::vector<Ending> all;
  for (const auto& job : snapshot.jobs) {
    if (const auto at = leaves(*job, snapshot.now)) all.push_back({*at, job.get()});
  }
  std::sort(all.begin(), all.end(), before);
  for (Ending& ending : all) ending.holds = roomHeldBy(*ending.job, ledger);
  return all;
}

void addEnding(std::vector<Ending>& endings, const model::Job& job,
               const std::vector<model::Assignment>& places, base::WallTime from, const Ledger& ledger) {
  if (!job.spec.estimatedDuration) return;
  Ending ending{from + *job.spec.estimatedDuration, &job, amountsOf(job, places, ledger)};
  endings.insert(std::upper_bound(endings.begin(), endings.end(), ending, before), std::move(ending));
}

std::optional<base::WallTime> estimatedEnd(const model::Job& job) {
  if (!job.spec.estimatedDuration || !job.status.gang.placed) return std::nullopt;
  const base::WallTime placed = placedSince(job, base::WallTime{});
  if (placed == base::WallTime{}) return std::nullopt;
  return placed + *job.spec.estimatedDuration;
}

std::optional<base::WallTime> expectedEnd(const model::Job& job, base::WallTime now) {
  const auto end = estimatedEnd(job);
  if (!end || *end > now) return end;
  return now + std::max<base::WallTime::duration>(now - *end, kLeastOverrun);
}

Reservation::Reservation(const PlaceRequest& request, const std::vector<Ending>& ending, Ledger& ledger,
                         const Domains& domains) {
  const auto placeAfter = [&](std::size_t count) -> std::optional<Placement> {
    WhatIf ended(ledger);
    for (std::size_t i = 0; i < count; ++i) ended.release(ending[i].holds);
    auto placed = place(request, ledger, domains);
    if (auto* placement = std::get_if<Placement>(&placed)) return std::move(*placement);
    return std::nullopt;
  };
  std::optional<Placement> reserved = ending.empty() ? std::nullopt : placeAfter(ending.size());
  if (!reserved) return;
  std::size_t tooFew = 0;
  std::size_t enough = ending.size();
  while (enough - tooFew > 1) {
    const std::size_t middle = tooFew + (enough - tooFew) / 2;
    if (auto earlier = placeAfter(middle)) {
      reserved = std::move(earlier);
      enough = middle;
    } else {
      tooFew = middle;
    }
  }
  start_ = ending[enough - 1].at;
  places_ = reserved->assignments;
  for (const auto& [node, amount] : amountsOf(*request.job, places_, ledger)) spare_[node].subtract(amount);
  for (std::size_t i = 0; i < enough; ++i) {
    for (const auto& [node, amount] : ending[i].holds) {
      if (const auto at = spare_.find(node); at != spare_.end()) at->second.add(amount);
    }
  }
}

std::vector<model::NodeName> Reservation::nodes(const Ledger& ledger) const {
  std::vector<model::NodeName> names;
  for (const auto& [node, amount] : spare_) names.push_back(ledger.nodes()[node].node->name);
  return names;
}

bool Reservation::leavesRoom(const Ledger& ledger, const std::vector<model::Assignment>& places) const {
  return std::all_of(places.begin(), places.end(), [&](const auto& assignment) {
    const std::size_t node = *ledger.find(assignment.node);
    const auto spare = spare_.find(node);
    if (spare == spare_.end()) return true;
    model::Resources then = ledger.nodes()[node].free;
    then.add(spare->second);
    const auto negative = [](const auto& entry) { return entry.second < 0; };
    const auto& extended = then.extendedAll();
    return then.cpu.value >= 0 && then.memory.value >= 0 && then.ephemeralStorage.value >= 0 &&
           then.pods >= 0 && std::none_of(extended.begin(), extended.end(), negative);
  });
}

}  // namespace trainyard::core
