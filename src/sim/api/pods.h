#pragma once

// Internal to src/sim: admission, defaults and validation of pods.

#include <string>

#include "sim/api/json.h"
#include "sim/api/registry.h"
#include "sim/api/status.h"

namespace trainyard::sim {

void podDefaults(Json& pod);

// The plug-ins LimitRanger, ServiceAccount, Priority and DefaultTolerationSeconds, in that order.
[[nodiscard]] Outcome<void> admitPod(const AdmissionView& view, Json& pod, const Json* old);
[[nodiscard]] Outcome<void> applyLimitRanges(const AdmissionView& view, Json& pod);

void validatePodSpec(const Json& pod, Causes& causes);
// Validates the required node affinity of a pod.
void validateNodeAffinity(const Json& affinity, const std::string& path, Causes& causes);
// Checks that only mutable fields of a pod changed; gated pods may be restricted further.
void validatePodUpdate(const Json& old, const Json& pod, Causes& causes);
void validatePodStatusUpdate(const Json& old, const Json& pod, Causes& causes);

// Copies the zone and region labels of its node to a bound pod.
void copyTopology(const Json& node, Json& pod);

[[nodiscard]] std::string qosClass(const Json& pod);

}  // namespace trainyard::sim
