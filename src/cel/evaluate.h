#pragma once

#include "base/error.h"
#include "cel/expression.h"
#include "model/device.h"

namespace trainyard::cel {

// The value of an expression for a device, as kube-scheduler's library gives it: an error is one of that
// library, too (a missing attribute, operands of wrong types), except kUnsupported. An error of one operand
// of && and || is absorbed if the other decides. `expression` has passed checkTypes().
[[nodiscard]] base::Result<Value> evaluate(const Node& expression, const model::Device& device,
                                           std::string_view driver);

}  // namespace trainyard::cel
