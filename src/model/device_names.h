#pragma once

#include <string_view>

namespace trainyard::model {

// Requests of devices count as resources of nodes. Where the devices of several requests overlap on a node,
// a pod that asks for one may get what the other needs: each such request also has a contest, a resource that
// all of them take (devices/catalog.h). No Kubernetes resource has such a name. A contest is no demand of a
// user: quotas and records leave it out.
inline constexpr std::string_view kContestPrefix = "contested ";

// "deviceclass.resource.kubernetes.io/gpu.nvidia.com": a pod may request devices of any class by such a
// resource, without a claim.
inline constexpr std::string_view kImplicitPrefix = "deviceclass.resource.kubernetes.io/";

[[nodiscard]] inline bool isContest(std::string_view resource) {
  return resource.starts_with(kContestPrefix);
}

}  // namespace trainyard::model
