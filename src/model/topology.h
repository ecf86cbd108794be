#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::model {

// One level of the network, from the widest to the tightest; `node` is the last.
struct TopologyLevel {
  std::string name;      // "rack", as in spec.locality
  std::string labelKey;  // node label with the domain's name as value
  friend bool operator==(const TopologyLevel&, const TopologyLevel&) = default;
};

// Widest first. A domain is keyed by its whole path: two zones may both have a rack "r1".
// The preset "default".
[[nodiscard]] std::vector<TopologyLevel> defaultTopologyLevels();

// "locality.required: "row" is not a level of this cluster; it has zone, rack and node".
[[nodiscard]] std::string noSuchLevel(std::string_view field, std::string_view level,
                                      const std::vector<std::string>& known);

// The label sets that clouds and labelling tools put on nodes, by a short name:
//   default           zone, block, rack, node: cloud.provider.com/topology-*, as Kueue and KAI show it
//   topograph         Topograph 1.0 and later: switch tiers counted from the node, then NVLink domains
//   topograph-legacy  Topograph up to 0.5: core, spine, leaf, accelerator
//   topograph-block   older still: datacenter, spine, block
//   gke               Google Kubernetes Engine: block, sub-block, host
//   aws               Amazon EC2: three network layers, then the UltraServer
//   oci               Oracle Cloud: network block, rack
// Every preset begins with the zone and ends with the node. Labels that a node lacks do no harm: see
// core/ledger/domains.h.
[[nodiscard]] std::optional<std::vector<TopologyLevel>> topologyPreset(std::string_view name);
// The names, in the order above.
[[nodiscard]] const std::vector<std::string>& topologyPresetNames();

}  // namespace trainyard::model
