#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/cycle/cycle_phases.h"
#include "core/gang/gang_proposals.h"
#include "core/status/describe.h"
#include "model/conditions.h"
#include "model/names.h"
#include "model/set_condition.h"

namespace trainyard::core {
namespace {

// A member that has succeeded is never lost, whatever happens to its pod afterwards.
void noteSucceeded(const std::vector<Member>& members, model::GangRecord& record) {
  if (!record.placed) return;
  for (const Member& member : members) {
    if (member.succeeded && !record.placed->hasSucceeded(member.role, member.index))
      record.placed->noteSucceeded(member.role, member.index);
  }
}

}  // namespace

JobDecision& Cycle::derive(const JobPtr& job, GangRecord record, const StatusUpdate& update) {
  JobDecision& decision = add(job);
  recordTypes(record);
  const std::vector<Member> members = membersOf(*job, record);
  decision.status = deriveStatus(*job, std::move(record), members, update, input_.snapshot.now);
  noteSucceeded(members, decision.status->gang);
  const auto& charge = decision.status->gang.charge;
  decision.status->queue = charge ? charge->queue : queues_.requestedQueueOf(*job);
  setChargedCondition(*job, *decision.status);
  decision.urgency = decision.status->phase == job->status.phase ? Urgency::kSpare : Urgency::kNow;
  const bool begins = decision.status->gang.proposal && !job->status.gang.proposal;
  const bool ends =
      update.verdict.outcome == Outcome::kSucceeded || update.verdict.outcome == Outcome::kFailed;
  if (job->status.gang.placed && (begins || ends)) changing_.insert(job.get());
  return decision;
}

// Records the GPU types of newly assigned nodes.
void Cycle::recordTypes(GangRecord& record) const {
  if (!queues_.dimensions().namesTypes()) return;
  const auto note = [&](std::vector<model::Assignment>& assignments) {
    for (model::Assignment& place : assignments) {
      if (place.gpuType.empty()) place.gpuType = queues_.capacity().gpuTypeOf(place.node);
    }
  };
  if (record.placed) note(record.placed->assignments);
  if (record.proposal) note(record.proposal->add);
}

void Cycle::write(const JobPtr& job, GangRecord record, std::vector<JobEvent> events,
                  const StatusUpdate& update) {
  derive(job, std::move(record), update).events = std::move(events);
}

// Returns the members that the record to be written names.
std::vector<Member> Cycle::membersOf(const Job& job, const GangRecord& record) const {
  if (record.placed) {
    std::vector<Member> members = placedMembers(job, *record.placed, podsOf(job));
    // Leaving members no longer count as members of the gang.
    const bool shrinks = record.proposal && record.proposal->kind == model::ProposalKind::kShrink &&
                         !record.proposal->movesFor;
    if (shrinks)
      std::erase_if(members, [&](const Member& m) { return record.proposal->removes(m.role, m.index); });
    return members;
  }
  if (record.proposal) return addedMembers(job, *record.proposal, podsOf(job));
  return {};
}

std::string Cycle::placementText(const GangRecord& record) const {
  // Members that join a running gang are not running yet, so their nodes are not reported.
  const bool changes =
      record.proposal && !record.proposal->add.empty() && record.proposal->kind != model::ProposalKind::kGrow;
  if (changes) return describePlacement(record.proposal->add, ledger_, input_.snapshot.policy.topology);
  if (record.placed)
    return describePlacement(record.placed->assignments, ledger_, input_.snapshot.policy.topology);
  return {};
}

// Reports whether a Queue is charged for the job, if the cluster has Queues. Without a Queue object the
// default queue has no limit, and no status shows its usage.
void Cycle::setChargedCondition(const Job& job, model::JobStatus& status) const {
  // A finished job is not charged, and a job that waits for a missing Queue reports that as its reason.
  if (job.finished()) return;
  const model::QueueName& name = queues_.queueNameOf(job);
  const auto index = queues_.find(name);
  if (!index && !status.gang.placed) return;
  const bool isUncharged =
      !input_.snapshot.queues.empty() && (!index || queues_.node(*index).queue == nullptr);
  const bool reported = std::any_of(status.conditions.begin(), status.conditions.end(), [](const auto& each) {
    return each.type == model::conditions::kCharged;
  });
  if (!isUncharged && !reported) return;
  model::setCondition(
      status.conditions, model::conditions::kCharged,
      isUncharged ? model::ConditionStatus::kFalse : model::ConditionStatus::kTrue,
      isUncharged ? "NoQueue" : "Charged",
      isUncharged ? explainUncharged(job, name) : fmt::format("the job is charged to queue {}", name),
      input_.snapshot.now, job.generation);
}

std::string Cycle::explainUncharged(const Job& job, const model::QueueName& name) {
  if (name.str() != model::names::kDefaultQueue)
    return fmt::format(
        "the job is charged to no Queue: Queue \"{}\", for which it was placed, no longer exists", name);
  return fmt::format(
      "the job is charged to no Queue: it names none, and there is no Queue named \"default\"; "
      "set "
      "spec.queue, or the label {} of namespace {}",
      model::names::kDefaultQueueLabel, job.key.ns);
}

}  // namespace trainyard::core
