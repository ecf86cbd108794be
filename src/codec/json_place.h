#pragma once

#include <string>
#include <string_view>

namespace trainyard::codec {

// Where a text stops being JSON: "line 3, column 14"; empty where it is JSON. For who wrote it by hand or cut
// it off: the parsers do not tell.
[[nodiscard]] std::string placeOfJsonMistake(std::string_view text);

}  // namespace trainyard::codec
