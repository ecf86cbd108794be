#pragma once

#include <string_view>

#include "base/error.h"
#include "model/queue.h"

namespace trainyard::codec {

// A PriorityClass of scheduling.k8s.io/v1. kInvalid names the class and the field.
[[nodiscard]] base::Result<model::PriorityClass> decodePriorityClass(std::string_view json);

}  // namespace trainyard::codec
