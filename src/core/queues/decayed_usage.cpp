#include "core/queues/decayed_usage.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::core {
namespace {

constexpr double kLn2 = 0.693147180559945309;

// Rounds to whole numbers: equal clusters must compare equal.
std::int64_t rounded(double value) {
  constexpr double kMax = 9e18;
  return std::llround(std::clamp(value, 0.0, kMax));
}

}  // namespace

std::int64_t decayedUsage(const model::QueueStatus& status, std::string_view resource, std::int64_t held,
                          base::WallTime now, std::chrono::seconds halfLife) {
  if (!status.decayedAt || halfLife.count() <= 0) return 0;
  const auto since =
      std::max(std::chrono::duration_cast<std::chrono::duration<double>>(now - *status.decayedAt),
               std::chrono::duration<double>(0));
  const double kept = std::exp2(-since.count() / static_cast<double>(halfLife.count()));
  const double steady = static_cast<double>(held) * static_cast<double>(halfLife.count()) / kLn2;
  return rounded(static_cast<double>(status.decayedUsage.amount(resource)) * kept + steady * (1 - kept));
}

std::int64_t averageUse(std::int64_t decayed, std::chrono::seconds halfLife) {
  if (halfLife.count() <= 0) return 0;
  return rounded(static_cast<double>(decayed) * kLn2 / static_cast<double>(halfLife.count()));
}

}  // namespace trainyard::core
