#pragma once

#include <string>
#include <string_view>

namespace trainyard::cli {

// The text as a terminal may have it: what tenants write (messages of pods, Events, names of containers) must
// not move the cursor, set a title or write the clipboard. Control characters become blanks, those of UTF-8
// (U+0080 to U+009F) as well; line breaks stay where `keepLines` says so.
[[nodiscard]] std::string plainText(std::string_view text, bool keepLines);

}  // namespace trainyard::cli
