#include "net/http.h"

#include <algorithm>

namespace trainyard::net {
namespace {

constexpr std::size_t kMaxTokenBytes = 8u << 10;

char lowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The characters of a token in RFC 6750.
bool partOfToken(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

}  // namespace

std::string_view toString(Method method) {
  switch (method) {
    case Method::kGet: return "GET";
    case Method::kPost: return "POST";
    case Method::kPut: return "PUT";
    case Method::kPatch: return "PATCH";
    case Method::kDelete: return "DELETE";
  }
  return "GET";
}

bool equalsWithoutCase(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lowerAscii(a) == lowerAscii(b); });
}

std::string_view findHeader(const Headers& headers, std::string_view name) {
  const auto found = std::find_if(headers.begin(), headers.end(), [name](const auto& header) {
    return equalsWithoutCase(header.first, name);
  });
  return found == headers.end() ? std::string_view{} : std::string_view(found->second);
}

std::string bearerToken(const Headers& headers) {
  constexpr std::string_view kScheme = "Bearer ";
  std::string_view value = findHeader(headers, "Authorization");
  if (!equalsWithoutCase(value.substr(0, kScheme.size()), kScheme)) return {};
  value.remove_prefix(kScheme.size());
  if (value.size() > kMaxTokenBytes || !std::all_of(value.begin(), value.end(), partOfToken)) return {};
  return std::string(value);
}

}  // namespace trainyard::net
