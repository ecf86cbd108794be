#pragma once

#include <cstddef>
#include <string_view>

namespace trainyard::base {

// At most `bytes` of the UTF-8 text, not ending inside of a character: what the API server refuses for its
// length is never written at all, and half a character makes the whole write unreadable.
[[nodiscard]] std::string_view cutText(std::string_view text, std::size_t bytes);

}  // namespace trainyard::base
