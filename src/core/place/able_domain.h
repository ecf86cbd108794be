#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/place/problem.h"

namespace trainyard::core {

// Which domain to name to a gang that fits nowhere. Part of placement_failure.h; not for use elsewhere.

// A domain, and for each kind how many of its members find room there; of several kinds at most what is
// wanted.
struct DomainRoom {
  Domains::Range range;
  std::vector<std::int64_t> fits;
};

using OpenNodes = std::vector<std::vector<char>>;  // per kind, by position

[[nodiscard]] DomainRoom roomIn(const PlaceProblem& problem, Domains::Range range);

// Where most members find room: of the hardest kind first, then of the next; the first path of equals.
[[nodiscard]] DomainRoom mostRoom(const PlaceProblem& problem, std::size_t level);

// Whether the domain has room for all members of each kind alone. `open`: on these nodes; nullptr: on all.
[[nodiscard]] bool holdsEachKind(const PlaceProblem& empty, Domains::Range range, const OpenNodes* open);

// The domain with most room now among those that could hold the whole gang if nothing ran there: with the
// nodes that are open now, or else with those that may become open. The others never help, however much of
// them is free. Of several kinds of members only kMostTried domains are tried.
[[nodiscard]] std::optional<DomainRoom> bestAble(const PlaceProblem& now, const PlaceProblem& empty,
                                                 std::size_t level, const OpenNodes& open);

}  // namespace trainyard::core
