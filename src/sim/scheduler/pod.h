#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "kube/object_cache.h"
#include "model/pod.h"

namespace trainyard::sim {

// A pod as kube-scheduler keeps it.
struct SchedulerPod {
  model::Pod pod;
  std::string schedulerName;
  // The condition PodScheduled; the status is empty if there is none.
  std::string conditionStatus;
  std::string conditionReason;
  std::string conditionMessage;
};

[[nodiscard]] base::Result<SchedulerPod> decodeSchedulerPod(std::string_view json);

// Returns true if the pod uses resources of its node.
[[nodiscard]] inline bool usesNode(const SchedulerPod& each) {
  return each.pod.bound() && !each.pod.finished();
}

}  // namespace trainyard::sim

namespace trainyard::kube {

template <>
struct CacheTraits<sim::SchedulerPod> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "Pod";
  static const Key& keyOf(const sim::SchedulerPod& each) { return each.pod.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const sim::SchedulerPod& before, const sim::SchedulerPod& after) {
    return before.pod.uid == after.pod.uid && before.pod.resourceVersion == after.pod.resourceVersion;
  }
};

}  // namespace trainyard::kube
