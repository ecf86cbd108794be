#include "cli/convert/topology_keys.h"

#include "model/topology.h"

namespace trainyard::cli {

std::optional<NamedLevel> levelOfKey(const std::string& topologyKey) {
  for (const std::string& preset : model::topologyPresetNames()) {
    const auto levels = model::topologyPreset(preset);
    for (const model::TopologyLevel& level : *levels) {
      if (level.labelKey == topologyKey) return NamedLevel{level.name, preset == "default"};
    }
  }
  if (topologyKey == "failure-domain.beta.kubernetes.io/zone") return NamedLevel{"zone", true};
  return std::nullopt;
}

}  // namespace trainyard::cli
