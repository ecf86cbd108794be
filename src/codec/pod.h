#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "model/pod.h"

namespace trainyard::codec {

// Decodes a v1 Pod. kInvalid names the pod and the field; unknown fields are ignored. Invalid Trainyard
// labels are no error, because any client can write them: the pod then has no `member`. Of its shape, only
// the requests are read, and the required node affinity of a gated gang pod. The constraints of other pods
// are not needed, and such lists may have a megabyte.
[[nodiscard]] base::Result<model::Pod> decodePod(std::string_view json);

// Decodes what can be read of a bound pod that decodePod() refuses. Its containers run, so the pod must count
// on its node. If its requests cannot be read, the pod counts as a whole node: a number that is guessed too
// low would let gangs be preempted for capacity that does not exist. nullopt if the pod has no name or no
// node.
[[nodiscard]] std::optional<model::Pod> decodePartOfBoundPod(std::string_view json);

// As decodePod(), with the whole shape, for a scheduler.
[[nodiscard]] base::Result<model::Pod> decodePodToSchedule(std::string_view json);

}  // namespace trainyard::codec
