#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/saturating.h"

namespace trainyard::core {

// Amounts of resources by dimension (core/queues/quota_dimensions.h), in each resource's own unit.
using Amounts = std::vector<std::int64_t>;

inline void addTo(Amounts& amounts, const Amounts& more) {
  for (std::size_t d = 0; d < amounts.size(); ++d) amounts[d] = base::saturatingAdd(amounts[d], more[d]);
}

[[nodiscard]] inline Amounts negated(Amounts amounts) {
  for (std::int64_t& amount : amounts) amount = -amount;
  return amounts;
}

}  // namespace trainyard::core
