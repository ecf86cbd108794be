#pragma once

#include <string>
#include <string_view>

#include "cel/expression.h"

namespace trainyard::cel {

// A short text for people that means the same: `memory >= 80Gi` for
// `device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0`. Attributes of `domain` lose
// their domain, others keep it. Different texts may mean the same; equal texts do.
[[nodiscard]] std::string summaryOf(const Node& expression, std::string_view domain);

// Returns true if no other expression that says something else has the same summary: attributes and
// capacities compared with literals, all of which must hold.
[[nodiscard]] bool isPlain(const Node& expression);

}  // namespace trainyard::cel
