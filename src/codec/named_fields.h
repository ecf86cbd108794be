#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "codec/field.h"

namespace trainyard::codec {

// The elements of a list in which each element has a name, such as container statuses.
using NamedFields = std::vector<std::pair<std::string_view, Field>>;

[[nodiscard]] inline NamedFields byName(const Field& list) {
  NamedFields named;
  list.forEachElement([&](const Field& each) { named.emplace_back(each["name"].text(), each); });
  return named;
}

// Returns the element of that name; nullptr if there is none.
[[nodiscard]] inline const Field* findNamed(const NamedFields& list, std::string_view name) {
  for (const auto& [key, field] : list) {
    if (key == name) return &field;
  }
  return nullptr;
}

}  // namespace trainyard::codec
