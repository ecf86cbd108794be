#include "core/cycle/size_step.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/elastic/user_scale.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/gang_resize.h"
#include "core/preemption/claims.h"
#include "core/resize.h"
#include "core/status/describe.h"
#include "core/status/resize_status.h"
#include "model/gang_size.h"
#include "model/message_text.h"

namespace trainyard::core {
namespace {

std::string sizeMessage(const Change& change, model::SizeOwner by) {
  switch (by) {
    case model::SizeOwner::kSpec: return "requested by spec.elastic.replicas";
    case model::SizeOwner::kPreemption: return fmt::format("shrinks for {}", *change.preemptor);
    case model::SizeOwner::kCluster: break;
  }
  return change.kind == ChangeKind::kGrow ? "no pending job needs the capacity beyond its desired size"
                                          : "other jobs make better use of the capacity that it released";
}

}  // namespace

void SizeStep::scale(const Schedule& schedule, const std::set<model::ObjectKey>& changed) {
  std::erase_if(scaling_,
                [&](const JobPtr& job) { return claims_.names(job->key) || changed.contains(job->key); });
  if (scaling_.empty()) return;
  const ScaleRequest request{.snapshot = in_.input.snapshot,
                             .ledger = in_.ledger,
                             .domains = in_.cache.domains(),
                             .queues = in_.queues,
                             .gangs = std::move(scaling_),
                             .reservedFor =
                                 [&](const model::Job& job, int priority, const auto& assignments) {
                                   return schedule.reservedFor(job, priority, assignments, in_.ledger,
                                                               in_.queues);
                                 },
                             .unreached = in_.cache.schedule().progress.notScaled,
                             .refusals = in_.cache.schedule().refusals};
  ScaleAnswer answer = scaleAsRequested(request);
  in_.wakeAt(answer.wakeAt);
  for (const Change& change : answer.changes) {
    if (change.job->owner != nullptr) {
      join(change);
    } else {
      resize(change, model::SizeOwner::kSpec);
    }
  }
  if (answer.held.empty()) return;
  for (JobDecision& decision : in_.plan.decisions) {
    const auto held = answer.held.find(decision.job->key);
    // A gang that gets a part of its request reports the rest once that part has arrived.
    if (held == answer.held.end() || !decision.status || decision.status->gang.proposal) continue;
    setResizeStatus(*decision.job, held->second, in_.input.snapshot.now, *decision.status);
  }
}

void SizeStep::join(const Change& change) {
  if (!decisions_.replace(change.job)) return;
  const std::string where =
      describePlacement(change.add.assignments, in_.ledger, in_.input.snapshot.policy.topology);
  StatusUpdate update;
  update.where = decisions_.placementText(change.job->status.gang);
  JobDecision& decision = decisions_.derive(
      change.job,
      propose(*change.job, model::ProposalKind::kGrow, change.add.assignments, {}, {}, in_.author()), update);
  decision.urgency = Urgency::kNow;
  decision.events.push_back(
      {false, "Resizing",
       fmt::format("{} of role {} join, on {}", model::counted(memberCount(change.add.assignments), "pod"),
                   change.add.assignments.front().role, where)});
}

bool someEnded(const model::Job& job, const JobPods& pods) {
  const auto& placed = job.status.gang.placed;
  return (placed && !placed->succeeded.empty()) ||
         std::any_of(pods.begin(), pods.end(), [](const auto& pod) { return pod->finished(); });
}

void SizeStep::resize(const Change& change, model::SizeOwner by) {
  if (!decisions_.replace(change.job)) return;
  const bool grows = change.kind == ChangeKind::kGrow;
  model::GangRecord record = grows
                                 ? proposeGrow(*change.job, change.add.assignments, in_.author())
                                 : proposeShrink(*change.job, change.remove, change.preemptor, in_.author());
  const auto under = resizeUnderWay(change.job->spec, record);
  StatusUpdate update;
  update.where = decisions_.placementText(record);
  const int members = model::gangMembers(change.job->spec, record,
                                         *change.job->spec.findRole(change.job->spec.elastic->role));
  JobDecision& decision = decisions_.derive(change.job, std::move(record), update);
  decision.urgency = Urgency::kNow;
  recordSize(*change.job, {members, by, sizeMessage(change, by)}, in_.input.snapshot,
             decision.status->resize);
  if (!under) return;  // the gang waits for the claim that it gives up capacity for
  std::string note = describeResize(*under);
  if (grows)
    note +=
        ", on " + describePlacement(change.add.assignments, in_.ledger, in_.input.snapshot.policy.topology);
  if (under->byRestart) note += "; its pods end, and restart with the new size";
  decision.events.push_back({false, "Resizing", std::move(note)});
}

}  // namespace trainyard::core
