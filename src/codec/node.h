#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "model/node.h"

namespace trainyard::codec {

// A v1 Node. kInvalid names the node and the field; unknown fields are ignored.
[[nodiscard]] base::Result<model::Node> decodeNode(std::string_view json);

// Decodes what can be read of a node that decodeNode() refuses, as a node that takes no further pods: it is
// cordoned, and offers no pods to those that tolerate a cordon. Its gangs keep running, so it must not look
// as if it were gone. nullopt if it has no name.
[[nodiscard]] std::optional<model::Node> decodePartOfNode(std::string_view json);

}  // namespace trainyard::codec
