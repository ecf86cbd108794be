#pragma once

#include <string_view>

namespace trainyard::model {

// What only one pod of a node may have (a host port) is counted as a resource of which every node has one:
// whoever counts room counts it as well, those that are stopped give it back, and nobody need know of it but
// Resources and whoever compares amounts by himself. No resource of Kubernetes has such a name.
inline constexpr std::string_view kHostPortPrefix = "host port ";
inline constexpr std::string_view kApartPrefix = "member apart from ";
// Of a node with several such volumes all but the first are added to what it has.
inline constexpr std::string_view kLocalVolumePrefix = "local volume of class ";

[[nodiscard]] inline bool isOneANode(std::string_view resource) {
  return resource.starts_with(kHostPortPrefix) || resource.starts_with(kApartPrefix) ||
         resource.starts_with(kLocalVolumePrefix);
}

}  // namespace trainyard::model
