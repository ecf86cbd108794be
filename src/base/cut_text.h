#pragma once

#include <cstddef>
#include <string_view>

namespace trainyard::base {

// Returns at most `bytes` of the UTF-8 text, cut between characters. The API server rejects a text that is
// too long, and half a character makes the whole write invalid.
[[nodiscard]] std::string_view cutText(std::string_view text, std::size_t bytes);

}  // namespace trainyard::base
