#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ledger/domains.h"
#include "core/place/node_preference.h"
#include "core/place/problem.h"
#include "core/place/shape_cost.h"

namespace trainyard::core {

// Members per kind (in the problem's order) and per position of
// the range in question, counted from range.begin.
using Packing = std::vector<std::vector<std::int64_t>>;

struct PackedDomain {
  Domains::Range range;
  Packing packing;
};

// Puts whole gangs into one domain. Part of place(); not for use elsewhere.
//
// One kind: exact. Several kinds are a packing problem, which is NP-hard. The packer tries
// these steps in order, and the first success wins:
//  1 kind after kind, hardest first, each as local as possible in what the kinds before it left;
//  2 as 1, scarcest kind first (the fewest spare places in the domain);
//  3 member after member, each on the node where it costs the other kinds the fewest places;
//  4 exactly: all ways to combine the kinds on each node, by dynamic programming over the nodes, while the
//    work fits the budget of this call. Beyond it a gang may wait although it would fit; it is tried again
//    when anything changes. On random small clusters steps 1 to 3 find all but 0.3 % of the solutions.
class Packer {
 public:
  explicit Packer(const PlaceProblem& problem) : problem_(&problem), preference_(problem) {}

  // Packs the whole gang into the domain; empty if it does not fit.
  [[nodiscard]] std::optional<Packing> pack(std::size_t level, Domains::Range range);
  // The best domain of a level that holds the whole gang: the
  // fewest free GPUs, the most in use, the first path.
  [[nodiscard]] std::optional<PackedDomain> packAtLevel(std::size_t level);
  // Whether such a domain exists.
  [[nodiscard]] bool holdsAtLevel(std::size_t level);
  // As much of the gang as step 1 places: the message needs to name how much is missing.
  [[nodiscard]] Packing packSome(Domains::Range range) const;

  // Tests turn the exact search off to measure what the heuristics alone achieve.
  void setExactBudget(std::int64_t steps) { exactBudget_ = steps; }

 private:
  // Puts each kind into the tightest inner domain that holds all its members, the best if there are several.
  // If none does, it uses as few inner domains as possible, and the remainder follows the same rule. A shape
  // binds the first kind. Among nodes that hold all parameter servers of a kind, one without those of other
  // jobs comes first: their bursts would share an uplink.
  [[nodiscard]] std::optional<Packing> packInOrder(std::size_t level, Domains::Range range,
                                                   const std::vector<std::size_t>& order,
                                                   const std::optional<ShapeChoice>& shape);
  [[nodiscard]] std::vector<ShapeChoice> shapesIn(std::size_t level, Domains::Range range) const;
  [[nodiscard]] std::optional<Packing> packByLeastHarm(Domains::Range range) const;
  [[nodiscard]] std::optional<Packing> packExactly(Domains::Range range);
  [[nodiscard]] bool totalDemandFits(Domains::Range range) const;

  const PlaceProblem* problem_;
  NodePreference preference_;
  std::int64_t exactBudget_ = 2'000'000;
};

}  // namespace trainyard::core
