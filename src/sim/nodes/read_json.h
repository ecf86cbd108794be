#pragma once

// Internal to src/sim: read access to watched objects for the simulated components. There are thousands of
// them; json.h is for code that also changes objects.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "codec/json_value.h"

namespace trainyard::sim {

// Returns the value along a path of keys; missing if one of them is.
[[nodiscard]] inline codec::JsonValue valueAt(codec::JsonValue value,
                                              std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) value = value.find(key);
  return value;
}

// Returns a string along a path; empty if absent or not a string.
[[nodiscard]] inline std::string textAt(codec::JsonValue value,
                                        std::initializer_list<std::string_view> path) {
  return std::string(valueAt(value, path).string().value_or(""));
}

}  // namespace trainyard::sim
