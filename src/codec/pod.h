#pragma once

#include <string_view>

#include "base/error.h"
#include "model/pod.h"

namespace trainyard::codec {

// Decodes a v1 Pod. kInvalid names the pod and the field; unknown fields are ignored. Invalid Trainyard
// labels are no error, because any client can write them: the pod then has no `member`. Of its shape, only
// the requests are read, and the required node affinity of a gated gang pod. The constraints of other pods
// are not needed, and such lists may have a megabyte.
[[nodiscard]] base::Result<model::Pod> decodePod(std::string_view json);

// As decodePod(), with the whole shape, for a scheduler.
[[nodiscard]] base::Result<model::Pod> decodePodToSchedule(std::string_view json);

}  // namespace trainyard::codec
