#include "base/quantity.h"

#include <string>

#include <fmt/format.h>

#include "fuzz/targets.h"
#include "sim/api/types.h"

namespace trainyard::fuzz {

void quantity(std::string_view input) {
  const auto read = base::Quantity::parse(input);
  const auto canonical = sim::canonicalQuantity(std::string(input));
  require(read.has_value() == canonical.has_value(), "both readers agree on what a quantity is");
  const auto saturated = base::Quantity::parse(input, base::OutOfRange::kSaturate);
  if (!read) return require(!read.error().message.empty(), "a refusal says why");
  require(saturated && *saturated == *read, "a quantity in the range is not changed");
  const auto again = base::Quantity::parse(fmt::format("{}m", read->milli()));
  require(again && *again == *read, "a written quantity reads as the same");
  require(read->unitsRoundedDown() <= read->unitsRoundedUp(), "rounding goes the way it says");
  const auto twice = sim::canonicalQuantity(*canonical);
  // Binary units that are no multiple of 1024 become plain digits, which are decimal when read again.
  require(twice && (*twice == *canonical || input.ends_with('i')),
          "the canonical text of a canonical text is itself");
  for (const std::string& text : {*canonical, *twice}) {
    const auto value = base::Quantity::parse(text);
    require(value && *value == *read, "the canonical text has the same value");
  }
}

}  // namespace trainyard::fuzz
