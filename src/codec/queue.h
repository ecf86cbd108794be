#pragma once

#include <string_view>

#include "base/error.h"
#include "model/queue.h"

namespace trainyard::codec {

// A Queue of trainyard.dev/v1alpha1. kInvalid names the queue and the field.
[[nodiscard]] base::Result<model::Queue> decodeQueue(std::string_view json);

}  // namespace trainyard::codec
