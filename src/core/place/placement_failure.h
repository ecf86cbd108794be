#pragma once

#include <cstddef>
#include <string>

#include "core/place/place.h"
#include "core/place/problem.h"

namespace trainyard::core {

// Why a gang that does not fit at any level up to `widest` (0: whole cluster) waits. Part of place().
// `bound`: the widest level that it may ever have. Only a gang that does not fit there is too large.
[[nodiscard]] PlacementFailure explainNoPlacement(const PlaceProblem& problem, std::size_t widest,
                                                  std::size_t bound);

// The failure if spec.locality.required names no level of this cluster.
[[nodiscard]] PlacementFailure unknownLevel(const std::string& required, const Domains& domains);

}  // namespace trainyard::core
