#include "replay/engine/statistics.h"

#include <cstddef>
#include <numeric>

namespace trainyard::replay {

double mean(const std::vector<double>& values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(const std::vector<double>& sorted) {
  if (sorted.empty()) return 0;
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double percentile(const std::vector<double>& sorted, unsigned percent) {
  return sorted.empty() ? 0 : sorted[sorted.size() * percent / 100];
}

}  // namespace trainyard::replay
