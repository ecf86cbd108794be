#pragma once

// Internal to src/sim: what the API server does to pods.

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
// Required node affinity, of a pod.
void validateNodeAffinity(const Json& affinity, const std::string& path, Causes& causes);
// What may change in a pod that exists; gated pods may be pinned down further.
void validatePodUpdate(const Json& old, const Json& pod, Causes& causes);
void validatePodStatusUpdate(const Json& old, const Json& pod, Causes& causes);

// A bound pod carries zone and region of its node as labels.
void copyTopology(const Json& node, Json& pod);

[[nodiscard]] std::string qosClass(const Json& pod);

}  // namespace trainyard::sim
