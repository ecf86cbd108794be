#pragma once

#include <string_view>

#include "base/error.h"
#include "model/constraints.h"

namespace trainyard::codec {

// The shape of a member as the API server's admission returned it in a dry run. The pod comes from the client
// of the extender, so only its shape is read. Returns kInvalid for text that is no pod, for a pod that
// exceeds the limits of a template (model/limits.h), and for a pod of another namespace: anti-affinity is
// counted by namespace, so its shape would reveal pods that the client may not see.
[[nodiscard]] base::Result<model::PodShape> decodeAdmittedPod(std::string_view pod, std::string_view ns);

}  // namespace trainyard::codec
