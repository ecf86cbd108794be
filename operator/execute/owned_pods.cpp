#include "operator/execute/owned_pods.h"

#include "codec/release_patch.h"
#include "codec/suspend_patch.h"
#include "model/owner_kinds.h"

namespace trainyard::operator_ {

using base::ErrorCode;

void OwnedPods::givePlace(const StepPtr& step, const core::GivePlace& action) {
  // As in a release: the patch replaces the list of terms.
  const auto pod = deps_.cache.pods.find(action.pod);
  if (!pod || pod->uid != action.uid) return steps_.partDone(step, true);
  const model::Job& gang = *step->decision.job;
  const codec::MemberPlace place{.gang = gang.key,
                                 .gangUid = gang.uid,
                                 .role = action.role,
                                 .index = action.index,
                                 .epoch = action.epoch,
                                 .node = action.node};
  deps_.metrics.countWrite("pods");
  deps_.api.patch(kube::PatchType::kStrategicMerge, kube::kPods.object(action.pod.ns, action.pod.name),
                  codec::encodePlacePatch(action.uid, pod->shape, place),
                  steps_.guarded([this, step, action](const Answer& answer) {
                    if (answer) {
                      deps_.cache.pods.applyWrite(answer->body);
                      return steps_.partDone(step, true);
                    }
                    if (answer.error().code == ErrorCode::kNotFound)
                      deps_.cache.pods.forget(action.pod, action.uid.str());
                    steps_.partDone(step, false);
                  }));
}

void OwnedPods::suspend(const StepPtr& step, const core::SuspendOwner& action) {
  const model::Job& gang = *step->decision.job;
  const model::OwnerKind* kind =
      model::findOwnerKind(model::groupOf(gang.owner->apiVersion), gang.owner->kind);
  if (kind == nullptr || kind->suspendIn.empty()) return steps_.partDone(step, true);
  deps_.metrics.countWrite(std::string(kind->plural));
  const kube::ResourceType type{kind->group, kind->version, kind->plural};
  deps_.api.patch(kube::PatchType::kMerge, type.object(gang.key.ns, gang.owner->name),
                  codec::encodeSuspendPatch(gang.owner->uid, kind->suspendIn, action.suspend),
                  steps_.guarded([this, step, kind, starts = !action.suspend](const Answer& answer) {
                    const model::Job& job = *step->decision.job;
                    if (answer && starts && job.status.gang.proposal)
                      steps_.open(job).startedEpoch = job.status.gang.proposal->epoch;
                    if (answer && deps_.ownerWritten) deps_.ownerWritten(*kind, answer->body);
                    // An owner that is gone, or was created again under its name, has nothing to suspend.
                    const bool gone = !answer && (answer.error().code == ErrorCode::kNotFound ||
                                                  answer.error().code == ErrorCode::kConflict);
                    steps_.partDone(step, answer.has_value() || gone);
                  }));
}

}  // namespace trainyard::operator_
