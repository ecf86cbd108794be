#pragma once

#include <vector>

namespace trainyard::operator_ {

// Bounds of the histograms of the time until a placement, in seconds.
inline const std::vector<double> kPlacementBounds = {0.1, 0.5,   1,     5,      10,    60,
                                                     300, 1'800, 7'200, 28'800, 86'400};

}  // namespace trainyard::operator_
