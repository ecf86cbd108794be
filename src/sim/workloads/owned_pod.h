#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "kube/object_cache.h"
#include "model/pod.h"

namespace trainyard::sim {

// A pod as the controller that made it keeps it.
struct OwnedPod {
  model::ObjectKey key;
  model::Uid uid;
  std::string resourceVersion;
  model::Uid owner;  // of its controller reference
  int index = -1;    // batch.kubernetes.io/job-completion-index; negative: none
  model::PodPhase phase = model::PodPhase::kPending;
  bool terminating = false;
  bool gated = false;
  bool bound = false;
  bool ranToItsEnd = false;  // its program ended it, well or not; its node did not

  [[nodiscard]] bool finished() const {
    return phase == model::PodPhase::kSucceeded || phase == model::PodPhase::kFailed;
  }
  [[nodiscard]] bool active() const { return !finished() && !terminating; }
};

[[nodiscard]] base::Result<OwnedPod> decodeOwnedPod(std::string_view json);

// The object that makes a pod.
struct PodOwner {
  std::string_view apiVersion;
  std::string_view kind;
  const model::ObjectKey& key;
  const model::Uid& uid;
};

// A pod of this template, controlled by its owner. `index`: its completion index; negative: none. By
// annotation sim.trainyard.dev/run-longer-by-index each runs longer than the one before it.
[[nodiscard]] std::string podOfTemplate(std::string_view podTemplate, const PodOwner& owner, int index);

}  // namespace trainyard::sim

namespace trainyard::kube {

template <>
struct CacheTraits<sim::OwnedPod> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "Pod";
  static const Key& keyOf(const sim::OwnedPod& pod) { return pod.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const sim::OwnedPod& before, const sim::OwnedPod& after) {
    return before.uid == after.uid && before.resourceVersion == after.resourceVersion;
  }
};

}  // namespace trainyard::kube
