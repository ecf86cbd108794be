#pragma once

#include <optional>
#include <string>

namespace trainyard::cli {

struct NamedLevel {
  std::string name;
  bool usual = false;  // a level of the default topology, which administrators may replace
};

// The level of the network whose domains a node label names: "rack" of "cloud.provider.com/topology-rack".
[[nodiscard]] std::optional<NamedLevel> levelOfKey(const std::string& topologyKey);

}  // namespace trainyard::cli
