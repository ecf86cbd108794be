#include <fmt/format.h>

#include "base/quantity.h"
#include "sim/api/types.h"

namespace trainyard::sim {
namespace {

// Divides by `step` as often as it leaves no remainder; returns the number of divisions.
int reduce(std::int64_t& value, std::int64_t step, int limit) {
  int times = 0;
  while (value != 0 && value % step == 0 && times < limit) {
    value /= step;
    ++times;
  }
  return times;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// The real server keeps a text that its quick test accepts as canonical, such as "0100" and "1.500".
bool passesForCanonical(const std::string& text) {
  std::size_t at = text.find_first_not_of("+-");
  while (at < text.size() && text[at] == '0') ++at;
  std::string digits;
  int fraction = 0;
  bool afterDot = false;
  for (; at < text.size() && (isDigit(text[at]) || text[at] == '.'); ++at) {
    if (text[at] == '.') {
      afterDot = true;
      continue;
    }
    digits += text[at];
    fraction += afterDot ? 1 : 0;
  }
  const std::string suffix = text.substr(at);
  if (digits.empty() || digits.size() > 15) return false;
  const std::int64_t value = std::stoll(digits);
  if (!suffix.empty() && suffix.back() == 'i') return fraction == 0 && value % 8 != 0;
  int exponent = 0;
  if (suffix.size() > 1) exponent = std::stoi(suffix.substr(1));
  const bool roundThousands = digits.size() >= 3 && digits.compare(digits.size() - 3, 3, "000") == 0;
  return (exponent - fraction) % 3 == 0 && !roundThousands && digits.front() != '0';
}

}  // namespace

base::Result<std::string> canonicalQuantity(const std::string& text) {
  const auto parsed = base::Quantity::parse(text);
  if (!parsed) return base::fail(parsed.error());
  if (passesForCanonical(text)) return text;
  static constexpr std::string_view kDecimal[] = {"", "k", "M", "G", "T", "P", "E"};
  static constexpr std::string_view kBinary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::int64_t milli = parsed->milli();
  if (milli == 0) return std::string("0");
  const bool exponent = text.find_first_of("eE") != std::string::npos && text.back() != 'E';
  const bool binary = text.back() == 'i';
  const bool whole = milli % 1000 == 0;
  if (binary && whole && (milli >= 1'024'000 || milli <= -1'024'000)) {
    std::int64_t units = milli / 1000;
    const int power = reduce(units, 1024, 6);
    return fmt::format("{}{}", units, kBinary[power]);
  }
  const int power = reduce(milli, 1000, 7);
  if (power == 0) return exponent ? fmt::format("{}e-3", milli) : fmt::format("{}m", milli);
  if (exponent) return power == 1 ? fmt::format("{}", milli) : fmt::format("{}e{}", milli, 3 * (power - 1));
  return fmt::format("{}{}", milli, kDecimal[power - 1]);
}

}  // namespace trainyard::sim
