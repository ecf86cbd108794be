#pragma once

#include <string>
#include <vector>

namespace trainyard::model {

// One level of the network, from the widest to the tightest; `node` is the last.
struct TopologyLevel {
  std::string name;      // "rack", as in spec.locality
  std::string labelKey;  // node label whose value names the domain
};

// Widest first. A domain is keyed by its whole path: two zones may both have a rack "r1".
[[nodiscard]] std::vector<TopologyLevel> defaultTopologyLevels();

}  // namespace trainyard::model
