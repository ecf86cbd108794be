#pragma once

#include "model/names.h"
#include "model/pod.h"

namespace trainyard::model {

// The uid of the gang that the pod is a member of, or claims to be: of the TrainingJob in its controller
// reference, or of the Gang that a label names. Empty for all other pods.
[[nodiscard]] inline const Uid& gangUidOf(const Pod& pod) {
  return pod.controllerKind == names::kTrainingJobKind ? pod.controllerUid : pod.gangUid;
}

[[nodiscard]] inline bool claimsGang(const Pod& pod) { return !gangUidOf(pod).empty(); }

}  // namespace trainyard::model
