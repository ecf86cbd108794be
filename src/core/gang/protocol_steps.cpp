#include "core/gang/protocol_steps.h"

#include <utility>

#include <fmt/format.h>

#include "core/gang/gang_proposals.h"
#include "core/gang/gang_resize.h"
#include "model/gang_size.h"
#include "model/names.h"

namespace trainyard::core {

using model::GangRecord;
using model::Job;
using model::Proposal;
using model::ProposalPhase;

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

GangStep abortAttempt(const Job& job, const LostNode& lost, const GangContext& context) {
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

GangStep createMissing(const Job& job, const std::vector<Member>& members, const GangContext& context) {
  const Proposal& proposal = *job.status.gang.proposal;
  GangStep step;
  const bool alone = model::isSinglePod(job);
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

}  // namespace trainyard::core
