#pragma once

#include <cstddef>
#include <string_view>

namespace trainyard::codec {

// Length of the well-formed UTF-8 sequence at the front of `text`, 0 when there is none (Unicode table 3-7).
// `text` is not empty.
[[nodiscard]] std::size_t utf8Length(std::string_view text);

}  // namespace trainyard::codec
