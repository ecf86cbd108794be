#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::base {

// A Kubernetes quantity ("500m", "1.5Gi", "2e3") in thousandths of its unit. Integer throughout: sums of
// fractions must compare exactly. Range ±9.2e15 units, which is 8 PiB of memory; beyond that parse fails.
class Quantity {
 public:
  constexpr Quantity() = default;
  [[nodiscard]] static constexpr Quantity fromMilli(std::int64_t milli) { return Quantity(milli); }
  [[nodiscard]] static constexpr Quantity fromUnits(std::int64_t units) { return Quantity(units * 1000); }

  // kInvalid names the text and what is wrong: not a number, negative where `text` has a sign is allowed,
  // unknown suffix, out of range. Finer than a thousandth is rounded up, as the API server does.
  [[nodiscard]] static Result<Quantity> parse(std::string_view text);

  [[nodiscard]] constexpr std::int64_t milli() const { return milli_; }
  // Requests round up, so that what is asked for is never understated.
  [[nodiscard]] std::int64_t unitsRoundedUp() const;
  // Offers round down.
  [[nodiscard]] std::int64_t unitsRoundedDown() const;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  constexpr explicit Quantity(std::int64_t milli) : milli_(milli) {}
  std::int64_t milli_ = 0;
};

}  // namespace trainyard::base
