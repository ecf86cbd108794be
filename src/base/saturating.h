#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

// Sums and products that stay at the end of their range instead of overflowing: an absurd amount must look
// too large, never small.
namespace trainyard::base {

[[nodiscard]] inline std::int64_t saturatingAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

[[nodiscard]] inline std::int64_t saturatingSubtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

[[nodiscard]] inline std::int64_t saturatingMultiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? std::numeric_limits<std::int64_t>::max()
                            : std::numeric_limits<std::int64_t>::min();
}

// Returns the nearest integer; 0 for NaN.
[[nodiscard]] inline std::int64_t saturatingRound(double value) {
  constexpr double kBound = 9'223'372'036'854'774'784.0;  // the largest double below 2^63
  if (std::isnan(value)) return 0;
  if (value >= kBound) return std::numeric_limits<std::int64_t>::max();
  if (value <= -kBound) return std::numeric_limits<std::int64_t>::min();
  return std::llround(value);
}

// Returns a * b / c without intermediate overflow, rounded towards zero; c must not be 0.
[[nodiscard]] inline std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) {
  __extension__ using Wide = __int128;
  const Wide exact = static_cast<Wide>(a) * b / c;
  if (exact > std::numeric_limits<std::int64_t>::max()) return std::numeric_limits<std::int64_t>::max();
  if (exact < std::numeric_limits<std::int64_t>::min()) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(exact);
}

// As scaled() of positive numbers, rounded up.
[[nodiscard]] inline std::int64_t scaledUp(std::int64_t a, std::int64_t b, std::int64_t c) {
  __extension__ using Wide = __int128;
  const Wide exact = (static_cast<Wide>(a) * b + c - 1) / c;
  return exact > std::numeric_limits<std::int64_t>::max() ? std::numeric_limits<std::int64_t>::max()
                                                          : static_cast<std::int64_t>(exact);
}

}  // namespace trainyard::base
