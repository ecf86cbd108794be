#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::base {

// What becomes of a quantity beyond the range: an error, or the value at the end of the range.
enum class OutOfRange { kRefuse, kSaturate };

// A Kubernetes quantity ("500m", "1.5Gi", "2e3") in thousandths of its unit. It is an integer because sums of
// fractions must compare exactly. The range is ±9.2e15 units, which is 8 PiB of memory. The API server
// accepts larger quantities.
class Quantity {
 public:
  constexpr Quantity() = default;

  // kInvalid has the text and the error: not a number, a sign in the wrong place, unknown suffix, out of
  // range. A finer value than a thousandth is rounded up, as the API server does.
  [[nodiscard]] static Result<Quantity> parse(std::string_view text,
                                              OutOfRange outOfRange = OutOfRange::kRefuse);

  [[nodiscard]] constexpr std::int64_t milli() const { return milli_; }
  // For requests: rounding up never understates the requested amount.
  [[nodiscard]] std::int64_t unitsRoundedUp() const;
  // For capacity: rounding down never overstates it.
  [[nodiscard]] std::int64_t unitsRoundedDown() const;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  constexpr explicit Quantity(std::int64_t milli) : milli_(milli) {}
  std::int64_t milli_ = 0;
};

}  // namespace trainyard::base
