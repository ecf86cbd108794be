#include "operator/metrics/proposal_metrics.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "operator/metrics/pending_since.h"

namespace trainyard::operator_ {
namespace {

const std::vector<double> kPhaseBounds = {0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300};

std::string_view phaseName(model::ProposalPhase phase) {
  switch (phase) {
    case model::ProposalPhase::kClaiming: return "Claiming";
    case model::ProposalPhase::kReserved: return "Reserved";
    case model::ProposalPhase::kReleasing: return "Releasing";
    case model::ProposalPhase::kAborting: return "Aborting";
  }
  return "Unknown";
}

std::string_view kindName(model::ProposalKind kind) {
  switch (kind) {
    case model::ProposalKind::kStart: return "Start";
    case model::ProposalKind::kGrow: return "Grow";
    case model::ProposalKind::kShrink: return "Shrink";
    case model::ProposalKind::kReplace: return "Replace";
    case model::ProposalKind::kRestart: return "Restart";
  }
  return "Unknown";
}

}  // namespace

ProposalMetrics::ProposalMetrics(telemetry::MetricsRegistry& registry)
    : registry_(registry),
      oldest_(registry.gauge("trainyard_oldest_proposal_timestamp_seconds",
                             "Start of the oldest change of a gang that is still in progress, in "
                             "seconds since 1970; 0 without any.")),
      aborts_(
          registry.counter("trainyard_gang_aborts_total", "Attempts to place a gang that were aborted.")) {}

void ProposalMetrics::describe(const model::Snapshot& snapshot) {
  std::map<std::string, Underway, std::less<>> left;
  std::optional<base::WallTime> oldest;
  for (const auto& job : snapshot.jobs) {
    const auto& proposal = job->status.gang.proposal;
    if (!proposal || job->recordUnwritten) continue;
    const auto known = underway_.find(job->uid.str());
    const bool same = known != underway_.end() && known->second.id == proposal->id;
    const Underway& now = left.emplace(job->uid.str(), same ? known->second
                                                            : Underway{proposal->id, proposal->phase,
                                                                       snapshot.now, snapshot.now})
                              .first->second;
    oldest = oldest ? std::min(*oldest, now.began) : now.began;
  }
  underway_ = std::move(left);
  oldest_.set(oldest ? sinceEpoch(*oldest) : 0);
}

void ProposalMetrics::note(const model::Job& before, const model::JobStatus& after, base::WallTime now) {
  noteAbort(before.status, after);
  notePhase(before, after, now);
}

void ProposalMetrics::noteAbort(const model::JobStatus& before, const model::JobStatus& after) {
  const bool wasAborting =
      before.gang.proposal && before.gang.proposal->phase == model::ProposalPhase::kAborting;
  const bool isAborting =
      after.gang.proposal && after.gang.proposal->phase == model::ProposalPhase::kAborting;
  if (isAborting && !wasAborting) aborts_.increment();
}

void ProposalMetrics::notePhase(const model::Job& before, const model::JobStatus& after, base::WallTime now) {
  const std::string& uid = before.uid.str();
  const auto& proposal = after.gang.proposal;
  auto known = underway_.find(uid);
  const auto leavePhase = [&] {
    registry_
        .histogram("trainyard_gang_phase_duration_seconds",
                   "How long a change of a gang stayed in each phase of the protocol.", kPhaseBounds,
                   {{"phase", std::string(phaseName(known->second.phase))}})
        .observe(std::chrono::duration<double>(now - known->second.inPhase).count());
  };
  if (known != underway_.end() && (!proposal || proposal->id != known->second.id)) {
    leavePhase();
    underway_.erase(known);
    known = underway_.end();
  }
  if (!proposal) return;
  if (known == underway_.end()) {
    underway_.emplace(uid, Underway{proposal->id, proposal->phase, now, now});
    const auto& was = before.status.gang.proposal;
    if (was && was->id == proposal->id) return;  // begun by an earlier leader
    registry_
        .counter("trainyard_gang_changes_total", "Changes of gangs that were started, by kind.",
                 {{"kind", std::string(kindName(proposal->kind))}})
        .increment();
    return;
  }
  if (known->second.phase == proposal->phase) return;
  leavePhase();
  known->second.phase = proposal->phase;
  known->second.inPhase = now;
}

}  // namespace trainyard::operator_
