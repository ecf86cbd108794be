#include "codec/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace trainyard::codec {
namespace {

using Kind = YamlScalar::Kind;

struct Word {
  std::string_view text;
  Kind kind;
  std::string_view json;
};

constexpr std::array<Word, 42> kWords{{
    {"", Kind::kNull, "null"},       {"~", Kind::kNull, "null"},      {"null", Kind::kNull, "null"},
    {"Null", Kind::kNull, "null"},   {"NULL", Kind::kNull, "null"},   {"y", Kind::kBool, "true"},
    {"Y", Kind::kBool, "true"},      {"yes", Kind::kBool, "true"},    {"Yes", Kind::kBool, "true"},
    {"YES", Kind::kBool, "true"},    {"true", Kind::kBool, "true"},   {"True", Kind::kBool, "true"},
    {"TRUE", Kind::kBool, "true"},   {"on", Kind::kBool, "true"},     {"On", Kind::kBool, "true"},
    {"ON", Kind::kBool, "true"},     {"n", Kind::kBool, "false"},     {"N", Kind::kBool, "false"},
    {"no", Kind::kBool, "false"},    {"No", Kind::kBool, "false"},    {"NO", Kind::kBool, "false"},
    {"false", Kind::kBool, "false"}, {"False", Kind::kBool, "false"}, {"FALSE", Kind::kBool, "false"},
    {"off", Kind::kBool, "false"},   {"Off", Kind::kBool, "false"},   {"OFF", Kind::kBool, "false"},
    {".inf", Kind::kNoJson, ""},     {".Inf", Kind::kNoJson, ""},     {".INF", Kind::kNoJson, ""},
    {"+.inf", Kind::kNoJson, ""},    {"+.Inf", Kind::kNoJson, ""},    {"+.INF", Kind::kNoJson, ""},
    {"-.inf", Kind::kNoJson, ""},    {"-.Inf", Kind::kNoJson, ""},    {"-.INF", Kind::kNoJson, ""},
    {".nan", Kind::kNoJson, ""},     {".NaN", Kind::kNoJson, ""},     {".NAN", Kind::kNoJson, ""},
    {"<<", Kind::kText, ""},         {"=", Kind::kText, ""},          {"-", Kind::kText, ""},
}};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Reads a whole number of 64 bits with its prefix: 0x, 0b, 0o, or a 0 before octal digits.
std::optional<std::string> readInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  const bool sign = negative || text.starts_with('+');
  if (sign) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text.front() == '0') {
    const char mark = lower(text[1]);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : mark == 'o' || isDigit(mark) ? 8 : 10;
    if (base != 10) text.remove_prefix(isDigit(mark) ? 1 : 2);
  }
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stopped != end) return std::nullopt;
  // A number without sign may use all 64 bits.
  constexpr std::uint64_t kMaxSigned = INT64_MAX;
  if (sign && value > kMaxSigned + (negative ? 1 : 0)) return std::nullopt;
  return fmt::format("{}{}", negative && value != 0 ? "-" : "", value);
}

std::size_t skipDigits(std::string_view text, std::size_t at) {
  while (at < text.size() && isDigit(text[at])) ++at;
  return at;
}

// [-+]? ( "." digits | digits ( "." digits? )? ) ( [eE] [-+]? digits )?
bool looksLikeFloat(std::string_view text) {
  std::size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const std::size_t whole = skipDigits(text, at);
  const bool hasWhole = whole > at;
  at = whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t end = skipDigits(text, at + 1);
    if (!hasWhole && end == at + 1) return false;
    at = end;
  } else if (!hasWhole) {
    return false;
  }
  if (at < text.size() && lower(text[at]) == 'e') {
    at += at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+') ? 2 : 1;
    const std::size_t end = skipDigits(text, at);
    if (end == at) return false;
    at = end;
  }
  return at == text.size();
}

std::optional<std::string> readFloat(std::string_view text) {
  if (!looksLikeFloat(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  constexpr double kSmall = 1e-6;
  constexpr double kLarge = 1e21;
  const double size = std::fabs(value);
  const auto format = size != 0 && (size < kSmall || size >= kLarge) ? std::chars_format::scientific
                                                                     : std::chars_format::fixed;
  constexpr std::size_t kMaxCharacters = 64;
  std::array<char, kMaxCharacters> buffer{};
  const auto [end, failed] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  if (failed != std::errc()) return std::nullopt;
  return std::string(buffer.data(), end);
}

}  // namespace

YamlScalar readYamlScalar(std::string_view text) {
  const auto* const word =
      std::find_if(kWords.begin(), kWords.end(), [&](const Word& each) { return each.text == text; });
  if (word != kWords.end()) return {word->kind, std::string(word->json.empty() ? text : word->json)};
  const char first = text.front();
  if (isDigit(first) || first == '-' || first == '+' || first == '.') {
    std::string digits(text);
    if (first != '.') std::erase(digits, '_');
    if (auto number = readInteger(digits)) return {Kind::kNumber, std::move(*number)};
    if (auto number = readFloat(digits)) return {Kind::kNumber, std::move(*number)};
  }
  return {Kind::kText, std::string(text)};
}

}  // namespace trainyard::codec
