#pragma once

#include <string_view>

#include "base/error.h"
#include "model/constraints.h"

namespace trainyard::codec {

// The shape of a member as the API server's admission made it in a dry run. It comes from whoever asks, so
// that nothing but its shape is read. kInvalid: no pod, beyond what a template may hold (model/limits.h), or
// of another namespace than its job's: what keeps it apart from others is counted by namespace, and would
// tell of pods that the asker may not see.
[[nodiscard]] base::Result<model::PodShape> decodeAdmittedPod(std::string_view pod, std::string_view ns);

}  // namespace trainyard::codec
