#include "core/cycle/job_decisions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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

std::string explainUncharged(const model::Job& job, const model::QueueName& name) {
  if (name.str() != model::names::kDefaultQueue)
    return fmt::format(
        "the job is charged to no Queue: Queue \"{}\", for which it was placed, no longer exists", name);
  return fmt::format(
      "the job is charged to no Queue: it names none, and there is no Queue named \"default\"; "
      "set "
      "spec.queue, or the label {} of namespace {}",
      model::names::kDefaultQueueLabel, job.key.ns);
}

}  // namespace

JobDecision& JobDecisions::add(const JobPtr& job) {
  in_.plan.decisions.push_back({.job = job});
  return in_.plan.decisions.back();
}

JobDecision& JobDecisions::derive(const JobPtr& job, model::GangRecord record, const StatusUpdate& update) {
  JobDecision& decision = add(job);
  recordTypes(record);
  const std::vector<Member> members = membersOf(*job, record);
  decision.status = deriveStatus(*job, std::move(record), members, update, in_.input.snapshot.now);
  noteSucceeded(members, decision.status->gang);
  const auto& charge = decision.status->gang.charge;
  decision.status->queue = charge ? charge->queue : in_.queues.requestedQueueOf(*job);
  setChargedCondition(*job, *decision.status);
  decision.urgency = decision.status->phase == job->status.phase ? Urgency::kSpare : Urgency::kNow;
  const bool begins = decision.status->gang.proposal && !job->status.gang.proposal;
  const bool ends =
      update.verdict.outcome == Outcome::kSucceeded || update.verdict.outcome == Outcome::kFailed;
  if (job->status.gang.placed && (begins || ends)) in_.changing.insert(job.get());
  return decision;
}

// Records the GPU types of newly assigned nodes.
void JobDecisions::recordTypes(model::GangRecord& record) const {
  if (!in_.queues.dimensions().namesTypes()) return;
  const auto note = [&](std::vector<model::Assignment>& assignments) {
    for (model::Assignment& place : assignments) {
      if (place.gpuType.empty()) place.gpuType = in_.queues.capacity().gpuTypeOf(place.node);
    }
  };
  if (record.placed) note(record.placed->assignments);
  if (record.proposal) note(record.proposal->add);
}

JobDecision& JobDecisions::write(const JobPtr& job, model::GangRecord record, std::vector<JobEvent> events,
                                 const StatusUpdate& update) {
  JobDecision& decision = derive(job, std::move(record), update);
  decision.events = std::move(events);
  return decision;
}

bool JobDecisions::replace(const JobPtr& job) {
  if (in_.feedbackOf(job->key).busy) return false;
  std::erase_if(in_.plan.decisions, [&](const JobDecision& decision) { return decision.job == job; });
  return true;
}

void JobDecisions::dropEmpty() {
  for (JobDecision& decision : in_.plan.decisions) {
    if (decision.status && *decision.status == decision.job->status) decision.status.reset();
  }
  std::erase_if(in_.plan.decisions, [](const JobDecision& decision) {
    return !decision.status && decision.actions.empty() && decision.events.empty();
  });
}

// Returns the members that the record to be written names.
std::vector<Member> JobDecisions::membersOf(const model::Job& job, const model::GangRecord& record) const {
  if (record.placed) {
    std::vector<Member> members = placedMembers(job, *record.placed, in_.podsOf(job));
    // Leaving members no longer count as members of the gang.
    const bool shrinks = record.proposal && record.proposal->kind == model::ProposalKind::kShrink &&
                         !record.proposal->movesFor;
    if (shrinks)
      std::erase_if(members, [&](const Member& m) { return record.proposal->removes(m.role, m.index); });
    return members;
  }
  if (record.proposal) return addedMembers(job, *record.proposal, in_.podsOf(job));
  return {};
}

std::string JobDecisions::placementText(const model::GangRecord& record) const {
  // Members that join a running gang are not running yet, so their nodes are not reported.
  const bool changes =
      record.proposal && !record.proposal->add.empty() && record.proposal->kind != model::ProposalKind::kGrow;
  if (changes) return describePlacement(record.proposal->add, in_.ledger, in_.input.snapshot.policy.topology);
  if (record.placed)
    return describePlacement(record.placed->assignments, in_.ledger, in_.input.snapshot.policy.topology);
  return {};
}

// Reports whether a Queue is charged for the job, if the cluster has Queues. Without a Queue object the
// default queue has no limit, and no status shows its usage.
void JobDecisions::setChargedCondition(const model::Job& job, model::JobStatus& status) const {
  // A finished job is not charged, and a job that waits for a missing Queue reports that as its reason.
  if (job.finished()) return;
  const model::QueueName& name = in_.queues.queueNameOf(job);
  const auto index = in_.queues.find(name);
  if (!index && !status.gang.placed) return;
  const bool isUncharged =
      !in_.input.snapshot.queues.empty() && (!index || in_.queues.node(*index).queue == nullptr);
  const bool reported = std::any_of(status.conditions.begin(), status.conditions.end(), [](const auto& each) {
    return each.type == model::conditions::kCharged;
  });
  if (!isUncharged && !reported) return;
  model::setCondition(
      status.conditions, model::conditions::kCharged,
      isUncharged ? model::ConditionStatus::kFalse : model::ConditionStatus::kTrue,
      isUncharged ? "NoQueue" : "Charged",
      isUncharged ? explainUncharged(job, name) : fmt::format("the job is charged to queue {}", name),
      in_.input.snapshot.now, job.generation);
}

}  // namespace trainyard::core
