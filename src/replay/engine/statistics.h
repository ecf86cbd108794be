#pragma once

#include <vector>

namespace trainyard::replay {

// 0 for an empty list.
[[nodiscard]] double mean(const std::vector<double>& values);

// Of a sorted list; 0 if it is empty.
[[nodiscard]] double median(const std::vector<double>& sorted);
// Returns element floor(percent/100 n) of a sorted list, counted from 0; 0 if it is empty.
[[nodiscard]] double percentile(const std::vector<double>& sorted, unsigned percent);

}  // namespace trainyard::replay
