#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace trainyard::base {

// Returns true if `value` is an enumerator. gcc and clang print the name of an enumerator, and a number for
// any other value: "[with auto value = ns::Enum::kName]", "[value = (ns::Enum)7]".
template <auto value>
constexpr bool isEnumerator() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(0, text.rfind(']'));
  const char first = text[text.find_last_of(":) ") + 1];
  return first < '0' || first > '9';
}

// Returns true if `rows` has one row for each enumerator of an enumeration without gaps, in its order, and no
// enumerator follows that of the last row. `key` is the member of a row with its enumerator.
template <typename Row, std::size_t count, typename Enum>
constexpr bool hasRowForEach(const std::array<Row, count>& rows, Enum Row::* key) {
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<std::size_t>(rows[i].*key) != i) return false;
  }
  return !isEnumerator<static_cast<Enum>(count)>();
}

}  // namespace trainyard::base
