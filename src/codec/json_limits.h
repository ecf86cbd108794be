#pragma once

#include <cstddef>
#include <string_view>

#include "base/error.h"

namespace trainyard::codec {

struct JsonLimits {
  std::size_t maxBytes = 16u << 20;
  // Larger than the depth of any Kubernetes object. Far smaller than the depth at which a recursive copy or
  // dump of a parsed tree overflows the stack.
  std::size_t maxDepth = 64;
};

// Refuses text that is too large or too deeply nested before a parser builds a tree of it. It checks nothing
// else of the syntax. kInvalid names the limit.
[[nodiscard]] base::Result<void> checkJsonLimits(std::string_view text, const JsonLimits& limits = {});

}  // namespace trainyard::codec
