#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace trainyard::core {

// A template with constraints that are compared with every node.
struct ComparedTemplate {
  std::string ns;
  std::string key;
  std::int64_t cost = 0;  // for one node: lookCost()
};

// The terms that a cycle compares, each with every node: as many as one job may have, on 5,000 nodes.
inline constexpr std::int64_t kMaxCompared = 1'300'000;

// Returns the keys of the templates that a cycle leaves out when gangs grow beyond their desired size.
//
// Assumes: most templates have few constraints, cost nothing, and are never left out. Growth that no user
// asked for may wait. Steps: 1 in each namespace the cheapest templates come first, and each is ranked by its
// cost plus that of those before it; 2 all namespaces are merged by that rank, until a cycle's work is spent.
// So a namespace with hundreds of long templates takes no work from one with a few. A template that several
// namespaces share is compared once. Ties: namespace and key. (Rejected: to begin where the last cycle
// stopped. Every template has its turn, but hundreds of one tenant come before the one of another.)
[[nodiscard]] std::set<std::string> leftOut(std::vector<ComparedTemplate> templates, std::size_t nodes);

}  // namespace trainyard::core
