#include "kube/proxy_environment.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainyard::kube {
namespace {

constexpr std::size_t kAddressBytes = 16;
constexpr int kAddressBits = 128;
// IPv4 addresses are mapped to ::ffff:0:0/96.
constexpr int kMappedBits = 96;
using Address = std::array<std::uint8_t, kAddressBytes>;

struct HostPort {
  std::string host;  // in lower case, without brackets
  std::string port;  // empty if there is none
};

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

std::string lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::optional<Address> parseAddress(const std::string& text) {
  Address address{};
  if (inet_pton(AF_INET6, text.c_str(), address.data()) == 1) return address;
  in_addr four{};
  if (inet_pton(AF_INET, text.c_str(), &four) != 1) return std::nullopt;
  const auto* bytes =
      reinterpret_cast<const std::uint8_t*>(&four);  // NOLINT(*-reinterpret-cast): in network order
  address[10] = address[11] = 0xff;
  std::copy(bytes, bytes + 4, address.begin() + 12);
  return address;
}

bool isLoopback(const Address& address) {
  Address one{};
  one.back() = 1;
  const auto four = parseAddress("127.0.0.0");
  return address == one || std::equal(address.begin(), address.begin() + 13, four->begin());
}

bool sharePrefix(const Address& a, const Address& b, int bits) {
  for (int i = 0; i < bits; ++i) {
    const auto byte = static_cast<std::size_t>(i / 8);
    if (((a[byte] ^ b[byte]) >> (7 - i % 8) & 1) != 0) return false;
  }
  return true;
}

// Splits "host", "host:port", "[address]", "[address]:port" or a bare IPv6 address.
HostPort split(const std::string& text) {
  if (text.starts_with('[')) {
    const auto close = std::min(text.find(']'), text.size());
    const std::string rest = close < text.size() ? text.substr(close + 1) : "";
    return {text.substr(1, close - 1), rest.starts_with(':') ? rest.substr(1) : ""};
  }
  const auto colon = text.find(':');
  if (colon == std::string::npos || text.find(':', colon + 1) != std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// Matches one entry of $NO_PROXY, in lower case.
bool excludes(const std::string& entry, const HostPort& server, const std::optional<Address>& address) {
  if (entry == "*") return true;
  if (const auto slash = entry.find('/'); slash != std::string::npos) {
    const std::string base = entry.substr(0, slash);
    const auto range = parseAddress(base);
    int bits = -1;
    const char* const end = entry.data() + entry.size();
    const auto read = std::from_chars(entry.data() + slash + 1, end, bits);
    if (!address || !range || read.ec != std::errc() || read.ptr != end || bits < 0) return false;
    if (base.find(':') == std::string::npos) bits += kMappedBits;
    return bits <= kAddressBits && sharePrefix(*address, *range, bits);
  }
  HostPort named = split(entry);
  if (!named.port.empty() && named.port != server.port) return false;
  if (const auto same = parseAddress(named.host)) return address == same;
  if (named.host.starts_with("*.")) named.host.erase(0, 1);
  if (named.host.empty()) return false;
  if (named.host.starts_with('.')) return server.host.ends_with(named.host);
  return server.host == named.host || server.host.ends_with("." + named.host);
}

bool isExcluded(const std::string& list, const HostPort& server) {
  const auto address = parseAddress(server.host);
  if (server.host == "localhost" || (address && isLoopback(*address))) return true;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string entry = lowered(trimmed(std::string_view(list).substr(begin, end - begin)));
    if (!entry.empty() && excludes(entry, server, address)) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::string proxyFromEnvironment(const std::string& server,
                                 const std::function<std::string(const std::string& name)>& environment) {
  const auto either = [&](const std::string& name) {
    const std::string value = trimmed(environment(name));
    return value.empty() ? trimmed(environment(lowered(name))) : value;
  };
  const bool isHttps = server.starts_with("https://");
  const std::string proxy = either(isHttps ? "HTTPS_PROXY" : "HTTP_PROXY");
  const auto scheme = server.find("://");
  if (proxy.empty() || scheme == std::string::npos) return {};
  HostPort asked = split(lowered(server.substr(scheme + 3)));
  if (asked.port.empty()) asked.port = isHttps ? "443" : "80";
  if (isExcluded(either("NO_PROXY"), asked)) return {};
  return proxy.find("://") == std::string::npos ? "http://" + proxy : proxy;
}

}  // namespace trainyard::kube
