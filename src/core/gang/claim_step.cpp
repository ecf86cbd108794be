#include "core/gang/claim_step.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/gang/barrier.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/gang_resize.h"
#include "core/gang/owned_steps.h"
#include "core/gang/protocol_steps.h"
#include "core/gang/victim_assignment.h"
#include "model/member_of.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::NodeName;
using model::Proposal;

std::vector<const model::Pod*> victimsLeft(const Proposal& proposal,
                                           const model::SharedList<model::Pod>& pods) {
  std::vector<const model::Pod*> left;
  for (const model::Victim& victim : proposal.victims) {
    const model::Pod* pod = findVictim(pods, victim);
    if (pod != nullptr && !pod->finished()) left.push_back(pod);
  }
  return left;
}

// Finds the gang of the victim, by its pod or by its record.
const Job* gangOf(const model::Victim& victim, const GangContext& context) {
  const model::Pod* pod = findVictim(*context.pods, victim);
  if (pod == nullptr) return placeOf(victim, *context.pods, *context.jobs).gang;
  if (!pod->member) return nullptr;
  const Job* gang = context.jobs->find(model::ObjectKey{victim.pod.ns, pod->member->jobName});
  return gang != nullptr && gang->uid == model::gangUidOf(*pod) ? gang : nullptr;
}

// Adds what the ledger counts for gangs whose pods are all victims, beside these pods: the places of members
// that are gone or not there yet. (Rejected: their pods only. A gang that was suspended, or that restarted,
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

// Whether the nodes will be open to these members once the victims are gone.
std::optional<GangStep> checkNodes(const Job& job, const std::vector<Member>& members,
                                   const std::vector<const model::Pod*>& victims,
                                   const GangContext& context) {
  LeavingCapacity leaving;
  for (const model::Pod* victim : victims) leaving.pods[victim->node].add(victim->shape.requests);
  addAssignments(*job.status.gang.proposal, context, leaving);
  const BarrierResult barrier = checkBarrier(job, members, *context.ledger, *context.jobs, leaving);
  switch (barrier.verdict) {
    case BarrierVerdict::kPass: return std::nullopt;
    case BarrierVerdict::kWait: return GangStep{};
    case BarrierVerdict::kAbort: return abortAttempt(job, {barrier.reason, barrier.lostNodes}, context);
  }
  return std::nullopt;
}

// The pods of a Gang that have arrived are checked as they were created. An owner that can be suspended makes
// none before its start; its templates stand for them.
std::optional<GangStep> checkOwnedBeforeEviction(const Job& job, std::vector<Member> members,
                                                 const std::vector<const model::Pod*>& victims,
                                                 const GangContext& context) {
  for (const Member& arrived : matchArrivals(job, members, context.ledger->pods())) {
    const auto at = std::find_if(members.begin(), members.end(), [&](const Member& m) {
      return m.role == arrived.role && m.index == arrived.index;
    });
    at->pod = arrived.pod;
  }
  return checkNodes(job, members, victims, context);
}

// The checks before a pod is evicted: the API server accepts all our pods, and only the victims are in their
// way. Returns nothing once that holds: the claim stands.
std::optional<GangStep> checkBeforeEviction(const Job& job, const JobPods& pods,
                                            const std::vector<const model::Pod*>& victims,
                                            const GangContext& context) {
  std::vector<Member> members = addedMembers(job, *job.status.gang.proposal, pods);
  if (job.owner != nullptr) return checkOwnedBeforeEviction(job, std::move(members), victims, context);
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
  return checkNodes(job, members, victims, context);
}

// Whether the pod's own gang ends it: it shrinks, so the pod is notified and has time; or its owner will be
// suspended.
bool leavesByItself(const model::Pod& pod, const model::SharedList<Job>& jobs) {
  if (!pod.member) return false;
  const Job* gang = jobs.find(model::ObjectKey{pod.key.ns, pod.member->jobName});
  if (gang == nullptr || gang->uid != model::gangUidOf(pod)) return false;
  if (gang->owner != nullptr && gang->owner->suspends && gang->status.gang.placed) return true;
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
      return abortAttempt(
          job, {fmt::format("pod {} keeps the scheduling gate {}", held->key.name, held->otherGate), {}},
          context);
    LostNode lost{"the victims did not terminate in time", {}};
    for (const model::Pod* victim : victims) lost.nodes.push_back(victim->node);
    return abortAttempt(job, lost, context);
  }
  GangStep step;
  if (auto first = checkBeforeEviction(job, pods, victims, context)) {
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
bool isBeingWritten(const model::Victim& victim, const GangContext& context) {
  if (context.others == nullptr) return false;
  const auto isWritten = [&](const std::string& gang) {
    const auto feedbackAt = context.others->find({victim.pod.ns, gang});
    return feedbackAt != context.others->end() && feedbackAt->second.writing;
  };
  if (victim.place) return isWritten(victim.place->gang);
  const std::string& name = victim.pod.name;
  for (auto dash = name.find('-'); dash != std::string::npos; dash = name.find('-', dash + 1)) {
    if (isWritten(name.substr(0, dash))) return true;
  }
  return false;
}

// A victim that may still have its place in the record of its gang, because a newer record may not be
// written. If the claim took that place, a queue could exceed its quota. Null if there is none.
const model::Victim* notGivenUp(const Proposal& claim, const GangContext& context) {
  for (const model::Victim& victim : claim.victims) {
    const VictimAssignment place = placeOf(victim, *context.pods, *context.jobs);
    if (place.gang != nullptr && !place.givenUp) return &victim;
    if (isBeingWritten(victim, context)) return &victim;
  }
  return nullptr;
}

// The claimed capacity is free. The victims' gangs may not have written yet that they give it up.
GangStep takeClaimed(const Job& job, const GangContext& context) {
  const Proposal& proposal = *job.status.gang.proposal;
  const model::Victim* kept = notGivenUp(proposal, context);
  if (kept == nullptr) return commit(reserveClaimed(job, context.now, *context.settings));
  if (context.now >= proposal.deadline)
    return abortAttempt(job, {fmt::format("the node of pod {} was not released in time", kept->pod), {}},
                        context);
  GangStep step;
  step.wakeAt = proposal.deadline;
  return step;
}

}  // namespace

GangStep stepClaiming(const Job& job, const JobPods& pods, const GangContext& context) {
  const Proposal& proposal = *job.status.gang.proposal;
  if (const std::string stop = reasonToStopBeforeRelease(job, *context.feedback); !stop.empty()) {
    return abortAttempt(job, {stop, {}}, context);
  }
  if (GangStep step = notifyStayingMembers(job, pods, context); !step.actions.empty()) return step;
  Removal removal(*context.ledger, *context.settings, context.now);
  for (const Member& member : removedMembers(job, proposal, pods)) {
    if (member.pod != nullptr && !isLeftToOwner(job, *member.pod)) removal.remove(*member.pod);
  }
  if (const auto victims = victimsLeft(proposal, *context.pods); !victims.empty())
    return stepVictims(job, pods, victims, removal, context);
  if (removal.done()) {
    // A shrink, or a restart without a placement, adds nothing.
    return proposal.add.empty() ? commit(mergeProposal(job)) : takeClaimed(job, context);
  }
  // The proposal's own pods must go, even after the deadline.
  GangStep step = awaitRemoval(removal);
  if (proposal.kind == model::ProposalKind::kRestart) step.actions = stopOwned(job, std::move(step.actions));
  return step;
}

}  // namespace trainyard::core
