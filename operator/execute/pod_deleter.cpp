#include "operator/execute/pod_deleter.h"

#include <chrono>

#include "codec/eviction.h"
#include "codec/object_meta.h"
#include "codec/status.h"
#include "codec/stripping.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;

// Sent deletes are remembered for as long as a watch may lag.
constexpr base::Instant::duration kMemory = std::chrono::seconds(10);
// How long a disruption budget may keep a pod that has to leave.
constexpr base::Instant::duration kBudgetPatience = std::chrono::minutes(1);
// Refusals are forgotten long after the pod has gone.
constexpr base::Instant::duration kRefusalMemory = std::chrono::minutes(10);

}  // namespace

void PodDeleter::forgetOld() {
  const base::Instant now = deps_.executor.now();
  std::erase_if(sent_, [&](const auto& entry) { return now - entry.second > kMemory; });
  std::erase_if(refused_, [&](const auto& entry) { return now - entry.second > kRefusalMemory; });
}

void PodDeleter::remove(const core::DeletePod& action, std::function<void(bool)> done) {
  const base::Instant now = deps_.executor.now();
  const std::pair sent{action.uid, action.force};
  if (!sent_.emplace(sent, now).second) return done(true);
  const auto refused = refused_.find(action.uid);
  const bool isKept = refused != refused_.end() && now - refused->second >= kBudgetPatience;
  if (action.evict && !isKept) return evict(action, sent, done);
  kube::DeleteOptions options;
  options.uid = action.uid.str();
  if (action.grace) options.gracePeriodSeconds = static_cast<int>(action.grace->count());
  if (action.force) options.gracePeriodSeconds = 0;
  deps_.metrics.countWrite("pods");
  deps_.api.remove(kube::kPods.object(action.pod.ns, action.pod.name), options,
                   steps_.guarded([this, action, sent, done = std::move(done)](const Answer& answer) {
                     if (answer) return done(true);
                     if (answer.error().code == ErrorCode::kConflict) return checkGone(action, sent, done);
                     if (codec::isTooLargeError(answer.error())) return strip(action, sent, done);
                     const bool gone = answer.error().code == ErrorCode::kNotFound;
                     if (gone) deps_.cache.pods.forget(action.pod, action.uid.str());
                     if (!gone) sent_.erase(sent);
                     done(gone);
                   }));
}

void PodDeleter::evict(const core::DeletePod& action, const Sent& sent,
                       const std::function<void(bool)>& done) {
  deps_.metrics.countWrite("pods/eviction");
  deps_.api.create(kube::kPods.object(action.pod.ns, action.pod.name, "eviction"),
                   codec::encodeEviction(action.pod, action.uid, action.grace),
                   steps_.guarded([this, action, sent, done](const Answer& answer) {
                     if (answer) return done(true);
                     if (answer.error().code == ErrorCode::kConflict) return checkGone(action, sent, done);
                     const bool gone = answer.error().code == ErrorCode::kNotFound;
                     if (gone) deps_.cache.pods.forget(action.pod, action.uid.str());
                     if (!gone) sent_.erase(sent);
                     // 429: a budget refuses the disruption for now.
                     if (answer.error().code == ErrorCode::kThrottled)
                       refused_.try_emplace(action.uid, deps_.executor.now());
                     done(gone);
                   }));
}

// Even a forced deletion first writes the pod, so a pod that its owner filled up to the storage limit would
// stay for ever. This removes what was added to the pod; the next cycle deletes it.
void PodDeleter::strip(const core::DeletePod& action, const Sent& sent,
                       const std::function<void(bool)>& done) {
  sent_.erase(sent);
  const std::string path = kube::kPods.object(action.pod.ns, action.pod.name);
  deps_.api.get(path, steps_.guarded([this, action, path, done](const Answer& answer) {
    const auto patch = answer ? codec::encodeStrippingPatch(action.uid, answer->body)
                              : tl::unexpected(base::Error(answer.error()));
    if (!patch) return done(false);
    deps_.log.warning("too large to be deleted: what was added to it is removed",
                      {{"namespace", action.pod.ns}, {"pod", action.pod.name}});
    deps_.metrics.countWrite("pods");
    deps_.api.patch(kube::PatchType::kMerge, path, *patch,
                    steps_.guarded([done](const Answer&) { done(false); }));
  }));
}

// A conflict suggests that another pod has the name by now. A pod that still exists must not be forgotten,
// because no watch event would bring it back.
void PodDeleter::checkGone(const core::DeletePod& action, const Sent& sent,
                           const std::function<void(bool)>& done) {
  deps_.api.get(kube::kPods.object(action.pod.ns, action.pod.name),
                steps_.guarded([this, action, sent, done](const Answer& answer) {
                  const auto meta = answer ? codec::decodeObjectMeta(answer->body)
                                           : tl::unexpected(base::Error(answer.error()));
                  const bool replaced = meta && meta->uid != action.uid.str();
                  const bool gone = replaced || (!answer && answer.error().code == ErrorCode::kNotFound);
                  if (gone) deps_.cache.pods.forget(action.pod, action.uid.str());
                  if (!gone) sent_.erase(sent);
                  done(gone);
                }));
}

}  // namespace trainyard::operator_
