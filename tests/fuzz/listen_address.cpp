#include "net/listen_address.h"

#include <fmt/format.h>

#include "fuzz/targets.h"

namespace trainyard::fuzz {

void listenAddress(std::string_view input) {
  const auto address = net::parseListenAddress(input);
  if (!address) return;
  const bool bracketed = address->host.find(':') != std::string::npos;
  const auto again = net::parseListenAddress(bracketed ? fmt::format("[{}]:{}", address->host, address->port)
                                                       : fmt::format("{}:{}", address->host, address->port));
  require(again && again->host == address->host && again->port == address->port,
          "an address that was written reads as the same");
}

}  // namespace trainyard::fuzz
