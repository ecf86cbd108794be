#pragma once

#include <string_view>

#include "base/error.h"
#include "model/pod.h"

namespace trainyard::codec {

// A v1 Pod. kInvalid names the pod and the field; unknown fields are ignored. Labels of ours that make no
// sense are no error, since anybody can write them: the pod then has no `member`. Of its shape only the
// requests, and of a gang's pod behind its gate the required node affinity: nobody here asks where other pods
// may go, and such lists may have a megabyte.
[[nodiscard]] base::Result<model::Pod> decodePod(std::string_view json);

// The whole shape, for who schedules it.
[[nodiscard]] base::Result<model::Pod> decodePodToSchedule(std::string_view json);

}  // namespace trainyard::codec
