#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/ledger/node_misfit.h"
#include "model/snapshot.h"

// The simplest possible answers, for comparison with the placement: every distribution of members is tried.
namespace trainyard::test {

// Label paths, in full: two nodes are in one domain of a level if they share the label of that level and of
// all wider levels, each either present with the same value or missing on both. A node without the label of
// the level itself shares the domain only with nodes that share a tighter labelled domain with it.
class BruteForce {
 public:
  BruteForce(const model::Snapshot& snapshot, const model::Job& job, bool empty)
      : snapshot_(snapshot), job_(job) {
    const core::Ledger ledger(snapshot);
    for (const core::Ledger::NodeCapacity& capacity : ledger.nodes()) {
      capacities_.push_back(empty ? capacity.node->allocatable : capacity.free);
      nodes_.push_back(capacity.node);
    }
    empty_ = empty;
  }

  [[nodiscard]] bool open(std::size_t node, const model::PodShape& shape) const {
    if (empty_) return !nodes_[node]->deleting && core::templateMatches(*nodes_[node], shape);
    return !core::nodeMisfit(*nodes_[node], shape);
  }

  // Returns true if the whole gang fits onto these nodes.
  [[nodiscard]] bool fits(const std::vector<std::size_t>& nodes) const {
    std::vector<const model::Role*> members;
    for (const model::Role& role : job_.spec.roles) {
      for (int i = 0; i < role.replicas; ++i) members.push_back(&role);
    }
    std::vector<model::Resources> capacities;
    for (const std::size_t node : nodes) capacities.push_back(capacities_[node]);
    return assign(members, 0, 0, nodes, capacities);
  }

  // The domains of a level ("" for the whole cluster) as lists of node indices.
  [[nodiscard]] std::vector<std::vector<std::size_t>> domains(const std::string& level) const {
    std::vector<std::vector<std::size_t>> domains;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      bool found = false;
      for (auto& domain : domains) {
        if (!together(domain.front(), node, level)) continue;
        domain.push_back(node);
        found = true;
        break;
      }
      if (!found) domains.push_back({node});
    }
    return domains;
  }

  [[nodiscard]] bool together(std::size_t a, std::size_t b, const std::string& level) const {
    if (level.empty() || a == b) return true;
    std::size_t depth = 0;
    while (snapshot_.policy.topology[depth].name != level) ++depth;
    if (depth + 1 == snapshot_.policy.topology.size()) return false;
    // From the tightest level that both share down to the requested level, the whole path must agree.
    for (std::size_t tight = snapshot_.policy.topology.size() - 1; tight-- > depth;) {
      if (sameNamedDomain(a, b, tight)) return true;
    }
    return false;
  }

  // Returns true if this many nodes each have the capacity for this many members of the role.
  [[nodiscard]] bool fitsEvenly(const model::Role& role, std::int64_t nodes, std::int64_t members) const {
    std::int64_t fitting = 0;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const model::Resources wanted = role.shape.requests.times(static_cast<int>(members));
      if (open(node, role.shape) && capacities_[node].covers(wanted)) ++fitting;
    }
    return fitting >= nodes;
  }

  [[nodiscard]] bool fitsAt(const std::string& level) const {
    for (const auto& domain : domains(level)) {
      if (fits(domain)) return true;
    }
    return false;
  }

  [[nodiscard]] std::int64_t freeGpus(const std::vector<std::size_t>& nodes) const {
    std::int64_t total = 0;
    for (const std::size_t node : nodes) {
      if (nodes_[node]->unschedulable) continue;
      total += std::max<std::int64_t>(0, capacities_[node].gpus());
    }
    return total;
  }

  // The smallest number of these nodes that hold the gang; larger than their number if they do not.
  [[nodiscard]] std::size_t fewestNodes(const std::vector<std::size_t>& nodes) const {
    std::size_t fewest = nodes.size() + 1;
    for (std::size_t mask = 1; mask < (std::size_t{1} << nodes.size()); ++mask) {
      std::vector<std::size_t> chosen;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if ((mask >> i & 1U) != 0) chosen.push_back(nodes[i]);
      }
      if (chosen.size() < fewest && fits(chosen)) fewest = chosen.size();
    }
    return fewest;
  }

 private:
  const std::string* label(std::size_t node, std::size_t level) const {
    return nodes_[node]->labels.find(snapshot_.policy.topology[level].labelKey);
  }

  // Both have the label of `level`, and agree on it and on every wider one, present or missing.
  bool sameNamedDomain(std::size_t a, std::size_t b, std::size_t level) const {
    if (label(a, level) == nullptr || label(b, level) == nullptr) return false;
    for (std::size_t i = 0; i <= level; ++i) {
      const std::string* left = label(a, i);
      const std::string* right = label(b, i);
      if ((left == nullptr) != (right == nullptr) || (left != nullptr && *left != *right)) return false;
    }
    return true;
  }

  bool assign(const std::vector<const model::Role*>& members, std::size_t next, std::size_t firstNode,
              const std::vector<std::size_t>& nodes, std::vector<model::Resources>& capacities) const {
    if (next == members.size()) return true;
    // Members of one role are equal: the next one is placed no further left than the previous one.
    const bool sameRole = next > 0 && members[next] == members[next - 1];
    for (std::size_t i = sameRole ? firstNode : 0; i < nodes.size(); ++i) {
      const model::PodShape& shape = members[next]->shape;
      if (!open(nodes[i], shape) || !capacities[i].covers(shape.requests)) continue;
      capacities[i].subtract(shape.requests);
      const bool done = assign(members, next + 1, i, nodes, capacities);
      capacities[i].add(shape.requests);
      if (done) return true;
    }
    return false;
  }

  const model::Snapshot& snapshot_;
  const model::Job& job_;
  bool empty_ = false;
  std::vector<model::Resources> capacities_;
  std::vector<const model::Node*> nodes_;
};

}  // namespace trainyard::test
