#pragma once

#include <string>
#include <string_view>

namespace trainyard::launch {

// The HMAC-SHA256 (RFC 2104) of `data`, 32 bytes. By Mbed TLS. (Rejected: libcrypto, which adds four
// megabytes to this static file; Mbed TLS adds 82 kB.)
[[nodiscard]] std::string hmacSha256(std::string_view key, std::string_view data);
// Compares in a time that does not depend on the position of the first difference.
[[nodiscard]] bool sameDigest(std::string_view a, std::string_view b);

}  // namespace trainyard::launch
