#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/cycle/cycle_phases.h"
#include "core/cycle/user_scale.h"
#include "core/gang/gang_resize.h"
#include "core/preemption/claims.h"
#include "core/resize.h"
#include "core/status/describe.h"
#include "core/status/resize_status.h"
#include "model/gang_size.h"

namespace trainyard::core {

void Cycle::scale(const Schedule& schedule) {
  leaveOutClaimed();
  if (scaling_.empty()) return;
  const ScaleRequest request{.snapshot = input_.snapshot,
                             .ledger = ledger_,
                             .domains = cache_.domains(),
                             .queues = queues_,
                             .gangs = std::move(scaling_),
                             .reservedFor =
                                 [&](const Job& job, int priority, const auto& assignments) {
                                   return schedule.reservedFor(job, priority, assignments, ledger_, queues_);
                                 },
                             .unreached = cache_.schedule().notScaled,
                             .refusals = cache_.schedule().refusals};
  ScaleAnswer answer = scaleAsRequested(request);
  wakeAt(answer.wakeAt);
  for (const Change& change : answer.changes) resize(change, model::SizeOwner::kSpec);
  if (answer.held.empty()) return;
  for (JobDecision& decision : plan_.decisions) {
    const auto held = answer.held.find(decision.job->key);
    // A gang that gets a part of its request reports the rest once that part has arrived.
    if (held == answer.held.end() || !decision.status || decision.status->gang.proposal) continue;
    setResizeStatus(*decision.job, held->second, input_.snapshot.now, *decision.status);
  }
}

// A gang that a claim names, standing or not, or that this plan already changes, is not resized.
void Cycle::leaveOutClaimed() {
  if (scaling_.empty()) return;
  std::erase_if(scaling_, [&](const JobPtr& job) {
    return claimed_.contains(job->key) || changedInPlan_.contains(job->key);
  });
}

// A gang with a finished member is about to end or to restart, so new members would find no peers.
bool Cycle::someEnded(const Job& job) {
  const auto& placed = job.status.gang.placed;
  const auto& pods = podsOf(job);
  return (placed && !placed->succeeded.empty()) ||
         std::any_of(pods.begin(), pods.end(), [](const auto& pod) { return pod->finished(); });
}

// Resizes the gang: adds the members in `change.add`, or removes those in `change.remove`.
void Cycle::resize(const Change& change, model::SizeOwner by) {
  const auto feedbackAt = input_.feedback.find(change.job->key);
  if (feedbackAt != input_.feedback.end() && feedbackAt->second.busy) return;
  std::erase_if(plan_.decisions, [&](const JobDecision& decision) { return decision.job == change.job; });
  const bool grows = change.kind == ChangeKind::kGrow;
  GangRecord record = grows ? proposeGrow(*change.job, change.add.assignments, author())
                            : proposeShrink(*change.job, change.remove, change.preemptor, author());
  const auto under = resizeUnderWay(change.job->spec, record);
  StatusUpdate update;
  update.where = placementText(record);
  const int members = model::gangMembers(change.job->spec, record,
                                         *change.job->spec.findRole(change.job->spec.elastic->role));
  JobDecision& decision = derive(change.job, std::move(record), update);
  decision.urgency = Urgency::kNow;
  recordSize(*change.job, {members, by, sizeMessage(change, by)}, input_.snapshot, decision.status->resize);
  if (!under) return;  // the gang waits for the claim that it gives up capacity for
  std::string note = describeResize(*under);
  if (grows)
    note += ", on " + describePlacement(change.add.assignments, ledger_, input_.snapshot.policy.topology);
  if (under->byRestart) note += "; its pods end, and restart with the new size";
  decision.events.push_back({false, "Resizing", std::move(note)});
}

std::string Cycle::sizeMessage(const Change& change, model::SizeOwner by) {
  switch (by) {
    case model::SizeOwner::kSpec: return "requested by spec.elastic.replicas";
    case model::SizeOwner::kPreemption: return fmt::format("shrinks for {}", *change.preemptor);
    case model::SizeOwner::kCluster: break;
  }
  return change.kind == ChangeKind::kGrow ? "no pending job needs the capacity beyond its desired size"
                                          : "other jobs make better use of the capacity that it released";
}

}  // namespace trainyard::core
