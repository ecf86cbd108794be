#include "core/place/domain_candidate.h"

#include <algorithm>

namespace trainyard::core {

std::vector<DomainCandidate> candidatesIn(const PlaceProblem& problem, std::size_t level,
                                          Domains::Range range, const std::vector<std::int64_t>& fits) {
  const auto& domains = problem.domains().levels()[level].domains;
  auto at = std::lower_bound(
      domains.begin(), domains.end(), range.begin,
      [](const Domains::Range& domain, std::uint32_t begin) { return domain.begin < begin; });
  std::vector<DomainCandidate> candidates;
  for (; at != domains.end() && at->begin < range.end; ++at) {
    DomainCandidate candidate{*at, 0, {}, 0};
    for (std::uint32_t position = at->begin; position < at->end; ++position) {
      candidate.fits += fits[position - range.begin];
      candidate.busyness += problem.busyness(position);
    }
    if (candidate.fits > 0) candidates.push_back(candidate);
  }
  return candidates;
}

}  // namespace trainyard::core
