#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::base {

// Makes untrusted text (names, messages of pods, logs) safe for a terminal, a condition or an Event. It must
// not move the cursor, break the line or change the order in which other text is read.

// Returns true for control characters and for Unicode's format characters, line separators and tags:
// direction marks and embeddings, zero-width and invisible characters.
[[nodiscard]] bool isInvisible(char32_t letter);

// Returns the code point at the front of the text, which has utf8Length() bytes.
[[nodiscard]] char32_t codePointAt(std::string_view text);

// Returns true if plainText() without line breaks equals the text.
[[nodiscard]] bool isPlain(std::string_view text);

// Replaces controls, line separators and invalid UTF-8 by blanks; removes other invisible characters. Keeps
// line breaks if `keepLines` is true.
[[nodiscard]] std::string plainText(std::string_view text, bool keepLines);

}  // namespace trainyard::base
