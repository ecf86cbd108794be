#pragma once

#include <string>
#include <string_view>

namespace trainyard::cli {

// Makes the text safe for a terminal. Tenants write messages of pods, Events and names of containers. Their
// text must not move the cursor, set a title, write the clipboard or change the reading order
// (base/plain_text.h). Everything that a command prints passes through this function.
[[nodiscard]] std::string plainText(std::string_view text, bool keepLines);

}  // namespace trainyard::cli
