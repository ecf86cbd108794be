#include "net/random_token.h"

#include <array>

#include <openssl/rand.h>

namespace trainyard::net {

base::Result<std::string> makeRandomToken() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    return base::fail(base::ErrorCode::kInternal, "OpenSSL has no random bytes");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4U];
    token += kDigits[byte & 0xFU];
  }
  return token;
}

}  // namespace trainyard::net
