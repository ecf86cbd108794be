#include "base/quantity.h"

#include <algorithm>

#include <fmt/format.h>

namespace trainyard::base {
namespace {

__extension__ using Wide = __int128;

// Far above any accepted value, far below overflow: intermediate results stay exact.
constexpr Wide kWideLimit = static_cast<Wide>(1) << 120;

// In whole units, so that rounding up and rounding down return the same amount.
constexpr std::int64_t kLargest = INT64_MAX / 1000 * 1000;

// The scale of a larger exponent does not fit.
constexpr int kMaxExponent = 18;

struct Scale {
  Wide numerator = 1;
  Wide denominator = 1;
  bool tooLarge = false;  // for any number but 0
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

// Reads "e3" or "E-2": a decimal exponent.
bool readExponent(std::string_view text, Scale& scale) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  text.remove_prefix(1);
  bool negative = false;
  if (text[0] == '+' || text[0] == '-') {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return false;
  int exponent = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    exponent = std::min(exponent * 10 + (c - '0'), kMaxExponent + 1);
  }
  if (exponent > kMaxExponent) {
    scale.tooLarge = !negative;
    return scale.tooLarge;
  }
  (negative ? scale.denominator : scale.numerator) = power(10, exponent);
  return true;
}

struct Digits {
  Wide value = 0;
  int fractionDigits = 0;
  std::size_t length = 0;
  bool any = false;
  bool tooLarge = false;
  bool tooFine = false;
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
      (inFraction ? digits.tooFine : digits.tooLarge) = true;
      continue;
    }
    digits.value = digits.value * 10 + (c - '0');
    digits.fractionDigits += inFraction ? 1 : 0;
  }
  return digits;
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text, OutOfRange outOfRange) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("quantity \"{}\": {}", text.substr(0, 64), why));
  };
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  const auto tooLarge = [&](std::string_view why) -> Result<Quantity> {
    if (outOfRange == OutOfRange::kRefuse) return refuse(why);
    return Quantity(negative ? -kLargest : kLargest);
  };
  const Digits digits = readDigits(rest);
  if (!digits.any) return refuse("not a number");
  rest.remove_prefix(digits.length);
  Scale scale;
  if (!readSuffix(rest, scale) && !readExponent(rest, scale)) return refuse("unknown suffix");
  if (digits.tooFine) return refuse("too many digits");
  if (digits.tooLarge) return tooLarge("too many digits");
  if (scale.tooLarge && digits.value != 0) return tooLarge("out of range");

  const Wide denominator = scale.denominator * power(10, digits.fractionDigits);
  if (digits.value != 0 && scale.numerator > kWideLimit / digits.value / 1000)
    return tooLarge("out of range");
  const Wide scaled = digits.value * scale.numerator * 1000;
  const Wide milli = (scaled + denominator - 1) / denominator;
  if (milli > INT64_MAX) return tooLarge("out of range");
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
