#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::net {

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};

// Parses "127.0.0.1:8080", "[::]:8080" or ":8080" (every IPv4 address). kInvalid names text and error.
[[nodiscard]] base::Result<ListenAddress> parseListenAddress(std::string_view text);

}  // namespace trainyard::net
