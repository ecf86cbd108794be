#include "model/framework.h"

#include <algorithm>

#include "base/enum_table.h"

namespace trainyard::model {

static_assert(base::hasRowForEach(kFrameworks, &FrameworkTraits::framework), "one row each, in order");

std::optional<Framework> frameworkNamed(std::string_view name) {
  const auto at = std::find_if(kFrameworks.begin(), kFrameworks.end(),
                               [&](const auto& each) { return each.name == name; });
  if (at == kFrameworks.end()) return std::nullopt;
  return at->framework;
}

}  // namespace trainyard::model
