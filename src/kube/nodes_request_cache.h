#pragma once

#include "codec/nodes_request.h"
#include "kube/object_cache.h"
#include "kube/paths.h"
#include "model/provisioning.h"

namespace trainyard::kube {

inline constexpr ResourceType kProvisioningRequests{"autoscaling.x-k8s.io", "v1", "provisioningrequests"};
inline constexpr ResourceType kOlderProvisioningRequests{"autoscaling.x-k8s.io", "v1beta1",
                                                         "provisioningrequests"};
inline constexpr ResourceType kPodTemplates{"", "v1", "podtemplates"};

template <>
struct CacheTraits<model::NodesRequest> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "ProvisioningRequest";
  static const Key& keyOf(const model::NodesRequest& request) { return request.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const model::NodesRequest& before, const model::NodesRequest& after) {
    return before == after;
  }
};

}  // namespace trainyard::kube
