#pragma once

#include <string_view>

#include "base/error.h"
#include "model/job.h"

namespace trainyard::codec {

// Decodes a Gang and fills in the defaults of its schema. As decodeJob(): an unusable spec sets `specError`.
[[nodiscard]] base::Result<model::Gang> decodeGang(std::string_view json);

}  // namespace trainyard::codec
