#pragma once

#include <compare>
#include <string>

#include <fmt/format.h>

#include "base/strong_string.h"

namespace trainyard::model {

using NodeName = base::StrongString<struct NodeNameTag>;
using QueueName = base::StrongString<struct QueueNameTag>;
using Uid = base::StrongString<struct UidTag>;

// Namespace and name of a namespaced object.
struct ObjectKey {
  std::string ns;
  std::string name;

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

}  // namespace trainyard::model

// Prints "namespace/name", as kubectl and the log lines do.
template <>
struct fmt::formatter<trainyard::model::ObjectKey> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(const trainyard::model::ObjectKey& key, Context& context) const {
    return fmt::format_to(context.out(), "{}/{}", key.ns, key.name);
  }
};
