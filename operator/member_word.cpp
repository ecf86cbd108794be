#include "codec/membership.h"
#include "codec/pod.h"
#include "model/membership.h"
#include "operator/plan_executor.h"
#include "operator/plan_step.h"

// What members that run are told of their job's size.
namespace trainyard::operator_ {

using base::ErrorCode;

void PlanExecutor::run(const StepPtr& step, const core::TellMember& action) {
  const model::Job& job = *step->decision.job;
  if (!job.status.gang.proposal || !model::readsMembership(job.spec)) return partDone(step, true);
  step->tellsEpoch = job.status.gang.proposal->epoch;
  tellMember(step, action, 0);
}

// One that is gone, or another pod by now, needs no telling. What is forbidden stays so: the resize goes on,
// and whoever should have left is deleted when its time is over.
void PlanExecutor::tellMember(const StepPtr& step, const core::TellMember& action, int conflicts) {
  const auto pod = deps_.cache.pods.find(action.pod);
  if (!pod || pod->uid != action.uid || pod->finished()) return partDone(step, true);
  const auto membership = model::membershipOf(*step->decision.job);
  deps_.metrics.countWrite("pods");
  deps_.api.patch(
      kube::PatchType::kMerge, kube::kPods.object(action.pod.ns, action.pod.name),
      codec::encodeMembershipPatch(action.uid, pod->resourceVersion, *membership),
      guarded([this, step, action, conflicts](const Answer& answer) {
        if (answer) {
          deps_.cache.pods.applyWrite(answer->body);
          return partDone(step, true);
        }
        switch (answer.error().code) {
          case ErrorCode::kConflict: return tellMemberAgain(step, action, conflicts + 1);
          case ErrorCode::kNotFound:
            deps_.cache.pods.forget(action.pod, action.uid.str());
            return partDone(step, true);
          case ErrorCode::kInvalid:
          case ErrorCode::kForbidden:
            deps_.log.warning(
                "a member could not be told of its job's size",
                {{"namespace", action.pod.ns}, {"pod", action.pod.name}, {"error", answer.error().message}});
            return partDone(step, true);
          default: return wordFailed(step, action, answer.error());
        }
      }));
}

// It is repeated as long as the resize has time. Who cannot be told by then, as somebody made the pod too
// large to be written or edits it all the time, must not hold those who wait for the places. What did not
// reach the server says nothing of the pod.
void PlanExecutor::wordFailed(const StepPtr& step, const core::TellMember& action, const base::Error& error) {
  const bool reached = error.code != ErrorCode::kUnavailable && error.code != ErrorCode::kThrottled &&
                       error.code != ErrorCode::kUnauthorized && error.code != ErrorCode::kCancelled;
  const bool timeIsOver = deps_.executor.wallNow() >= step->decision.job->status.gang.proposal->deadline;
  if (!reached || !timeIsOver) return partDone(step, false);
  deps_.log.warning("a member could not be told of its job's size in time",
                    {{"namespace", action.pod.ns}, {"pod", action.pod.name}, {"error", error.message}});
  partDone(step, true);
}

// Its kubelet has told something of it meanwhile, which the watch may not show yet.
void PlanExecutor::tellMemberAgain(const StepPtr& step, const core::TellMember& action, int conflicts) {
  if (conflicts > kMostConflicts)
    return wordFailed(step, action, {ErrorCode::kConflict, "it changes all the time"});
  deps_.api.get(kube::kPods.object(action.pod.ns, action.pod.name),
                guarded([this, step, action, conflicts](const Answer& answer) {
                  if (answer) {
                    deps_.cache.pods.applyWrite(answer->body);
                    return tellMember(step, action, conflicts);
                  }
                  if (answer.error().code != ErrorCode::kNotFound)
                    return wordFailed(step, action, answer.error());
                  deps_.cache.pods.forget(action.pod, action.uid.str());
                  partDone(step, true);
                }));
}

}  // namespace trainyard::operator_
