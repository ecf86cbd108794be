#pragma once

#include <cstdint>
#include <vector>

#include "model/policy.h"

namespace trainyard::core {

// One way to spread a gang of equal members evenly.
struct ShapeChoice {
  std::int64_t nodes = 0;
  std::int64_t members = 0;  // on each of them
  int slowdownPermille = 0;
  friend bool operator==(const ShapeChoice&, const ShapeChoice&) = default;
};

// The ways in the table to spread `members` of `gpusEach` GPUs, the cheapest first; among equally cheap ones,
// fewer nodes first. One node is always included and costs 1000 if the table does not list it. Empty if the
// table lists no shape of this gang. The cost of a missing shape is not derived from others: on some networks
// 2+2 GPUs are slower than 1+1+1+1, on others faster.
[[nodiscard]] std::vector<ShapeChoice> shapeChoices(const std::vector<model::ShapeCost>& costs,
                                                    std::int64_t gpusEach, std::int64_t members);

}  // namespace trainyard::core
