#include "model/topology.h"

#include <fmt/format.h>

#include "model/message_text.h"
#include "model/names.h"

namespace trainyard::model {
namespace {

struct Preset {
  std::string_view name;
  std::vector<TopologyLevel> inner;  // between zone and node
};

const std::vector<Preset>& presets() {
  static const std::vector<Preset> kPresets = {
      {"default",
       {{"block", "cloud.provider.com/topology-block"}, {"rack", "cloud.provider.com/topology-rack"}}},
      // All tiers that known fabrics have; tier 0 is the switch that the node is attached to.
      {"topograph",
       {{"tier-3", "fabric.topograph.run/tier-3"},
        {"tier-2", "fabric.topograph.run/tier-2"},
        {"tier-1", "fabric.topograph.run/tier-1"},
        {"tier-0", "fabric.topograph.run/tier-0"},
        {"accelerator", "accelerator.topograph.run/domain"},
        {"accelerator-part", "accelerator.topograph.run/sub-domain"}}},
      {"topograph-legacy",
       {{"core", "network.topology.nvidia.com/core"},
        {"spine", "network.topology.nvidia.com/spine"},
        {"leaf", "network.topology.nvidia.com/leaf"},
        {"accelerator", "network.topology.nvidia.com/accelerator"}}},
      {"topograph-block",
       {{"datacenter", "network.topology.nvidia.com/datacenter"},
        {"spine", "network.topology.nvidia.com/spine"},
        {"block", "network.topology.nvidia.com/block"},
        {"accelerator", "network.topology.nvidia.com/accelerator"}}},
      {"gke",
       {{"block", "cloud.google.com/gce-topology-block"},
        {"subblock", "cloud.google.com/gce-topology-subblock"},
        {"host", "cloud.google.com/gce-topology-host"}}},
      // Layer 1 is the top. The capacity block is left out: it is a reservation, not a location.
      {"aws",
       {{"layer-1", "topology.k8s.aws/network-node-layer-1"},
        {"layer-2", "topology.k8s.aws/network-node-layer-2"},
        {"layer-3", "topology.k8s.aws/network-node-layer-3"},
        {"ultraserver", "topology.k8s.aws/ultraserver-id"}}},
      {"oci",
       {{"block", "oci.oraclecloud.com/host.network_block_id"},
        {"rack", "oci.oraclecloud.com/host.rack_id"}}},
  };
  return kPresets;
}

}  // namespace

std::vector<TopologyLevel> defaultTopologyLevels() { return topologyPreset("default").value(); }

std::optional<std::vector<TopologyLevel>> topologyPreset(std::string_view name) {
  for (const Preset& preset : presets()) {
    if (preset.name != name) continue;
    std::vector<TopologyLevel> levels = {{"zone", "topology.kubernetes.io/zone"}};
    levels.insert(levels.end(), preset.inner.begin(), preset.inner.end());
    levels.push_back({"node", std::string(names::kHostnameLabel)});
    return levels;
  }
  return std::nullopt;
}

const std::vector<std::string>& topologyPresetNames() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> all;
    for (const Preset& preset : presets()) all.emplace_back(preset.name);
    return all;
  }();
  return kNames;
}

std::string noSuchLevel(std::string_view field, std::string_view level,
                        const std::vector<std::string>& known) {
  return fmt::format("{}: \"{}\" is not a level of this cluster; it has {}", field, level, joinList(known));
}

}  // namespace trainyard::model
