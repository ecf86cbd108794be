#include "kube/percent_encoding.h"

namespace trainyard::kube {
namespace {

bool isUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void append(std::string& out, std::string_view text, std::string_view alsoPlain) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    if (isUnreserved(c) || alsoPlain.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 0xF];
  }
}

}  // namespace

std::string encodeTarget(std::string_view prefix, std::string_view path, const Query& query) {
  std::string target(prefix);
  append(target, path, "/:");
  char separator = '?';
  for (const auto& [key, value] : query) {
    target += separator;
    append(target, key, "");
    target += '=';
    append(target, value, "");
    separator = '&';
  }
  return target;
}

}  // namespace trainyard::kube
