#include "core/place/shape_cost.h"

#include <algorithm>
#include <tuple>

namespace trainyard::core {

std::vector<ShapeChoice> shapeChoices(const std::vector<model::ShapeCost>& costs, std::int64_t gpusEach,
                                      std::int64_t members) {
  std::vector<ShapeChoice> choices;
  if (gpusEach <= 0) return choices;
  for (const model::ShapeCost& cost : costs) {
    if (cost.nodes <= 0 || cost.gpusPerNode <= 0 || cost.gpusPerNode % gpusEach != 0) continue;
    const std::int64_t each = cost.gpusPerNode / gpusEach;
    // Divides, because a product could overflow.
    if (members % each != 0 || members / each != cost.nodes) continue;
    choices.push_back({cost.nodes, each, cost.slowdownPermille});
  }
  if (choices.empty()) return choices;
  const bool oneNode = std::any_of(choices.begin(), choices.end(),
                                   [](const ShapeChoice& choice) { return choice.nodes == 1; });
  if (!oneNode) choices.push_back({1, members, 1000});
  std::sort(choices.begin(), choices.end(), [](const ShapeChoice& a, const ShapeChoice& b) {
    return std::tie(a.slowdownPermille, a.nodes) < std::tie(b.slowdownPermille, b.nodes);
  });
  return choices;
}

}  // namespace trainyard::core
