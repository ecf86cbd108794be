#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/cycle/cycle_phases.h"
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

}  // namespace

void Cycle::stepOn(const JobPtr& job) {
  GangStep step = stepProposal(*job, podsOf(*job), contextOf(*feedback_));
  wakeAt(step.wakeAt);
  if (job->recordUnwritten && !step.record && mayStayUnwritten(*job)) {
    add(job).actions = std::move(step.actions);
    return;
  }
  GangRecord record = step.record.value_or(job->status.gang);
  // Another leader created the bound pod, so the gang is charged by the present spec of its job.
  if (record.placed && !record.charge) {
    record.charge =
        model::makeCharge(job->spec, queues_.requestedQueueOf(*job), Priorities(input_.snapshot).of(*job));
    record.charge->ancestors = ancestorsOf(record.charge->queue, input_.snapshot);
  }
  StatusUpdate update;
  update.where = placementText(record);
  JobDecision& decision = derive(job, std::move(record), update);
  if (step.record) {
    decision.urgency = isAboutToRun(*job, *step.record) ? Urgency::kSoon
                       : runsAlone(*job)                ? Urgency::kPaced
                                                        : Urgency::kNow;
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
  Removal removal(ledger_, settings_, input_.snapshot.now);
  for (const model::Pod* stray : strayPods(*job, podsOf(*job))) removal.remove(*stray);
  finishRemoval(removal, decision);
}

void Cycle::recordPlanAtSize(const Job& job, JobDecision& decision) const {
  const GangRecord& gang = decision.status->gang;
  if (!job.spec.plan.automatic || !gang.placed || gang.proposal) return;
  auto plan = planAtSize(job, gang.placed->assignments, ledger_, input_.snapshot.policy, input_.snapshot.now);
  if (plan) decision.status->plan = std::move(*plan);
}

// A single pod is mostly bound within moments, and one write then records it. A slower one is reported.
bool Cycle::mayStayUnwritten(const Job& job) {
  const JobPods& pods = podsOf(job);
  const base::WallTime patience =
      (pods.empty() ? input_.snapshot.now : pods.front()->created) + input_.settings.startingPatience;
  if (input_.snapshot.now >= patience) return false;
  wakeAt(patience);
  return true;
}

// Returns true for a single-pod job without a written record, if its pod runs undisturbed.
bool Cycle::runsAlone(const Job& job) const {
  const JobPods& pods = podsOf(job);
  return job.recordUnwritten && !job.deleting && !job.spec.run.suspend && pods.size() == 1 &&
         pods.front()->phase == model::PodPhase::kRunning && !pods.front()->terminating;
}

// Returns true if the status that is held back is still all that there is to write.
bool Cycle::isStatusDeferred(const Job& job) const {
  const JobPods& pods = podsOf(job);
  switch (feedback_->held) {
    case DeferredStatus::kNone: return false;
    case DeferredStatus::kStarted: return runsAlone(job);
    case DeferredStatus::kBound:
      return job.recordUnwritten && !job.deleting && !job.spec.run.suspend && pods.size() == 1 &&
             pods.front()->bound() && pods.front()->phase == model::PodPhase::kPending &&
             !pods.front()->terminating;
  }
  return false;
}

// Returns true if a bound gang is about to run: one write can then record its placement and its start.
bool Cycle::isAboutToRun(const Job& job, const GangRecord& record) const {
  if (!record.placed || record.proposal || job.deleting || job.spec.run.suspend) return false;
  // A shrink is recorded at once, without waiting for the remaining members to run.
  const auto& proposal = job.status.gang.proposal;
  if (proposal && proposal->kind == model::ProposalKind::kShrink) return false;
  const std::vector<Member> members = placedMembers(job, *record.placed, podsOf(job));
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
void Cycle::awaitMove(const JobPtr& job) {
  const GangRecord& gang = job->status.gang;
  const auto& topology = input_.snapshot.policy.topology;
  StatusUpdate update;
  const JobPods& pods = podsOf(*job);
  const Outcome outcome = judge(*job, placedMembers(*job, *gang.placed, pods)).outcome;
  ClaimOnGang claim;
  if (!job->deleting && !job->spec.run.suspend) claim = claimOf(*gang.proposal->movesFor, *job, pods);
  // A gang that has failed meanwhile gives up its members all the same. So does a gang that lost its claimed
  // members by their own end, once the claim waits for no other gang. The claim has their nodes then. A
  // restart with all members of its record would exceed the quota of its queue.
  const bool fails = outcome == Outcome::kFailed || outcome == Outcome::kLost;
  const bool gone = outcome == Outcome::kRunning && !claim.awaits;
  const bool fewer = memberCount(gang.proposal->add) < memberCount(gang.proposal->remove);
  const bool begins = evictions_.contains(job->key) || (claim.names && (fails || gone) && fewer);
  if (begins && gang.proposal->kind == model::ProposalKind::kShrink) {
    const model::ObjectKey preemptor = *gang.proposal->movesFor;
    GangRecord record = beginShrink(*job, author());
    // A suspended job may have been edited to be no longer elastic.
    const auto shrink = resizeUnderWay(job->spec, record);
    const std::string shrinks = shrink ? describeResize(*shrink) : std::string("shrinks");
    update.where = placementText(record);
    write(job, std::move(record), {{true, "Resizing", fmt::format("{} for {}", shrinks, preemptor)}}, update);
    plan_.decisions.back().urgency = Urgency::kNow;
    return;
  }
  if (begins) {
    update.preemptedBy = gang.proposal->movesFor;
    update.preemptedByOtherQueue = isOfOtherQueue(*gang.proposal->movesFor, *job);
    update.where = describePlacement(gang.proposal->add, ledger_, topology);
    write(
        job, beginMove(*job),
        {{true, "Moved", fmt::format("is moved for {}; restarts on {}", *update.preemptedBy, update.where)}},
        update);
    plan_.decisions.back().urgency = Urgency::kNow;
    return;
  }
  update.where = describePlacement(gang.placed->assignments, ledger_, topology);
  const bool wanted = claim.names && outcome == Outcome::kRunning;
  write(job, wanted ? gang : withdrawMove(*job), {}, update);
  if (!wanted) plan_.decisions.back().urgency = Urgency::kNow;
}

ClaimOnGang Cycle::claimOf(const model::ObjectKey& preemptor, const Job& gang, const JobPods& pods) const {
  const auto& jobs = input_.snapshot.jobs;
  const auto at = std::lower_bound(jobs.begin(), jobs.end(), preemptor,
                                   [](const JobPtr& each, const auto& wanted) { return each->key < wanted; });
  if (at == jobs.end() || (*at)->key != preemptor) return {};
  return claimOn(gang, pods, **at, input_.snapshot.pods);
}

}  // namespace trainyard::core
