#pragma once

#include <string>

#include "base/error.h"

namespace trainyard::net {

// Returns 256 random bits as 64 hexadecimal digits; kInternal if OpenSSL has no randomness.
[[nodiscard]] base::Result<std::string> makeRandomToken();

}  // namespace trainyard::net
