#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::launch {

// FIPS 180-4 and RFC 2104. Of our own, as the one static file must not carry a library of a megabyte for it.
[[nodiscard]] std::string sha256(std::string_view data);
[[nodiscard]] std::string hmacSha256(std::string_view key, std::string_view data);
// In a time that does not depend on where they differ.
[[nodiscard]] bool sameDigest(std::string_view a, std::string_view b);

}  // namespace trainyard::launch
