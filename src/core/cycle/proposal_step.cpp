#include "core/cycle/proposal_step.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/gang/gang_proposals.h"
#include "core/gang/gang_resize.h"
#include "core/place/place.h"
#include "core/planner.h"
#include "core/preemption/claims.h"
#include "core/queues/namespaces.h"
#include "core/queues/priority.h"
#include "core/status/describe.h"
#include "core/status/resize_status.h"
#include "model/charge.h"
#include "model/gang_size.h"

namespace trainyard::core {
namespace {

std::string placedText(int pods, const std::string& where) {
  if (pods == 1) return fmt::format("The pod is placed on {}", where);
  return fmt::format("The whole gang is placed: {} pods on {}", pods, where);
}

// Returns true for a single-pod job without a written record, if its pod runs undisturbed.
bool runsAlone(const model::Job& job, const JobPods& pods) {
  return job.recordUnwritten && !job.deleting && !job.spec.run.suspend && pods.size() == 1 &&
         pods.front()->phase == model::PodPhase::kRunning && !pods.front()->terminating;
}

}  // namespace

void ProposalStep::step(const CurrentJob& current) {
  if (current.job->status.gang.proposal->movesFor) return awaitMove(current.job);
  stepOn(current);
}

void ProposalStep::stepOn(const CurrentJob& current) {
  const JobPtr& job = current.job;
  GangStep step = stepProposal(*job, in_.podsOf(*job), in_.gangContext(current.feedback));
  in_.wakeAt(step.wakeAt);
  if (job->recordUnwritten && !step.record && mayStayUnwritten(*job)) {
    decisions_.add(job).actions = std::move(step.actions);
    return;
  }
  model::GangRecord record = step.record.value_or(job->status.gang);
  // Another leader created the bound pod, so the gang is charged by the present spec of its job.
  if (record.placed && !record.charge) {
    record.charge = model::makeCharge(job->spec, in_.queues.requestedQueueOf(*job),
                                      Priorities(in_.input.snapshot).of(*job));
    record.charge->ancestors = ancestorsOf(record.charge->queue, in_.input.snapshot);
  }
  StatusUpdate update;
  update.where = decisions_.placementText(record);
  JobDecision& decision = decisions_.derive(job, std::move(record), update);
  if (step.record) {
    decision.urgency = urgencyOf(*job, *step.record);
  } else if (job->recordUnwritten) {
    decision.urgency = Urgency::kSoon;  // kube-scheduler needs a while to bind thousands of pods
  }
  decision.actions = std::move(step.actions);
  std::move(step.events.begin(), step.events.end(), std::back_inserter(decision.events));
  auto resized = step.record ? resizeEnded(*job, *step.record) : std::nullopt;
  // For a single pod that did not have to wait, kube-scheduler's own Event is enough.
  const bool placed = step.record && step.record->placed && !step.record->proposal && !resized;
  if (resized) {
    recordPlanAtSize(*job, decision);
    decision.events.push_back(std::move(*resized));
  }
  if (placed && job->status.gang.proposal->phase != model::ProposalPhase::kAborting &&
      (!job->recordUnwritten || job->status.pending)) {
    decision.events.push_back(
        {false, "Placed", placedText(model::gangMembers(job->spec, *step.record), update.where)});
  }
  removal_.removeStrays(*job, decision);
}

Urgency ProposalStep::urgencyOf(const model::Job& job, const model::GangRecord& record) const {
  if (isAboutToRun(job, record, in_.podsOf(job))) return Urgency::kSoon;
  return runsAlone(job, in_.podsOf(job)) ? Urgency::kPaced : Urgency::kNow;
}

void ProposalStep::recordPlanAtSize(const model::Job& job, JobDecision& decision) const {
  const model::GangRecord& gang = decision.status->gang;
  if (!job.spec.plan.automatic || !gang.placed || gang.proposal) return;
  auto plan = planAtSize(job, gang.placed->assignments, in_.ledger, in_.input.snapshot.policy,
                         in_.input.snapshot.now);
  if (plan) decision.status->plan = std::move(*plan);
}

// A single pod is mostly bound within moments, and one write then records it. A slower one is reported.
bool ProposalStep::mayStayUnwritten(const model::Job& job) {
  const JobPods& pods = in_.podsOf(job);
  const base::WallTime patience =
      (pods.empty() ? in_.input.snapshot.now : pods.front()->created) + in_.input.settings.startingPatience;
  if (in_.input.snapshot.now >= patience) return false;
  in_.wakeAt(patience);
  return true;
}

bool isStatusDeferred(const model::Job& job, const JobPods& pods, const JobFeedback& feedback) {
  switch (feedback.held) {
    case DeferredStatus::kNone: return false;
    case DeferredStatus::kStarted: return runsAlone(job, pods);
    case DeferredStatus::kBound:
      return job.recordUnwritten && !job.deleting && !job.spec.run.suspend && pods.size() == 1 &&
             pods.front()->bound() && pods.front()->phase == model::PodPhase::kPending &&
             !pods.front()->terminating;
  }
  return false;
}

bool isAboutToRun(const model::Job& job, const model::GangRecord& record, const JobPods& pods) {
  if (!record.placed || record.proposal || job.deleting || job.spec.run.suspend) return false;
  // A shrink is recorded at once, without waiting for the remaining members to run.
  const auto& proposal = job.status.gang.proposal;
  if (proposal && proposal->kind == model::ProposalKind::kShrink) return false;
  const std::vector<Member> members = placedMembers(job, *record.placed, pods);
  const auto isUp = [](const Member& m) {
    return m.pod != nullptr && m.pod->phase == model::PodPhase::kRunning;
  };
  const auto comes = [](const Member& m) {
    return m.pod != nullptr && m.pod->phase == model::PodPhase::kPending && !m.pod->terminating;
  };
  return std::all_of(members.begin(), members.end(), [&](const Member& m) { return isUp(m) || comes(m); }) &&
         !std::all_of(members.begin(), members.end(), isUp);
}

// The gang gives up capacity by moving once the claim that it moves for stands. Without that claim it stays.
void ProposalStep::awaitMove(const JobPtr& job) {
  const model::GangRecord& gang = job->status.gang;
  const auto& topology = in_.input.snapshot.policy.topology;
  StatusUpdate update;
  const JobPods& pods = in_.podsOf(*job);
  const Outcome outcome = judge(*job, placedMembers(*job, *gang.placed, pods)).outcome;
  ClaimOnGang claim;
  if (!job->deleting && !job->spec.run.suspend) claim = claims_.claimOf(*gang.proposal->movesFor, *job);
  // A gang that has failed meanwhile gives up its members all the same. So does a gang that lost its claimed
  // members by their own end, once the claim waits for no other gang. The claim has their nodes then. A
  // restart with all members of its record would exceed the quota of its queue.
  const bool fails = outcome == Outcome::kFailed || outcome == Outcome::kLost;
  const bool gone = outcome == Outcome::kRunning && !claim.awaits;
  const bool fewer = memberCount(gang.proposal->add) < memberCount(gang.proposal->remove);
  const bool begins = claims_.preemptorOf(job->key) != nullptr || (claim.names && (fails || gone) && fewer);
  if (begins) return giveUpClaimed(job);
  update.where = describePlacement(gang.placed->assignments, in_.ledger, topology);
  const bool wanted = claim.names && outcome == Outcome::kRunning;
  JobDecision& decision = decisions_.write(job, wanted ? gang : withdrawMove(*job), {}, update);
  if (!wanted) decision.urgency = Urgency::kNow;
}

void ProposalStep::giveUpClaimed(const JobPtr& job) {
  const model::Proposal& proposal = *job->status.gang.proposal;
  const model::ObjectKey preemptor = *proposal.movesFor;
  StatusUpdate update;
  if (proposal.kind == model::ProposalKind::kShrink) {
    model::GangRecord record = beginShrink(*job, in_.author());
    // A suspended job may have been edited to be no longer elastic.
    const auto shrink = resizeUnderWay(job->spec, record);
    const std::string shrinks = shrink ? describeResize(*shrink) : std::string("shrinks");
    update.where = decisions_.placementText(record);
    decisions_
        .write(job, std::move(record), {{true, "Resizing", fmt::format("{} for {}", shrinks, preemptor)}},
               update)
        .urgency = Urgency::kNow;
    return;
  }
  update.preemptedBy = preemptor;
  update.preemptedByOtherQueue = isOfOtherQueue(in_, preemptor, *job);
  update.where = describePlacement(proposal.add, in_.ledger, in_.input.snapshot.policy.topology);
  decisions_
      .write(job, beginMove(*job),
             {{true, "Moved", fmt::format("is moved for {}; restarts on {}", preemptor, update.where)}},
             update)
      .urgency = Urgency::kNow;
}

}  // namespace trainyard::core
