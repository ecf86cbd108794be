#pragma once

#include "base/error.h"
#include "cel/expression.h"

namespace trainyard::cel {

// Finds what the API server's compiler refuses: unknown names, and operators and functions whose operands can
// never have the right type. Attributes may have any type until a device is looked at. kInvalid: the API
// server refuses it as well; kUnsupported: it may accept it.
[[nodiscard]] base::Result<Type> checkTypes(const Node& expression);

}  // namespace trainyard::cel
