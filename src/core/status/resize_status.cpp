#include "core/status/resize_status.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/gang.h"
#include "core/resize.h"
#include "model/conditions.h"
#include "model/message_text.h"
#include "model/set_condition.h"

namespace trainyard::core {
namespace {

using model::ProposalPhase;
using model::ResizeStep;

// Members of a restarting gang first save their state and then restore it.
ResizeStep stepOf(const Resize& resize, const model::Proposal& proposal) {
  if (resize.byRestart)
    return proposal.phase == ProposalPhase::kClaiming ? ResizeStep::kCheckpointing : ResizeStep::kRestoring;
  return resize.to < resize.from ? ResizeStep::kDraining : ResizeStep::kResizing;
}

std::string describeUnderWay(const Resize& resize, const model::Proposal& proposal) {
  const std::string what = describeResize(resize);
  if (resize.byRestart) {
    return proposal.phase == ProposalPhase::kClaiming ? what + "; its pods save and end, then it restarts"
                                                      : what + "; it restarts";
  }
  if (resize.to < resize.from) {
    return fmt::format("{}; the removed members have until {} to end", what,
                       base::formatTime(proposal.deadline));
  }
  return proposal.phase == ProposalPhase::kReleasing
             ? what + "; all new members are bound, and all members are notified"
             : what + "; the other members keep running until all new ones are bound";
}

// Returns since when the condition is true; nullopt if it is not.
std::optional<base::WallTime> resizingSince(const model::Job& job) {
  const model::Condition* reported = job.condition(model::conditions::kResizing);
  if (reported == nullptr || reported->status != model::ConditionStatus::kTrue) return std::nullopt;
  return reported->lastTransition;
}

void countResize(const model::Job& job, const Resize& resize, base::WallTime now,
                 model::ResizeStatus& reported) {
  ++reported.count;
  const auto since = resizingSince(job);
  if (!resize.byRestart || !since) return;
  const auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(now - *since);
  reported.lastPauseMillis.insert(reported.lastPauseMillis.begin(), std::max<std::int64_t>(pause.count(), 0));
  if (reported.lastPauseMillis.size() > kMaxPauses) reported.lastPauseMillis.resize(kMaxPauses);
}

}  // namespace

void setResizeStatus(const model::Job& job, const std::string& held, base::WallTime now,
                     model::JobStatus& status) {
  const bool known = job.condition(model::conditions::kResizing) != nullptr;
  const bool grows = job.owner != nullptr && !held.empty();
  if (!job.spec.elastic && !known && !grows) return;
  const auto setResizing = [&](bool holds, std::string_view reason, std::string message) {
    model::setCondition(status.conditions, model::conditions::kResizing,
                        holds ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse, reason,
                        std::move(message), now, job.generation);
  };
  const auto before = resizeUnderWay(job.spec, job.status.gang);
  const auto resize = resizeUnderWay(job.spec, status.gang);
  status.resize.step = ResizeStep::kNone;
  status.resize.deadline.reset();
  if (resize && status.gang.proposal->phase == ProposalPhase::kAborting)
    return setResizing(
        false, "ResizeFailed",
        fmt::format("{}: aborted: {}", describeResize(*resize), status.gang.proposal->abortReason));
  if (resize) {
    const model::Proposal& proposal = *status.gang.proposal;
    status.resize.step = stepOf(*resize, proposal);
    status.resize.deadline = proposal.deadline;
    const std::string_view reason = resize->byRestart           ? "StartsAnew"
                                    : resize->to > resize->from ? "Growing"
                                                                : "Shrinking";
    return setResizing(true, reason, describeUnderWay(*resize, proposal));
  }
  const bool aborted = before && job.status.gang.proposal->phase == ProposalPhase::kAborting;
  if (before && !aborted && status.gang.placed) {
    countResize(job, *before, now, status.resize);
    return setResizing(false, "Resized",
                       fmt::format("it has {} of role {}, {} before", model::counted(before->to, "member"),
                                   before->role, before->from));
  }
  if (!held.empty()) return setResizing(false, "Waiting", held);
  // A failed resize stays visible until the next attempt.
  if (!known || (status.gang.backoff && status.gang.placed)) return;
  const model::Condition* reported = job.condition(model::conditions::kResizing);
  if (reported->status == model::ConditionStatus::kTrue || reported->reason == "Waiting" ||
      reported->reason == "ResizeFailed")
    setResizing(false, "Settled", "no resize is in progress");
}

}  // namespace trainyard::core
