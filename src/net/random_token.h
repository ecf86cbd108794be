#pragma once

#include <string>

#include "base/error.h"

namespace trainyard::net {

// 256 random bits as 64 hexadecimal digits. kInternal where OpenSSL has no randomness.
[[nodiscard]] base::Result<std::string> makeRandomToken();

}  // namespace trainyard::net
