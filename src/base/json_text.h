#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::base {

// Returns the length of the well-formed UTF-8 sequence at the front of `text`, or 0 if there is none (Unicode
// table 3-7). `text` must not be empty.
[[nodiscard]] std::size_t utf8Length(std::string_view text);

// Appends `text` as a JSON string with quotes; bytes that are not UTF-8 become U+FFFD.
void appendJson(std::string& out, std::string_view text);
[[nodiscard]] std::string quoteJson(std::string_view text);

}  // namespace trainyard::base
