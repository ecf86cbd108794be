#include "core/place/able_domain.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/place/packer.h"

namespace trainyard::core {
namespace {

constexpr std::size_t kMaxTried = 32;
// The budget of the exact search in each of them.
constexpr std::int64_t kTriedSteps = 20'000;

}  // namespace

DomainCapacity capacityIn(const PlaceProblem& problem, Domains::Range range) {
  DomainCapacity capacity{range, {}};
  if (problem.kinds().size() == 1) {
    const auto& fits = problem.kinds().front().fits;
    capacity.fits.push_back(
        std::accumulate(fits.begin() + range.begin, fits.begin() + range.end, std::int64_t{0}));
    return capacity;
  }
  for (const auto& counts : Packer(problem).packSome(range))
    capacity.fits.push_back(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  return capacity;
}

DomainCapacity domainWithMostCapacity(const PlaceProblem& problem, std::size_t level) {
  std::optional<DomainCapacity> best;
  for (const Domains::Range& range : problem.domains().levels()[level].domains) {
    DomainCapacity candidate = capacityIn(problem, range);
    if (!best || candidate.fits > best->fits) best = std::move(candidate);
  }
  return *best;
}

bool holdsEachKind(const PlaceProblem& empty, Domains::Range range, const OpenNodes* open) {
  for (std::size_t i = 0; i < empty.kinds().size(); ++i) {
    const PlaceProblem::Kind& kind = empty.kinds()[i];
    std::int64_t left = kind.count;
    for (std::uint32_t at = range.begin; at < range.end && left > 0; ++at) {
      if (open == nullptr || (*open)[i][at] != 0) left -= kind.fits[at];
    }
    if (left > 0) return false;
  }
  return true;
}

std::optional<DomainCapacity> bestAble(const PlaceProblem& now, const PlaceProblem& empty, std::size_t level,
                                       const OpenNodes& open) {
  std::vector<std::pair<bool, DomainCapacity>> candidates;
  for (const Domains::Range& range : now.domains().levels()[level].domains) {
    if (holdsEachKind(empty, range, nullptr))
      candidates.emplace_back(holdsEachKind(empty, range, &open), capacityIn(now, range));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first : a.second.fits > b.second.fits;
  });
  if (candidates.size() > kMaxTried) candidates.resize(kMaxTried);
  Packer packer(empty);
  packer.setExactBudget(kTriedSteps);
  for (auto& [isOpen, capacity] : candidates) {
    if (packer.pack(level, capacity.range)) return std::move(capacity);
  }
  return std::nullopt;
}

}  // namespace trainyard::core
