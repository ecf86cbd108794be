#pragma once

#include <string_view>

#include "base/error.h"
#include "cel/expression.h"

namespace trainyard::cel {

// Parses an expression of the subset. kInvalid: it is not CEL; kUnsupported: it is not in the subset, and the
// message says what is not.
[[nodiscard]] base::Result<NodePtr> parse(std::string_view expression);

}  // namespace trainyard::cel
