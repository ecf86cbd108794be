#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/place/problem.h"

namespace trainyard::core {

// The domain that the message names for a gang that fits nowhere. Part of placement_failure.h.

// A domain, and for each kind how many of its members fit there. With
// several kinds a count is at most what the kind needs.
struct DomainCapacity {
  Domains::Range range;
  std::vector<std::int64_t> fits;
};

using OpenNodes = std::vector<std::vector<char>>;  // per kind, by position

[[nodiscard]] DomainCapacity capacityIn(const PlaceProblem& problem, Domains::Range range);

// The domain where most members fit: of the hardest kind first, then of the next. Ties: the first path.
[[nodiscard]] DomainCapacity domainWithMostCapacity(const PlaceProblem& problem, std::size_t level);

// Whether all members of each kind alone fit in the domain. `open`: on these nodes; nullptr: on all.
[[nodiscard]] bool holdsEachKind(const PlaceProblem& empty, Domains::Range range, const OpenNodes* open);

// The domain with the most free capacity among those that could hold the whole gang if they were empty: with
// the nodes that are open now, or else with those that may become open. Other domains never help, however
// much of them is free. With several kinds of members only kMaxTried domains are tried.
[[nodiscard]] std::optional<DomainCapacity> bestAble(const PlaceProblem& now, const PlaceProblem& empty,
                                                     std::size_t level, const OpenNodes& open);

}  // namespace trainyard::core
