#pragma once

#include <cstddef>
#include <string>

#include "core/place/place.h"
#include "core/place/problem.h"

namespace trainyard::core {

// Why a gang that fits nowhere up to level `widest` (0: whole cluster) waits. Part of place(). `bound` is the
// level that it may have in the end, as wide or wider: only what does not even fit there is too large.
[[nodiscard]] PlacementFailure explainNoPlace(const PlaceProblem& problem, std::size_t widest,
                                              std::size_t bound);

// spec.locality.required names no level of this cluster.
[[nodiscard]] PlacementFailure unknownLevel(const std::string& required, const Domains& domains);

}  // namespace trainyard::core
