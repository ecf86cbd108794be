#pragma once

#include "kube/object_cache.h"
#include "model/traffic_pod.h"

template <>
struct trainyard::kube::CacheTraits<trainyard::model::TrafficPod> {
  using Key = trainyard::model::ObjectKey;
  static constexpr std::string_view kKind = "Pod";
  static const Key& keyOf(const trainyard::model::TrafficPod& pod) { return pod.key; }
  static Key keyOf(const trainyard::codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const trainyard::model::TrafficPod& before, const trainyard::model::TrafficPod& after) {
    return before.uid == after.uid && before.resourceVersion == after.resourceVersion;
  }
};
