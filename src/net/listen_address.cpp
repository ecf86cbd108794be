#include "net/listen_address.h"

#include <charconv>

#include <fmt/format.h>

namespace trainyard::net {

base::Result<ListenAddress> parseListenAddress(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return base::fail(base::ErrorCode::kInvalid, fmt::format("listen address \"{}\": {}", text, why));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse("expected HOST:PORT");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc{} || end != digits.data() + digits.size())
    return refuse("the port must be 0 to 65535");
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) return refuse("only an IPv6 address stands in brackets");
  } else if (host.find(':') != std::string_view::npos) {
    return refuse("write an IPv6 address in brackets");
  }
  if (host.find_first_of("[]") != std::string_view::npos) return refuse("brackets do not match");
  return ListenAddress{host.empty() ? "0.0.0.0" : std::string(host), port};
}

}  // namespace trainyard::net
