#pragma once

#include <string_view>

#include "base/error.h"
#include "model/queue.h"

namespace trainyard::codec {

// kInvalid names the namespace and the field.
[[nodiscard]] base::Result<model::Namespace> decodeNamespace(std::string_view json);

}  // namespace trainyard::codec
