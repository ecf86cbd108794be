#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "codec/field.h"

namespace trainyard::codec {

// Returns the value that the field names. Complains if there is none of that name.
template <typename Enum, std::size_t N>
[[nodiscard]] Enum readEnum(const Field& field,
                            const std::array<std::pair<std::string_view, Enum>, N>& values, Enum whenAbsent) {
  if (!field.present()) return whenAbsent;
  const std::string_view text = field.text();
  std::string allowed;
  for (const auto& [name, value] : values) {
    if (name == text) return value;
    allowed += allowed.empty() ? std::string(name) : fmt::format(", {}", name);
  }
  field.refuse(fmt::format("must be one of {}", allowed));
  return whenAbsent;
}

}  // namespace trainyard::codec
