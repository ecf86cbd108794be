#include "operator/execute/member_notices.h"

#include "codec/membership.h"
#include "codec/pod.h"
#include "model/membership.h"

namespace trainyard::operator_ {

using base::ErrorCode;

void MemberNotices::run(const StepPtr& step, const core::NotifyMember& action) {
  const model::Job& job = *step->decision.job;
  if (!job.status.gang.proposal || !model::readsMembership(job.spec)) return steps_.partDone(step, true);
  step->notifiesEpoch = job.status.gang.proposal->epoch;
  send(step, action, 0);
}

// Does nothing for a pod that is gone or was replaced. A forbidden write is not repeated: the resize goes on,
// and members that should have left are deleted when their time is over.
void MemberNotices::send(const StepPtr& step, const core::NotifyMember& action, int conflicts) {
  const auto pod = deps_.cache.pods.find(action.pod);
  if (!pod || pod->uid != action.uid || pod->finished()) return steps_.partDone(step, true);
  const auto membership = model::membershipOf(*step->decision.job);
  deps_.metrics.countWrite("pods");
  deps_.api.patch(
      kube::PatchType::kMerge, kube::kPods.object(action.pod.ns, action.pod.name),
      codec::encodeMembershipPatch(action.uid, pod->resourceVersion, *membership),
      steps_.guarded([this, step, action, conflicts](const Answer& answer) {
        if (answer) {
          deps_.cache.pods.applyWrite(answer->body);
          return steps_.partDone(step, true);
        }
        switch (answer.error().code) {
          case ErrorCode::kConflict: return retry(step, action, conflicts + 1);
          case ErrorCode::kNotFound:
            deps_.cache.pods.forget(action.pod, action.uid.str());
            return steps_.partDone(step, true);
          case ErrorCode::kInvalid:
          case ErrorCode::kForbidden:
            deps_.log.warning(
                "a member could not be notified of its job's size",
                {{"namespace", action.pod.ns}, {"pod", action.pod.name}, {"error", answer.error().message}});
            return steps_.partDone(step, true);
          default: return failed(step, action, answer.error());
        }
      }));
}

// Repeats the write until the deadline of the resize. A user may have made a pod too large or edit it all the
// time: such a member must not block jobs that wait for the capacity. An error that did not come from the
// server shows nothing about the pod.
void MemberNotices::failed(const StepPtr& step, const core::NotifyMember& action, const base::Error& error) {
  const bool reached = error.code != ErrorCode::kUnavailable && error.code != ErrorCode::kThrottled &&
                       error.code != ErrorCode::kUnauthorized && error.code != ErrorCode::kCancelled;
  const bool timeIsOver = deps_.executor.wallNow() >= step->decision.job->status.gang.proposal->deadline;
  if (!reached || !timeIsOver) return steps_.partDone(step, false);
  deps_.log.warning("a member could not be notified of its job's size in time",
                    {{"namespace", action.pod.ns}, {"pod", action.pod.name}, {"error", error.message}});
  steps_.partDone(step, true);
}

// The kubelet has updated the pod meanwhile, which the watch may not show yet.
void MemberNotices::retry(const StepPtr& step, const core::NotifyMember& action, int conflicts) {
  if (conflicts > kMaxConflicts) return failed(step, action, {ErrorCode::kConflict, "it changes constantly"});
  deps_.api.get(kube::kPods.object(action.pod.ns, action.pod.name),
                steps_.guarded([this, step, action, conflicts](const Answer& answer) {
                  if (answer) {
                    deps_.cache.pods.applyWrite(answer->body);
                    return send(step, action, conflicts);
                  }
                  if (answer.error().code != ErrorCode::kNotFound)
                    return failed(step, action, answer.error());
                  deps_.cache.pods.forget(action.pod, action.uid.str());
                  steps_.partDone(step, true);
                }));
}

}  // namespace trainyard::operator_
