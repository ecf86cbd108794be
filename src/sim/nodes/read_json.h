#pragma once

// Internal to src/sim: what the simulated components read of the objects that they watch. These come by the
// thousand; json.h is for those who also change them.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "codec/json_value.h"

namespace trainyard::sim {

// The value along a path of keys, missing where one is.
[[nodiscard]] inline codec::JsonValue valueAt(codec::JsonValue value,
                                              std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) value = value.find(key);
  return value;
}

// A string along a path, empty when absent or not a string.
[[nodiscard]] inline std::string textAt(codec::JsonValue value,
                                        std::initializer_list<std::string_view> path) {
  return std::string(valueAt(value, path).string().value_or(""));
}

}  // namespace trainyard::sim
