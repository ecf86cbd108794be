#pragma once

#include <string_view>

namespace trainyard::model {

// What only one pod of a node may have (a host port) counts as a resource with one unit on every node. All
// code that counts capacity then covers it, and preemption gives it back. Only Resources and code that
// compares amounts directly have to handle it. No Kubernetes resource has such a name.
inline constexpr std::string_view kHostPortPrefix = "host port ";
inline constexpr std::string_view kApartPrefix = "member apart from ";
// A node with several such volumes offers the additional ones beyond the first.
inline constexpr std::string_view kLocalVolumePrefix = "local volume of class ";

[[nodiscard]] inline bool isOnePerNode(std::string_view resource) {
  return resource.starts_with(kHostPortPrefix) || resource.starts_with(kApartPrefix) ||
         resource.starts_with(kLocalVolumePrefix);
}

}  // namespace trainyard::model
