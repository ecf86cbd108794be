#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace trainyard::core {

// A template whose constraints are compared with every node.
struct ComparedTemplate {
  std::string ns;
  std::string key;
  std::int64_t cost = 0;  // of one node: lookCost()
};

// Words that a cycle compares so, each as often as there are nodes: as many as one job may have, and 5,000.
inline constexpr std::int64_t kMostCompared = 1'300'000;

// The keys of those that a cycle has to leave out where gangs grow beyond their wish, with so many nodes.
//
// Assumes: most templates say little about nodes, cost nothing, and are never left out; and what nobody has
// asked for may wait. Steps: 1 in each namespace the cheapest come first, and each costs what those before it
// do as well; 2 all in the order of that, until a cycle's work is spent: so a namespace with hundreds of long
// ones takes none from another with a few; what several ask for alike is compared once, for all of them.
// Ties: namespace and key. (Lost: to begin where the last cycle stopped. It serves everybody in turn, but
// hundreds of one tenant before the one of another.)
[[nodiscard]] std::set<std::string> leftOut(std::vector<ComparedTemplate> templates, std::size_t nodes);

}  // namespace trainyard::core
