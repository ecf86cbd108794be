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

// "127.0.0.1:8080", "[::]:8080" or ":8080" (every IPv4 address). kInvalid names the text and what is wrong.
[[nodiscard]] base::Result<ListenAddress> parseListenAddress(std::string_view text);

}  // namespace trainyard::net
