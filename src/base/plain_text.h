#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::base {

// Text that anybody may have written (names, messages of pods, logs), as a terminal, a condition or an Event
// may have it: it must not move the cursor, break the line or change the order in which other text is read.

// Control characters, and what Unicode calls format characters, line separators and tags: marks and
// embeddings of direction, zero-width and invisible characters.
[[nodiscard]] bool isInvisible(char32_t letter);

// The code point at the front of the text, which has utf8Length() bytes.
[[nodiscard]] char32_t codePointAt(std::string_view text);

// Whether plainText() of it, without line breaks, is the text itself.
[[nodiscard]] bool isPlain(std::string_view text);

// Controls, line separators and bytes that are no UTF-8 become blanks; other invisible characters are left
// out. Line breaks stay where `keepLines` says so.
[[nodiscard]] std::string plainText(std::string_view text, bool keepLines);

}  // namespace trainyard::base
