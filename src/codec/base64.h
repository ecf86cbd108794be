#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::codec {

// RFC 4648 with padding. Line breaks and spaces are skipped, because files are often wrapped.
[[nodiscard]] base::Result<std::string> decodeBase64(std::string_view text);
[[nodiscard]] std::string encodeBase64(std::string_view bytes);

}  // namespace trainyard::codec
