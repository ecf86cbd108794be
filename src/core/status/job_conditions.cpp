#include "core/status/job_conditions.h"

#include <fmt/format.h>

#include "model/message_text.h"

namespace trainyard::core {
namespace {

using model::JobStatus;
using model::PodPhase;
namespace conditions = model::conditions;

constexpr std::string_view kPreempted = "Preempted";
constexpr std::string_view kMoved = "Moved";
constexpr std::string_view kMemberFailed = "MemberFailed";
constexpr std::string_view kStalled = "Stalled";
constexpr std::string_view kSilent = "Silent";

// Returns what keeps a container from starting; empty for reasons that every starting container shows. For an
// image the kubelet alternates between ErrImagePull and ImagePullBackOff: both map to one reason, or each
// retry would be a write.
std::string_view obstacle(const model::Pod& pod) {
  if (pod.phase != PodPhase::kPending || pod.waitingReason.empty()) return {};
  if (pod.waitingReason == "ContainerCreating" || pod.waitingReason == "PodInitializing") return {};
  return pod.waitingReason == "ErrImagePull" ? "ImagePullBackOff" : std::string_view(pod.waitingReason);
}

// "; pod bert-worker-1 on node n3 waits: ErrImageNeverPull": the first pod that does not start.
std::string describeObstacle(const std::vector<Member>& members) {
  for (const Member& member : members) {
    if (member.pod == nullptr || obstacle(*member.pod).empty()) continue;
    return fmt::format("; pod {} on node {} waits: {}", member.pod->key.name, member.node,
                       obstacle(*member.pod));
  }
  return {};
}

// "; pod bert-worker-1 has the scheduling gate example.com/hold": the first pod with a foreign gate.
std::string describeGate(const std::vector<Member>& members) {
  for (const Member& member : members) {
    if (member.pod == nullptr || member.pod->otherGate.empty()) continue;
    return fmt::format("; pod {} has the scheduling gate {}", member.pod->key.name, member.pod->otherGate);
  }
  return {};
}

// A job that does not run cannot be silent.
void describeLife(ConditionWriter& write, const LifeSign* life, bool runs) {
  if (!runs) return write.clear(conditions::kStalled, "NotRunning", "the gang does not run");
  if (life == nullptr) return;
  if (!life->silentSince) return write.clear(conditions::kStalled, "Alive", "it reports or logs again");
  write.set(
      conditions::kStalled, true, kSilent,
      fmt::format("no progress report and no new log line since {}", base::formatTime(*life->silentSince)));
}

bool refusedForGood(const StatusUpdate& update) {
  return !update.admitted && update.pending &&
         model::traitsOf(update.pending->reason).kind == model::ReasonKind::kInvalid;
}

std::string_view readyText(std::string_view phase) {
  if (phase == "Running") return "all members run";
  if (phase == "Succeeded") return "the job has succeeded";
  if (phase == "Suspended") return "spec.run.suspend is true";
  return {};
}

}  // namespace

bool isRestarting(const model::GangRecord& gang) {
  if (!gang.proposal || gang.proposal->movesFor) return false;
  return gang.proposal->kind == model::ProposalKind::kRestart ||
         gang.proposal->kind == model::ProposalKind::kReplace;
}

std::string describeStuck(const std::vector<Member>& members, base::WallTime now) {
  for (const Member& member : members) {
    const model::Pod* pod = member.pod;
    if (pod == nullptr || !pod->deletionTime || now < *pod->deletionTime) continue;
    return fmt::format("; pod {} on node {} does not terminate", pod->key.name, member.node);
  }
  return {};
}

void describeWaiting(ConditionWriter& write, const StatusUpdate& update) {
  if (update.pending) {
    const std::string_view reason = model::toString(update.pending->reason);
    write.set(conditions::kQueued, update.admitted, update.admitted ? reason : "NotAdmitted",
              update.pending->message);
    write.set(conditions::kScheduled, false, reason, update.pending->message);
  }
}

void describeEnd(ConditionWriter& write, const Verdict& verdict) {
  const bool success = verdict.outcome == Outcome::kSucceeded;
  write.set(success ? conditions::kSucceeded : conditions::kFailed, true, verdict.reason, verdict.message);
  write.set(conditions::kFinished, true, success ? "Succeeded" : "Failed", verdict.message);
  write.clear(conditions::kQueued, "Finished", "the job has ended");
  write.clear(conditions::kRunning, "Finished", "the job has ended");
}

void describePlaced(ConditionWriter& write, const StatusUpdate& update, const MemberTally& tally,
                    const std::vector<Member>& members) {
  write.set(conditions::kQueued, false, "Placed", "the gang is placed");
  write.set(conditions::kScheduled, true, "GangPlaced",
            fmt::format("{} of {} pods on {}", tally.bound, tally.gang, update.where));
  const bool up = tally.running + tally.succeeded == tally.gang;
  write.set(conditions::kRunning, up, up ? "AllMembersRunning" : "MembersStarting",
            fmt::format("{} of {} pods run{}", tally.running + tally.succeeded, tally.gang,
                        describeObstacle(members)));
}

void describeStarting(ConditionWriter& write, const model::Proposal& proposal, const StatusUpdate& update,
                      const std::vector<Member>& members) {
  if (proposal.phase == model::ProposalPhase::kAborting) {
    write.set(conditions::kScheduled, false, "Aborting", proposal.abortReason);
    return;
  }
  write.set(conditions::kQueued, false, "Reserved", "nodes are reserved for the whole gang");
  write.set(conditions::kScheduled, false, "Starting",
            fmt::format("starts on {}{}", update.where, describeGate(members)));
}

void describeRestarting(ConditionWriter& write, const model::Proposal& proposal, const StatusUpdate& update,
                        const std::string& stuck, const std::optional<Resize>& resize, bool pauses) {
  const bool aborting = proposal.phase == model::ProposalPhase::kAborting;
  if (update.preemptedBy) {
    const bool moves = !proposal.add.empty();
    const std::string_view reason = moves ? kMoved : kPreempted;
    std::string text = moves
                           ? fmt::format("is moved for {}; restarts on {}", *update.preemptedBy, update.where)
                           : fmt::format("is preempted for {}; waits again", *update.preemptedBy);
    write.set(conditions::kRestarting, true, reason, text);
    write.set(conditions::kRunning, false, reason, text);
    return write.set(conditions::kScheduled, false, reason, std::move(text));
  }
  // Restarting keeps the reason that was set when the preemption or the move began.
  if (proposal.add.empty() && write.holdsFor(conditions::kRestarting, kPreempted)) return;
  if (!proposal.add.empty() && !aborting && write.holdsFor(conditions::kRestarting, kMoved)) return;
  const bool stalled = (update.failure && update.failure->failure == model::FailureClass::kStalled) ||
                       write.holdsFor(conditions::kRestarting, kStalled);
  const bool failed =
      stalled || update.membersFailed || write.holdsFor(conditions::kRestarting, kMemberFailed);
  std::string text = aborting                ? proposal.abortReason
                     : resize                ? fmt::format("restarts with {} of role {} on {}",
                                                           model::counted(resize->to, "member"), resize->role, update.where)
                     : !proposal.add.empty() ? fmt::format("restarts on {}", update.where)
                     : failed || pauses      ? "its pods end; then it waits for its next start"
                                             : "the gang does not fit now; it waits again";
  text += stuck;
  const std::string_view reason = stalled  ? kStalled
                                  : failed ? kMemberFailed
                                  : resize ? std::string_view("Resizing")
                                           : "MemberLost";
  write.set(conditions::kRestarting, true, reason, text);
  write.set(conditions::kRunning, false, "Restarting", text);
  write.set(conditions::kScheduled, false, "Restarting", std::move(text));
}

// Ready, for clients that judge objects by kstatus (Flux, `helm --wait`) or wait for Ready. It follows from
// the rest of this status, so it causes no write of its own. A running job is ready: users want to see
// whether what they applied works, and not to wait for weeks; `Finished` shows the end. A suspended job needs
// no action. A failed job, or one refused for a reason that only its author can fix, makes no progress any
// more.
void describeReady(ConditionWriter& write, const JobStatus& status, const StatusUpdate& update, bool runs) {
  // A suspended job can be refused for good, too.
  const std::string_view ready = refusedForGood(update) ? std::string_view() : readyText(status.phase);
  write.set(conditions::kReady, !ready.empty(), status.phase, std::string(ready));
  if (status.phase == "Failed") {
    write.set(conditions::kStalled, true, "Failed", "the job has failed");
  } else if (refusedForGood(update)) {
    write.set(conditions::kStalled, true, model::toString(update.pending->reason),
              "the spec must be corrected");
  } else {
    if (write.holds(conditions::kStalled) && !write.holdsFor(conditions::kStalled, kSilent))
      write.clear(conditions::kStalled, "Mended", "the spec is valid");
    describeLife(write, update.life, runs);
  }
}

}  // namespace trainyard::core
