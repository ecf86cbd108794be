#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/field.h"

namespace trainyard::codec {

// PodGroups of scheduling.k8s.io: one more way for bare pods to name their gang.

// The PodGroup that a pod's spec names; empty if none.
[[nodiscard]] std::string podGroupOf(const Field& podSpec);

// How many pods of a PodGroup start together: spec.schedulingPolicy.gang.minCount, 1 to 10000. kInvalid for
// a group whose policy is not `gang`.
[[nodiscard]] base::Result<int> sizeOfPodGroup(std::string_view group);

// The version of scheduling.k8s.io that has PodGroups, of its API group document; empty if none is served.
// v1 has PriorityClasses only.
[[nodiscard]] base::Result<std::string> podGroupVersion(std::string_view apiGroup);

}  // namespace trainyard::codec
