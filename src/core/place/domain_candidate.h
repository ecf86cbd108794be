#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/place/problem.h"

namespace trainyard::core {

// A domain that members may be put into.
struct DomainCandidate {
  Domains::Range range;
  std::int64_t fits = 0;
  PlaceProblem::Busyness busyness;
  std::int64_t growth = 0;  // of fragmentation; for single nodes only
};

[[nodiscard]] inline bool better(const DomainCandidate& a, const DomainCandidate& b) {
  return a.growth != b.growth ? a.growth < b.growth : a.busyness < b.busyness;
}

// The domains of `level` inside `range` where a member fits, in path order. `fits`: by position in the range.
[[nodiscard]] std::vector<DomainCandidate> candidatesIn(const PlaceProblem& problem, std::size_t level,
                                                        Domains::Range range,
                                                        const std::vector<std::int64_t>& fits);

}  // namespace trainyard::core
