#pragma once

#include <string>
#include <string_view>

namespace trainyard::cli {

// The text as a terminal may have it: what tenants write (messages of pods, Events, names of containers) must
// not move the cursor, set a title, write the clipboard or change the order in which text is read
// (base/plain_text.h). Everything that a command prints goes through it.
[[nodiscard]] std::string plainText(std::string_view text, bool keepLines);

}  // namespace trainyard::cli
