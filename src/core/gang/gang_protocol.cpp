#include "core/gang/gang_protocol.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/gang/barrier.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/gang_removal.h"
#include "core/gang/gang_resize.h"
#include "core/gang/victim_assignment.h"
#include "core/lifecycle.h"
#include "model/gang_size.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

using model::GangRecord;
using model::Job;
using model::NodeName;
using model::Proposal;
using model::ProposalPhase;

// Why the attempt must end now, while no member is released; empty if it may go on.
std::string reasonToStopBeforeRelease(const Job& job, const JobFeedback& feedback) {
  const Proposal& proposal = *job.status.gang.proposal;
  if (job.deleting) return "the job is being deleted";
  if (job.spec.run.suspend) return "the job was suspended";
  if (!job.specError.empty()) return "the spec became invalid";
  if (proposal.generation != job.generation && proposal.templateHash != job.spec.templateHash) {
    return "the spec was edited after the nodes were reserved";
  }
  const auto& charge = job.status.gang.charge;
  const bool namesQueue = job.spec.queue.str() != model::names::kDefaultQueue;
  if (proposal.generation != job.generation && charge && namesQueue && charge->queue != job.spec.queue)
    return "the queue was changed after the nodes were reserved";
  if (feedback.creationRefused) {
    return fmt::format("{}: {}", feedback.creationRefused->reason, feedback.creationRefused->message);
  }
  return {};
}

struct LostNode {
  std::string reason;
  std::vector<NodeName> nodes;
  // Not for lack of capacity there. Other nodes, or other victims, would not have helped, as far as is known.
  bool isUnbindable = false;
};

// kube-scheduler's message names what a pod that is pinned to one node lacks there.
bool isForCapacity(const std::string& unschedulable) {
  return unschedulable.find("Insufficient ") != std::string::npos ||
         unschedulable.find("Too many pods") != std::string::npos;
}

// A member that its node refused.
std::optional<LostNode> findRefused(const std::vector<Member>& members) {
  for (const Member& member : members) {
    const model::Pod* pod = member.pod;
    if (pod == nullptr || pod->phase != model::PodPhase::kFailed) continue;
    if (pod->exit && endedByNode(*pod) != model::FailureClass::kAdmissionRefused) continue;
    return LostNode{fmt::format("node {} refused pod {}: {}", pod->node, pod->key.name, pod->statusReason),
                    {member.node}};
  }
  return std::nullopt;
}

// Whether the ledger shows that the node lacks capacity for what is assigned to it, this pod included.
bool isOverfull(const Ledger& ledger, const NodeName& name, const model::Pod& pod) {
  const auto at = ledger.find(name);
  if (!at) return false;
  model::Resources free = ledger.nodes()[*at].free;
  free.add(pod.shape.requests);
  return free.shortfallFor(pod.shape.requests).has_value();
}

// The nodes for which kube-scheduler does not bind the members that were released to them, and that the next
// plan would choose again. The plan sees what the ledger counts. It does not see what kube-scheduler alone
// knows, such as a pod that it is about to bind.
std::vector<NodeName> nodesNotGiven(const std::vector<Member>& members, const Ledger& ledger) {
  std::vector<NodeName> nodes;
  for (const Member& member : members) {
    const model::Pod* pod = member.pod;
    if (pod == nullptr || pod->bound() || pod->gangGated || pod->unschedulableMessage.empty()) continue;
    if (isForCapacity(pod->unschedulableMessage) && isOverfull(ledger, member.node, *pod)) continue;
    nodes.push_back(member.node);
  }
  return nodes;
}

// A released member that can no longer run on its node: the node
// refused it, is gone, or has been full for too long.
std::optional<LostNode> findLostNode(const std::vector<Member>& members, const GangContext& context,
                                     std::optional<base::WallTime>& wakeAt) {
  if (auto refused = findRefused(members)) return refused;
  for (const Member& member : members) {
    const model::Pod* pod = member.pod;
    if (pod == nullptr)
      return LostNode{fmt::format("member {}-{} was deleted", member.role, member.index), {}};
    if (pod->terminating) return LostNode{fmt::format("pod {} is being deleted", pod->key.name), {}};
    if (pod->bound()) continue;
    const auto at = context.ledger->find(member.node);
    if (!at) return LostNode{fmt::format("node {} is gone", member.node), {member.node}};
    const model::Node& node = *context.ledger->nodes()[*at].node;
    if (!node.ready || node.unschedulable || node.deleting) {
      return LostNode{fmt::format("node {} is no longer schedulable", member.node), {member.node}};
    }
    if (pod->unschedulableMessage.empty()) continue;
    // A gated pod has this condition, too: its transition is older than the release, or absent. A new leader
    // cannot see the time of the release, and may give up early: that costs one attempt.
    const base::WallTime since =
        std::max({pod->unschedulableSince, pod->created, context.feedback->released.value_or(pod->created)});
    const base::WallTime patience = since + context.settings->unschedulableGrace;
    if (context.now >= patience) {
      return LostNode{
          fmt::format("pod {} was not bound to its node: {}", pod->key.name, pod->unschedulableMessage),
          nodesNotGiven(members, *context.ledger), !isForCapacity(pod->unschedulableMessage)};
    }
    wakeAt = wakeAt ? std::min(*wakeAt, patience) : patience;
  }
  return std::nullopt;
}

// The nodes of released members that are not bound count as failed.
// If no member was released, no node is at fault.
LostNode missedDeadline(const std::vector<Member>& members) {
  LostNode lost{"the gang was not complete before its deadline", {}};
  for (const Member& member : members) {
    if (member.pod != nullptr && !member.pod->otherGate.empty())
      return {fmt::format("pod {} keeps the scheduling gate {}", member.pod->key.name, member.pod->otherGate),
              {}};
  }
  for (const Member& member : members) {
    const bool waits = member.pod != nullptr && !member.pod->gangGated && !member.pod->bound();
    if (waits) lost.nodes.push_back(member.node);
  }
  lost.isUnbindable = !lost.nodes.empty();
  return lost;
}

GangStep abort(const Job& job, const LostNode& lost, const GangContext& context) {
  GangStep step;
  step.record =
      abortProposal(job, lost.reason, lost.nodes, context.now, *context.settings, lost.isUnbindable);
  // A resize has its own Event, which names the size that remains.
  if (!resizeUnderWay(job.spec, job.status.gang)) {
    step.events.push_back(
        {true, "Aborted", fmt::format("Attempt aborted, will be repeated: {}", lost.reason)});
  }
  return step;
}

GangStep commit(GangRecord record) {
  GangStep step;
  step.record = std::move(record);
  return step;
}

GangStep awaitRemoval(Removal& removal) {
  GangStep step;
  step.actions = removal.takeActions();
  step.wakeAt = removal.wakeAt();
  return step;
}

GangStep stepAborting(const Job& job, const JobPods& pods, const GangContext& context) {
  Removal removal(*context.ledger, *context.settings, context.now);
  for (const Member& member : addedMembers(job, *job.status.gang.proposal, pods)) {
    if (member.pod != nullptr) removal.remove(*member.pod);
  }
  if (removal.done()) return commit(dropProposal(job));
  return awaitRemoval(removal);
}

std::vector<const model::Pod*> victimsLeft(const Proposal& proposal,
                                           const model::SharedList<model::Pod>& pods) {
  std::vector<const model::Pod*> left;
  for (const model::Victim& victim : proposal.victims) {
    const model::Pod* pod = findVictim(pods, victim);
    if (pod != nullptr && !pod->finished()) left.push_back(pod);
  }
  return left;
}

GangStep createMissing(const Job& job, const std::vector<Member>& members, const GangContext& context) {
  const Proposal& proposal = *job.status.gang.proposal;
  GangStep step;
  const bool alone = model::gangMembers(job) == 1;
  // A pod that is created while other pods still hold its capacity must not be bound
  // there. It has a gate, as the pods of a gang do.
  const bool pinned = alone && proposal.phase == ProposalPhase::kReserved;
  // The finalizer comes before the first pod: a job must not be gone while its pods hold GPUs. A pinned pod
  // needs no finalizer: it is deleted with its owner, and counts on its node until then.
  if (!pinned && !job.hasReleaseFinalizer) {
    step.actions.emplace_back(AddFinalizer{});
    return step;
  }
  if (!alone && !context.feedback->auxiliariesReady) {
    step.actions.emplace_back(EnsureAuxiliaries{});
    return step;
  }
  for (const Member& member : members) {
    if (member.pod != nullptr) continue;
    CreateMember create{member.role, member.index, proposal.epoch, std::nullopt};
    if (pinned) create.pinned = member.node;
    step.actions.emplace_back(std::move(create));
  }
  return step;
}

// Finds the gang of the victim, by its pod or by its record.
const Job* gangOf(const model::Victim& victim, const GangContext& context) {
  const model::Pod* pod = findVictim(*context.pods, victim);
  if (pod == nullptr) return placeOf(victim, *context.pods, *context.jobs).gang;
  if (!pod->member) return nullptr;
  const Job* gang = context.jobs->find(model::ObjectKey{victim.pod.ns, pod->member->jobName});
  return gang != nullptr && gang->uid == pod->controllerUid ? gang : nullptr;
}

// Adds what the ledger counts for gangs whose pods are all victims, beside these pods: the places of members
// that are gone or not there yet. (Lost: their pods only. A gang that was suspended, or that restarted,
// just when it was to be preempted defeated the claim.)
void addAssignments(const Proposal& claim, const GangContext& context, LeavingCapacity& leaving) {
  std::set<const Job*> gangs;
  std::set<std::string_view> named;
  for (const model::Victim& victim : claim.victims) {
    named.insert(victim.uid.str());
    if (const Job* gang = gangOf(victim, context)) gangs.insert(gang);
  }
  std::set<model::Uid> whole;
  for (const Job* gang : gangs) {
    const JobPods& pods = context.ledger->pods().of(*gang);
    const bool leavesWhole = std::all_of(pods.begin(), pods.end(), [&](const auto& pod) {
      return pod->finished() || named.contains(pod->uid.str());
    });
    if (leavesWhole) whole.insert(gang->uid);
  }
  if (whole.empty()) return;
  std::set<NodeName> nodes;
  for (const model::Assignment& each : claim.add) nodes.insert(each.node);
  for (const NodeName& node : nodes) {
    const auto at = context.ledger->find(node);
    if (!at) continue;
    context.ledger->forEachHolding(*at, [&](const Ledger::Holding& holding) {
      const bool isAssignment = holding.pod == nullptr && holding.job != nullptr;
      if (isAssignment && whole.contains(holding.job->uid)) leaving.assigned[node].add(holding.amount);
    });
  }
}

// The checks before a pod is evicted: the API server accepts all our pods, and only the victims are in their
// way. Returns nothing once that holds: the claim stands.
std::optional<GangStep> makeSure(const Job& job, const JobPods& pods,
                                 const std::vector<const model::Pod*>& victims, const GangContext& context) {
  std::vector<Member> members = addedMembers(job, *job.status.gang.proposal, pods);
  // A member with the name of a pod that it replaces can be created only after that pod has gone.
  for (const Member& old : removedMembers(job, *job.status.gang.proposal, pods)) {
    if (old.pod == nullptr) continue;
    std::erase_if(members, [&](const Member& m) { return m.role == old.role && m.index == old.index; });
  }
  const auto any = [&](auto holds) { return std::any_of(members.begin(), members.end(), holds); };
  if (any([](const Member& m) { return m.pod == nullptr; })) return createMissing(job, members, context);
  if (any([](const Member& m) { return m.pod->terminating; })) return GangStep{};
  // A pod with a foreign scheduling gate cannot be bound, even with free capacity: no pod is evicted for it.
  if (any([](const Member& m) { return !m.pod->otherGate.empty(); })) return GangStep{};
  LeavingCapacity leaving;
  for (const model::Pod* victim : victims) leaving.pods[victim->node].add(victim->shape.requests);
  addAssignments(*job.status.gang.proposal, context, leaving);
  const BarrierResult barrier = checkBarrier(job, members, *context.ledger, *context.jobs, leaving);
  switch (barrier.verdict) {
    case BarrierVerdict::kPass: return std::nullopt;
    case BarrierVerdict::kWait: return GangStep{};
    case BarrierVerdict::kAbort: return abort(job, {barrier.reason, barrier.lostNodes}, context);
  }
  return std::nullopt;
}

// Whether the pod leaves because its gang shrinks: it is notified and has time; its own gang deletes it.
bool leavesByItself(const model::Pod& pod, const model::SharedList<Job>& jobs) {
  if (!pod.member) return false;
  const Job* gang = jobs.find(model::ObjectKey{pod.key.ns, pod.member->jobName});
  if (gang == nullptr || gang->uid != pod.controllerUid) return false;
  const auto& proposal = gang->status.gang.proposal;
  return proposal && proposal->kind == model::ProposalKind::kShrink &&
         proposal->removes(pod.member->role, pod.member->index);
}

// Whether the pod's gang has a write under way. Its record must give the place up before its pods are
// deleted; otherwise it would still have the place after they are gone.
bool isBusy(const model::Pod& pod, const GangContext& context) {
  if (!pod.member || context.others == nullptr) return false;
  const auto feedbackAt = context.others->find({pod.key.ns, pod.member->jobName});
  return feedbackAt != context.others->end() && feedbackAt->second.busy;
}

// The first new member with a foreign scheduling gate.
const model::Pod* heldByOthers(const Job& job, const JobPods& pods) {
  for (const Member& member : addedMembers(job, *job.status.gang.proposal, pods)) {
    if (member.pod != nullptr && !member.pod->otherGate.empty()) return member.pod;
  }
  return nullptr;
}

// The step of a claim while some of its victims are left.
GangStep stepVictims(const Job& job, const JobPods& pods, const std::vector<const model::Pod*>& victims,
                     Removal& removal, const GangContext& context) {
  const Proposal& proposal = *job.status.gang.proposal;
  if (context.now >= proposal.deadline) {
    if (const model::Pod* held = heldByOthers(job, pods))
      return abort(job,
                   {fmt::format("pod {} keeps the scheduling gate {}", held->key.name, held->otherGate), {}},
                   context);
    LostNode lost{"the victims did not terminate in time", {}};
    for (const model::Pod* victim : victims) lost.nodes.push_back(victim->node);
    return abort(job, lost, context);
  }
  GangStep step;
  if (auto first = makeSure(job, pods, victims, context)) {
    step = std::move(*first);
  } else {
    for (const model::Pod* victim : victims) {
      if (!leavesByItself(*victim, *context.jobs) && !isBusy(*victim, context)) removal.remove(*victim);
    }
    step = awaitRemoval(removal);
    step.evicts = true;
  }
  if (!step.record) step.wakeAt = step.wakeAt ? std::min(*step.wakeAt, proposal.deadline) : proposal.deadline;
  return step;
}

// Whether a record is being written of a gang that a pod of this name may belong to. The cache shows the
// record as it will be, but the write may still fail.
bool isBeingWritten(const model::ObjectKey& pod, const GangContext& context) {
  if (context.others == nullptr) return false;
  for (auto dash = pod.name.find('-'); dash != std::string::npos; dash = pod.name.find('-', dash + 1)) {
    const auto feedbackAt = context.others->find({pod.ns, pod.name.substr(0, dash)});
    if (feedbackAt != context.others->end() && feedbackAt->second.writing) return true;
  }
  return false;
}

// A victim that may still have its place in the record of its gang, because a newer record may not be
// written. If the claim took that place, a queue could exceed its quota. Null if there is none.
const model::Victim* notGivenUp(const Proposal& claim, const GangContext& context) {
  for (const model::Victim& victim : claim.victims) {
    const VictimAssignment place = placeOf(victim, *context.pods, *context.jobs);
    if (place.gang != nullptr && !place.givenUp) return &victim;
    if (isBeingWritten(victim.pod, context)) return &victim;
  }
  return nullptr;
}

// The claimed capacity is free. The victims' gangs may not have written yet that they give it up.
GangStep takeClaimed(const Job& job, const GangContext& context) {
  const Proposal& proposal = *job.status.gang.proposal;
  const model::Victim* kept = notGivenUp(proposal, context);
  if (kept == nullptr) return commit(reserveClaimed(job, context.now, *context.settings));
  if (context.now >= proposal.deadline)
    return abort(job, {fmt::format("the node of pod {} was not released in time", kept->pod), {}}, context);
  GangStep step;
  step.wakeAt = proposal.deadline;
  return step;
}

GangStep stepClaiming(const Job& job, const JobPods& pods, const GangContext& context) {
  const Proposal& proposal = *job.status.gang.proposal;
  if (const std::string stop = reasonToStopBeforeRelease(job, *context.feedback); !stop.empty()) {
    return abort(job, {stop, {}}, context);
  }
  if (GangStep step = notifyStayingMembers(job, pods, context); !step.actions.empty()) return step;
  Removal removal(*context.ledger, *context.settings, context.now);
  for (const Member& member : removedMembers(job, proposal, pods)) {
    if (member.pod != nullptr) removal.remove(*member.pod);
  }
  if (const auto victims = victimsLeft(proposal, *context.pods); !victims.empty())
    return stepVictims(job, pods, victims, removal, context);
  if (removal.done()) {
    // A shrink, or a restart without a placement, adds nothing.
    return proposal.add.empty() ? commit(mergeProposal(job)) : takeClaimed(job, context);
  }
  // The proposal's own pods must go, even after the deadline.
  return awaitRemoval(removal);
}

GangStep releaseGated(const std::vector<Member>& members) {
  GangStep step;
  for (const Member& member : members) {
    if (!member.pod->gangGated) continue;
    step.actions.emplace_back(ReleaseMember{member.pod->key, member.pod->uid, member.role, member.node});
  }
  return step;
}

GangStep passBarrier(const Job& job, const std::vector<Member>& members, const GangContext& context) {
  const BarrierResult barrier = checkBarrier(job, members, *context.ledger, *context.jobs);
  switch (barrier.verdict) {
    case BarrierVerdict::kPass: return releaseGated(members);
    case BarrierVerdict::kWait: return {};
    case BarrierVerdict::kAbort: return abort(job, {barrier.reason, barrier.lostNodes}, context);
  }
  return {};
}

}  // namespace

GangStep stepProposal(const Job& job, const JobPods& pods, const GangContext& context) {
  const Proposal& proposal = *job.status.gang.proposal;
  if (proposal.phase == ProposalPhase::kAborting) return stepAborting(job, pods, context);
  if (proposal.kind == model::ProposalKind::kShrink) return stepShrink(job, pods, context);
  if (proposal.phase == ProposalPhase::kClaiming) return stepClaiming(job, pods, context);

  const std::vector<Member> members = addedMembers(job, proposal, pods);
  const auto all = [&](auto holds) { return std::all_of(members.begin(), members.end(), holds); };
  if (proposal.kind == model::ProposalKind::kGrow) {
    if (auto step = stepGrow(job, members, pods, context)) return std::move(*step);
  }
  if (all([](const Member& m) { return m.pod != nullptr && m.pod->bound(); })) {
    if (const auto refused = findRefused(members)) return abort(job, *refused, context);
    return commit(mergeProposal(job));
  }

  const bool released = std::any_of(members.begin(), members.end(),
                                    [](const Member& m) { return m.pod != nullptr && !m.pod->gangGated; });
  if (const std::string stop = reasonToStopBeforeRelease(job, *context.feedback);
      !stop.empty() && (!released || job.deleting || job.spec.run.suspend)) {
    return abort(job, {stop, {}}, context);
  }
  if (context.now >= proposal.deadline) return abort(job, missedDeadline(members), context);

  GangStep step;
  if (released) {
    std::optional<base::WallTime> wakeAt;
    if (const auto lost = findLostNode(members, context, wakeAt)) return abort(job, *lost, context);
    step = releaseGated(members);
    step.wakeAt = wakeAt;
  } else if (all([](const Member& m) { return m.pod != nullptr; })) {
    step = passBarrier(job, members, context);
  } else {
    step = createMissing(job, members, context);
  }
  if (!step.record && !step.wakeAt) step.wakeAt = proposal.deadline;
  return step;
}

}  // namespace trainyard::core
