#include "codec/json_limits.h"

#include <fmt/format.h>

namespace trainyard::codec {

base::Result<void> checkJsonLimits(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.maxBytes) {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("JSON of {} bytes: at most {} are accepted", text.size(), limits.maxBytes));
  }
  std::size_t depth = 0;
  bool inString = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        inString = false;
      }
      continue;
    }
    if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > limits.maxDepth) {
        return base::fail(base::ErrorCode::kInvalid,
                          fmt::format("JSON nested deeper than {} levels at byte {}", limits.maxDepth, i));
      }
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return {};
}

}  // namespace trainyard::codec
