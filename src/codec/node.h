#pragma once

#include <string_view>

#include "base/error.h"
#include "model/node.h"

namespace trainyard::codec {

// A v1 Node. kInvalid names the node and the field; unknown fields are ignored.
[[nodiscard]] base::Result<model::Node> decodeNode(std::string_view json);

}  // namespace trainyard::codec
