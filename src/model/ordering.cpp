#include "model/ordering.h"

#include <algorithm>
#include <cstddef>

#include "base/enum_table.h"

namespace trainyard::model {

static_assert(base::hasRowForEach(kOrderings, &OrderingTraits::ordering), "one row each, in order");

const OrderingTraits& traitsOf(Ordering ordering) {
  return kOrderings.at(static_cast<std::size_t>(ordering));
}

std::optional<Ordering> orderingNamed(std::string_view name) {
  const auto at =
      std::find_if(kOrderings.begin(), kOrderings.end(), [&](const auto& each) { return each.name == name; });
  if (at == kOrderings.end()) return std::nullopt;
  return at->ordering;
}

std::string orderingNames() {
  std::string names;
  for (std::size_t i = 0; i < kOrderings.size(); ++i) {
    if (i > 0) names += i + 1 == kOrderings.size() ? " or " : ", ";
    names += kOrderings.at(i).name;
  }
  return names;
}

}  // namespace trainyard::model
