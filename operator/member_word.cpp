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
          default: return partDone(step, false);
        }
      }));
}

// Its kubelet has told something of it meanwhile, which the watch may not show yet.
void PlanExecutor::tellMemberAgain(const StepPtr& step, const core::TellMember& action, int conflicts) {
  if (conflicts > kMostConflicts) return partDone(step, false);
  deps_.api.get(kube::kPods.object(action.pod.ns, action.pod.name),
                guarded([this, step, action, conflicts](const Answer& answer) {
                  if (answer) {
                    deps_.cache.pods.applyWrite(answer->body);
                    return tellMember(step, action, conflicts);
                  }
                  const bool gone = answer.error().code == ErrorCode::kNotFound;
                  if (gone) deps_.cache.pods.forget(action.pod, action.uid.str());
                  partDone(step, gone);
                }));
}

}  // namespace trainyard::operator_
