#include "core/gang/gang_protocol.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/gang/barrier.h"
#include "core/gang/claim_step.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/gang_removal.h"
#include "core/gang/gang_resize.h"
#include "core/gang/protocol_steps.h"
#include "core/lifecycle.h"
#include "model/gang_size.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::NodeName;
using model::Proposal;
using model::ProposalPhase;

// kube-scheduler's message names what a pod that is pinned to one node lacks there. All that the extender
// refuses is for capacity (core/guard/refusal_texts.h).
bool isForCapacity(const std::string& unschedulable) {
  constexpr std::array kTexts{"Insufficient ", "Too many pods", "trainyard: "};
  return std::any_of(kTexts.begin(), kTexts.end(),
                     [&](const char* each) { return unschedulable.find(each) != std::string::npos; });
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
    if (!node.takesPods()) {
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

GangStep stepAborting(const Job& job, const JobPods& pods, const GangContext& context) {
  Removal removal(*context.ledger, *context.settings, context.now);
  for (const Member& member : addedMembers(job, *job.status.gang.proposal, pods)) {
    if (member.pod != nullptr) removal.remove(*member.pod);
  }
  if (removal.done()) return commit(dropProposal(job));
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
    case BarrierVerdict::kAbort: return abortAttempt(job, {barrier.reason, barrier.lostNodes}, context);
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
    if (const auto refused = findRefused(members)) return abortAttempt(job, *refused, context);
    return commit(mergeProposal(job));
  }

  const bool released = std::any_of(members.begin(), members.end(),
                                    [](const Member& m) { return m.pod != nullptr && !m.pod->gangGated; });
  if (const std::string stop = reasonToStopBeforeRelease(job, *context.feedback);
      !stop.empty() && (!released || job.deleting || job.spec.run.suspend)) {
    return abortAttempt(job, {stop, {}}, context);
  }
  if (context.now >= proposal.deadline) return abortAttempt(job, missedDeadline(members), context);

  GangStep step;
  if (released) {
    std::optional<base::WallTime> wakeAt;
    if (const auto lost = findLostNode(members, context, wakeAt)) return abortAttempt(job, *lost, context);
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
