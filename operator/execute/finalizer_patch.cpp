#include "operator/execute/finalizer_patch.h"

#include "codec/finalizers.h"
#include "codec/object_meta.h"
#include "kube/job_path.h"

namespace trainyard::operator_ {

using base::ErrorCode;

void FinalizerPatch::run(const StepPtr& step, bool present) {
  const model::Job& job = *step->decision.job;
  // A status write of this step may have changed the resourceVersion.
  const auto newest = deps_.cache.jobs.find(job.key);
  if (!newest || newest->uid != job.uid) return steps_.partDone(step, true);
  step->path = kube::jobPath(job);
  deps_.metrics.countWrite("trainingjobs");
  deps_.api.patch(kube::PatchType::kMerge, step->path, codec::encodeFinalizerPatch(*newest, present),
                  steps_.guarded([this, step, present, from = newest->resourceVersion](const Answer& answer) {
                    const model::Job& owner = *step->decision.job;
                    if (answer) {
                      // Removing the last finalizer deletes the object.
                      const auto meta = codec::decodeObjectMeta(answer->body);
                      if (!present && meta && !meta->hasFinalizers)
                        deps_.cache.jobs.forgetForGood(owner.key, owner.uid.str());
                      else
                        deps_.cache.jobs.applyWrite(answer->body);
                      return steps_.partDone(step, true);
                    }
                    const bool conflict = answer.error().code == ErrorCode::kConflict;
                    if (conflict && ++step->conflicts <= kMaxConflicts) return reread(step, present, from);
                    const bool gone = answer.error().code == ErrorCode::kNotFound;
                    if (gone) deps_.cache.jobs.forget(owner.key, owner.uid.str());
                    steps_.partDone(step, gone);
                  }));
}

void FinalizerPatch::reread(const StepPtr& step, bool present, const std::string& patchedFrom) {
  deps_.api.get(step->path, steps_.guarded([this, step, present, patchedFrom](const Answer& answer) {
    if (!answer) return steps_.partDone(step, false);
    deps_.cache.jobs.applyWrite(answer->body);
    const auto now = deps_.cache.jobs.find(step->decision.job->key);
    // The object cannot be decoded here, so the same patch would fail again.
    if (now && now->resourceVersion == patchedFrom) return steps_.partDone(step, false);
    run(step, present);
  }));
}

}  // namespace trainyard::operator_
