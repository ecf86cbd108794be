#include "base/quantity.h"

#include <fmt/format.h>

namespace trainyard::base {
namespace {

__extension__ using Wide = __int128;

// Far above any accepted value, far below overflow: intermediate results stay exact.
constexpr Wide kWideLimit = static_cast<Wide>(1) << 120;

struct Scale {
  Wide numerator = 1;
  Wide denominator = 1;
};

Wide power(Wide base, int exponent) {
  Wide result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

bool readSuffix(std::string_view suffix, Scale& scale) {
  static constexpr std::string_view kDecimal = "kMGTPE";
  static constexpr std::string_view kBinary = "KMGTPE";
  if (suffix.empty()) return true;
  if (suffix == "n") return scale.denominator = power(10, 9), true;
  if (suffix == "u") return scale.denominator = power(10, 6), true;
  if (suffix == "m") return scale.denominator = power(10, 3), true;
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const auto at = kBinary.find(suffix[0]);
    if (at == std::string_view::npos) return false;
    scale.numerator = power(1024, static_cast<int>(at) + 1);
    return true;
  }
  if (suffix.size() == 1) {
    const auto at = kDecimal.find(suffix[0]);
    if (at == std::string_view::npos) return false;
    scale.numerator = power(1000, static_cast<int>(at) + 1);
    return true;
  }
  return false;
}

// Reads "e3" or "E-2": a decimal exponent, bounded so that the scale fits.
bool readExponent(std::string_view text, Scale& scale) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  text.remove_prefix(1);
  bool negative = false;
  if (text[0] == '+' || text[0] == '-') {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || text.size() > 2) return false;
  int exponent = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    exponent = exponent * 10 + (c - '0');
  }
  if (exponent > 18) return false;
  (negative ? scale.denominator : scale.numerator) = power(10, exponent);
  return true;
}

struct Digits {
  Wide value = 0;
  int fractionDigits = 0;
  std::size_t length = 0;
  bool any = false;
  bool tooLong = false;
};

Digits readDigits(std::string_view text) {
  Digits digits;
  bool inFraction = false;
  for (; digits.length < text.size(); ++digits.length) {
    const char c = text[digits.length];
    if (c == '.' && !inFraction) {
      inFraction = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    digits.any = true;
    if (digits.value >= kWideLimit / 1'000'000'000'000'000'000 || digits.fractionDigits >= 18) {
      digits.tooLong = true;
      continue;
    }
    digits.value = digits.value * 10 + (c - '0');
    digits.fractionDigits += inFraction ? 1 : 0;
  }
  return digits;
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("quantity \"{}\": {}", text.substr(0, 64), why));
  };
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  const Digits digits = readDigits(rest);
  if (!digits.any) return refuse("not a number");
  rest.remove_prefix(digits.length);
  Scale scale;
  if (!readSuffix(rest, scale) && !readExponent(rest, scale)) return refuse("unknown suffix");
  if (digits.tooLong) return refuse("too many digits");

  const Wide denominator = scale.denominator * power(10, digits.fractionDigits);
  if (digits.value != 0 && scale.numerator > kWideLimit / digits.value / 1000) return refuse("out of range");
  const Wide scaled = digits.value * scale.numerator * 1000;
  const Wide milli = (scaled + denominator - 1) / denominator;
  if (milli > INT64_MAX) return refuse("out of range");
  const auto magnitude = static_cast<std::int64_t>(milli);
  return Quantity(negative ? -magnitude : magnitude);
}

std::int64_t Quantity::unitsRoundedUp() const {
  return milli_ >= 0 ? milli_ / 1000 + (milli_ % 1000 != 0 ? 1 : 0) : milli_ / 1000;
}

std::int64_t Quantity::unitsRoundedDown() const {
  return milli_ >= 0 ? milli_ / 1000 : milli_ / 1000 - (milli_ % 1000 != 0 ? 1 : 0);
}

}  // namespace trainyard::base
