#include "core/order/remaining_time.h"

#include <algorithm>

namespace trainyard::core {
namespace {

// The least number of longer runs from which an estimate follows.
constexpr std::size_t kMinKnown = 2;

}  // namespace

std::optional<double> remainingTime(const std::vector<KnownRun>& others, double ran, double part) {
  std::vector<const KnownRun*> longer;
  std::size_t ended = 0;
  for (const KnownRun& other : others) {
    if (other.ran <= ran) continue;
    longer.push_back(&other);
    if (other.ended) ++ended;
  }
  if (ended < kMinKnown) return std::nullopt;
  std::sort(longer.begin(), longer.end(),
            [](const KnownRun* a, const KnownRun* b) { return a->ran < b->ran; });
  double atRisk = 0;
  for (const KnownRun* each : longer) atRisk += weightOf(*each);
  double survives = 1;
  for (const KnownRun* each : longer) {
    if (each->ended) survives *= 1 - weightOf(*each) / atRisk;
    if (survives <= 1 - part + 1e-9) return each->ran - ran;
    atRisk -= weightOf(*each);
    if (atRisk <= 0) break;
  }
  // The longest known run still lives: its age so far is a lower bound.
  return longer.back()->ran - ran;
}

}  // namespace trainyard::core
