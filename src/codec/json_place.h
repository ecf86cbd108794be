#pragma once

#include <string>
#include <string_view>

namespace trainyard::codec {

// Returns where a text stops being JSON, as "line 3, column 14"; empty if it is valid. The position helps the
// author of a file written by hand or truncated; the parsers do not report one.
[[nodiscard]] std::string placeOfJsonMistake(std::string_view text);

}  // namespace trainyard::codec
