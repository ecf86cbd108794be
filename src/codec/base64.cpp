#include "codec/base64.h"

#include <cstdint>

#include <fmt/format.h>

namespace trainyard::codec {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

base::Result<std::string> decodeBase64(std::string_view text) {
  const auto refuse = [](std::string_view why) {
    return base::fail(base::ErrorCode::kInvalid, fmt::format("not base64: {}", why));
  };
  std::string out;
  std::uint32_t bits = 0;
  int digits = 0;   // of the group so far
  int padding = 0;  // '=' seen
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const auto digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return refuse("a character outside the alphabet");
    if (padding > 0) return refuse("text after the padding");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if (++digits < 4) continue;
    out += static_cast<char>(bits >> 16 & 0xFF);
    out += static_cast<char>(bits >> 8 & 0xFF);
    out += static_cast<char>(bits & 0xFF);
    digits = 0;
    bits = 0;
  }
  if (digits == 1 || (digits + padding) % 4 != 0 || padding > 2) return refuse("it is cut off");
  if (digits == 2) out += static_cast<char>(bits >> 4 & 0xFF);
  if (digits == 3) {
    out += static_cast<char>(bits >> 10 & 0xFF);
    out += static_cast<char>(bits >> 2 & 0xFF);
  }
  return out;
}

std::string encodeBase64(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at])) : 0U;
    };
    const std::uint32_t bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kAlphabet[bits >> 18];
    out += kAlphabet[bits >> 12 & 63];
    out += i + 1 < bytes.size() ? kAlphabet[bits >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kAlphabet[bits & 63] : '=';
  }
  return out;
}

}  // namespace trainyard::codec
