#pragma once

#include <cstdint>
#include <vector>

#include "model/policy.h"

namespace trainyard::core {

// One way to spread a gang of like members evenly.
struct ShapeChoice {
  std::int64_t nodes = 0;
  std::int64_t members = 0;  // on each of them
  int slowdownPermille = 0;
  friend bool operator==(const ShapeChoice&, const ShapeChoice&) = default;
};

// The ways to spread `members` of `gpusEach` GPUs that the table knows, the cheapest first; of equally cheap
// ones the one with fewer nodes. One node counts as known and costs 1000 where the table does not list it.
// Empty when the table lists no shape of this gang. A shape that it does not list is not guessed from others:
// on some networks 2+2 GPUs are slower than 1+1+1+1, on others faster.
[[nodiscard]] std::vector<ShapeChoice> shapeChoices(const std::vector<model::ShapeCost>& costs,
                                                    std::int64_t gpusEach, std::int64_t members);

}  // namespace trainyard::core
