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
#include "core/gang/lost_node.h"
#include "core/gang/owned_steps.h"
#include "core/gang/protocol_steps.h"
#include "core/lifecycle.h"
#include "model/gang_size.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::Proposal;
using model::ProposalKind;
using model::ProposalPhase;

GangStep stepAborting(const Job& job, const JobPods& pods, const GangContext& context) {
  Removal removal(*context.ledger, *context.settings, context.now);
  for (const Member& member : addedMembers(job, *job.status.gang.proposal, pods)) {
    if (member.pod != nullptr && !isLeftToOwner(job, *member.pod)) removal.remove(*member.pod);
  }
  if (removal.done()) return commit(dropProposal(job));
  GangStep step = awaitRemoval(removal);
  // The other members run on if a Grow or a Replace is aborted.
  const ProposalKind kind = job.status.gang.proposal->kind;
  if (kind == ProposalKind::kStart || kind == ProposalKind::kRestart)
    step.actions = stopOwned(job, std::move(step.actions));
  return step;
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
  // kube-scheduler passes over a pod until its device claims exist, and a part of the gang would run
  // meanwhile.
  if (std::any_of(members.begin(), members.end(),
                  [](const Member& m) { return m.pod != nullptr && m.pod->awaitsClaims; }))
    return {};
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
  if (proposal.kind == ProposalKind::kShrink) return stepShrink(job, pods, context);
  if (proposal.phase == ProposalPhase::kClaiming) return stepClaiming(job, pods, context);
  if (job.owner != nullptr) return stepOwnedReserved(job, pods, context);

  const std::vector<Member> members = addedMembers(job, proposal, pods);
  const auto all = [&](auto holds) { return std::all_of(members.begin(), members.end(), holds); };
  if (proposal.kind == ProposalKind::kGrow) {
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
