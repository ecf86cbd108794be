#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "model/ids.h"

namespace trainyard::codec {

// The body of pods/eviction for the pod of this uid. `grace`: instead of the pod's own period.
[[nodiscard]] std::string encodeEviction(const model::ObjectKey& pod, const model::Uid& uid,
                                         std::optional<std::chrono::seconds> grace);

}  // namespace trainyard::codec
