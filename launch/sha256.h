#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::launch {

// FIPS 180-4 and RFC 2104. (Lost: a crypto library, which adds a megabyte to this one static file.)
[[nodiscard]] std::string sha256(std::string_view data);
[[nodiscard]] std::string hmacSha256(std::string_view key, std::string_view data);
// Compares in a time that does not depend on the position of the first difference.
[[nodiscard]] bool sameDigest(std::string_view a, std::string_view b);

}  // namespace trainyard::launch
