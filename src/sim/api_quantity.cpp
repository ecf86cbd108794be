#include <fmt/format.h>

#include "base/quantity.h"
#include "sim/api_types.h"

namespace trainyard::sim {
namespace {

// Divides by `step` as often as it goes without a rest; returns how often.
int reduce(std::int64_t& value, std::int64_t step, int limit) {
  int times = 0;
  while (value != 0 && value % step == 0 && times < limit) {
    value /= step;
    ++times;
  }
  return times;
}

}  // namespace

base::Result<std::string> canonicalQuantity(const std::string& text) {
  const auto parsed = base::Quantity::parse(text);
  if (!parsed) return base::fail(parsed.error());
  static constexpr std::string_view kDecimal[] = {"", "k", "M", "G", "T", "P", "E"};
  static constexpr std::string_view kBinary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::int64_t milli = parsed->milli();
  if (milli == 0) return std::string("0");
  const bool exponent = text.find_first_of("eE") != std::string::npos && text.back() != 'E';
  const bool binary = text.back() == 'i';
  if (binary && (milli >= 1'024'000 || milli <= -1'024'000)) {
    std::int64_t units = parsed->unitsRoundedUp();
    const int power = reduce(units, 1024, 6);
    return fmt::format("{}{}", units, kBinary[power]);
  }
  const int power = reduce(milli, 1000, 7);
  if (power == 0) return exponent ? fmt::format("{}e-3", milli) : fmt::format("{}m", milli);
  if (exponent) return power == 1 ? fmt::format("{}", milli) : fmt::format("{}e{}", milli, 3 * (power - 1));
  return fmt::format("{}{}", milli, kDecimal[power - 1]);
}

}  // namespace trainyard::sim
