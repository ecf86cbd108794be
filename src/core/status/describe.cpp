#include "core/status/describe.h"

#include <set>

#include <fmt/format.h>

namespace trainyard::core {
namespace {

// Returns the paths of the nodes' domains at one level; empty if a node has no label at that level.
std::set<std::string> domainsAt(std::size_t level, const std::set<model::NodeName>& nodes,
                                const Ledger& ledger, const std::vector<model::TopologyLevel>& topology) {
  std::set<std::string> domains;
  for (const model::NodeName& name : nodes) {
    const auto at = ledger.find(name);
    if (!at) return {};
    std::string path;
    for (std::size_t i = 0; i <= level; ++i) {
      const std::string* value = ledger.nodes()[*at].node->labels.find(topology[i].labelKey);
      if (value == nullptr) return {};
      path += (i == 0 ? "" : "/") + *value;
    }
    domains.insert(std::move(path));
  }
  return domains;
}

}  // namespace

std::string describePlacement(const std::vector<model::Assignment>& assignments, const Ledger& ledger,
                              const std::vector<model::TopologyLevel>& topology) {
  std::set<model::NodeName> nodes;
  for (const model::Assignment& assignment : assignments) nodes.insert(assignment.node);
  if (nodes.size() == 1) return fmt::format("node {}", *nodes.begin());
  // The last level is the node itself; the search goes from the tightest level above it outwards.
  for (std::size_t level = topology.empty() ? 0 : topology.size() - 1; level-- > 0;) {
    const std::set<std::string> domains = domainsAt(level, nodes, ledger, topology);
    if (domains.size() == 1)
      return fmt::format("{} nodes in {} {}", nodes.size(), topology[level].name, *domains.begin());
  }
  const std::set<std::string> widest =
      topology.empty() ? std::set<std::string>{} : domainsAt(0, nodes, ledger, topology);
  if (widest.empty()) return fmt::format("{} nodes", nodes.size());
  return fmt::format("{} nodes over {} {}s", nodes.size(), widest.size(), topology.front().name);
}

}  // namespace trainyard::core
