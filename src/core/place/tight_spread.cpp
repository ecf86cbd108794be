#include "core/place/tight_spread.h"

#include <algorithm>

namespace trainyard::core {

void TightSpread::spread(std::size_t level, Domains::Range range, std::int64_t count) {
  const std::size_t nodeLevel = problem_.domains().nodeLevel();
  if (count == 0) return;
  if (level == nodeLevel) return take(range.begin, count);
  for (std::size_t inner = nodeLevel; inner > level; --inner) {
    std::vector<DomainCandidate> candidates = candidatesOf(inner, range);
    std::erase_if(candidates, [&](const DomainCandidate& each) { return each.fits < count; });
    const bool nodes = inner == nodeLevel;
    for (DomainCandidate& each : candidates) {
      if (nodes) each.growth = preference_.growth(kind_, count, each.range.begin);
    }
    // min_element keeps the first of equals, in path order.
    const auto best =
        std::min_element(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
          if (nodes && kind_.sendsParameters && crowded(a) != crowded(b)) return crowded(b);
          return better(a, b) || (nodes && !better(b, a) && lonelier(a, b));
        });
    if (best != candidates.end()) return spread(inner, best->range, count);
  }
  fillLargest(level, range, count);
}

// No inner domain holds `count`: fills whole ones, the largest first, until the rest fits into one.
void TightSpread::fillLargest(std::size_t level, Domains::Range range, std::int64_t count) {
  std::vector<DomainCandidate> candidates = candidatesOf(level + 1, range);
  const bool nodes = level + 1 == problem_.domains().nodeLevel();
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const DomainCandidate& a, const DomainCandidate& b) {
                     if (a.fits != b.fits) return a.fits > b.fits;
                     if (a.busyness != b.busyness) return a.busyness < b.busyness;
                     return nodes && lonelier(a, b);
                   });
  for (const DomainCandidate& candidate : candidates) {
    if (candidate.fits >= count) break;
    for (std::uint32_t position = candidate.range.begin; position < candidate.range.end; ++position) {
      take(position, fits_[position - whole_.begin]);
    }
    count -= candidate.fits;
  }
  spread(level, range, count);
}

// Whether, of two nodes, only the second hosts another gang that needs the network.
bool TightSpread::lonelier(const DomainCandidate& a, const DomainCandidate& b) {
  return !preference_.sharesNetwork(a.range.begin) && preference_.sharesNetwork(b.range.begin);
}

// Whether another job's parameter servers on this node would share its uplink with this job's.
bool TightSpread::crowded(const DomainCandidate& node) { return preference_.hostsServers(node.range.begin); }

std::vector<DomainCandidate> TightSpread::candidatesOf(std::size_t level, Domains::Range range) const {
  const auto first = fits_.begin() + (range.begin - whole_.begin);
  return candidatesIn(problem_, level, range,
                      std::vector<std::int64_t>(first, first + (range.end - range.begin)));
}

void TightSpread::take(std::uint32_t position, std::int64_t count) {
  taken_[position - whole_.begin] += count;
  // A used node is not offered again: its remaining capacity was considered already.
  fits_[position - whole_.begin] = 0;
}

}  // namespace trainyard::core
