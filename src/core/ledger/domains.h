#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/node.h"
#include "model/shared_list.h"
#include "model/topology.h"

namespace trainyard::core {

// The network as a tree over the nodes, read from their labels. Level 0 is the whole cluster; the configured
// levels follow from the widest to the tightest; the last one always is the single node.
//
// A domain is keyed by its whole path: rack r1 of zone a and rack r1 of zone b are two racks. A node without
// the label of a level belongs to an unnamed domain there. That domain holds exactly the nodes that share its
// next tighter labelled domain, or the node alone. So missing labels never lump unrelated nodes together, and
// racks stay racks on a cluster that labels neither zones nor blocks. (Rejected: one unnamed domain for all
// unlabelled nodes, which would call nodes "one rack" that are not.) An empty label value counts as missing.
// The node level is keyed by the node's name, not by its hostname label, which may be missing or repeated.
//
// Nodes are stored in path order, so every domain is one range of positions and loops need no strings. The
// tree depends on names and labels only, and stays valid while those do not change.
class Domains {
 public:
  // `nodes` are in the order of Snapshot::nodes and Ledger::nodes(): sorted by name. No reference is kept.
  Domains(const model::SharedList<model::Node>& nodes, const std::vector<model::TopologyLevel>& levels);
  Domains(const std::vector<const model::Node*>& nodes, const std::vector<model::TopologyLevel>& levels);

  // Positions [begin, end).
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  struct Level {
    std::string name;  // "" for the whole cluster
    std::string labelKey;
    std::size_t labelled = 0;    // nodes that carry the label
    std::vector<Range> domains;  // in path order
  };

  [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }
  [[nodiscard]] std::size_t nodeLevel() const { return levels_.size() - 1; }
  [[nodiscard]] std::optional<std::size_t> findLevel(std::string_view name) const;

  [[nodiscard]] std::size_t nodeCount() const { return nodeAt_.size(); }
  // The index into Snapshot::nodes (and Ledger::nodes()) of the node at a position, and the reverse.
  [[nodiscard]] std::uint32_t nodeAt(std::size_t position) const { return nodeAt_[position]; }
  [[nodiscard]] std::uint32_t positionOf(std::size_t node) const { return positionOf_[node]; }

  // The domain at `level` that holds the position.
  [[nodiscard]] Range domainOf(std::size_t level, std::size_t position) const;
  // "zone-a/b1/r3": the named steps from the widest on; an unnamed domain shows the name that its nodes share
  // in parentheses: "zone-a/(n5)". "" for the whole cluster.
  [[nodiscard]] std::string path(std::size_t level, std::size_t position) const;

 private:
  // One step of a node's path. `source` is 0 for a named domain; otherwise the level of the stand-in label.
  struct Step {
    std::uint32_t source = 0;
    std::string text;
    friend auto operator<=>(const Step&, const Step&) = default;
  };

  template <typename Nodes>
  void build(const Nodes& nodes, const std::vector<model::TopologyLevel>& levels);
  [[nodiscard]] const Step& step(std::size_t level, std::size_t position) const {
    return steps_[nodeAt_[position] * levels_.size() + level];
  }
  void readSteps(const model::Node& node);
  void findRanges();

  std::vector<Level> levels_;
  std::vector<Step> steps_;  // node i has levels_.size() entries from i * levels_.size()
  std::vector<std::uint32_t> nodeAt_;
  std::vector<std::uint32_t> positionOf_;
};

}  // namespace trainyard::core
