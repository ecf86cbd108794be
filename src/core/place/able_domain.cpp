#include "core/place/able_domain.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/place/pack.h"

namespace trainyard::core {
namespace {

constexpr std::size_t kMostTried = 32;
// The budget of the exact search in each of them.
constexpr std::int64_t kTriedSteps = 20'000;

}  // namespace

DomainRoom roomIn(const PlaceProblem& problem, Domains::Range range) {
  DomainRoom room{range, {}};
  if (problem.kinds().size() == 1) {
    const auto& fits = problem.kinds().front().fits;
    room.fits.push_back(
        std::accumulate(fits.begin() + range.begin, fits.begin() + range.end, std::int64_t{0}));
    return room;
  }
  for (const auto& counts : Packer(problem).packSome(range))
    room.fits.push_back(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  return room;
}

DomainRoom mostRoom(const PlaceProblem& problem, std::size_t level) {
  std::optional<DomainRoom> best;
  for (const Domains::Range& range : problem.domains().levels()[level].domains) {
    DomainRoom candidate = roomIn(problem, range);
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

std::optional<DomainRoom> bestAble(const PlaceProblem& now, const PlaceProblem& empty, std::size_t level,
                                   const OpenNodes& open) {
  std::vector<std::pair<bool, DomainRoom>> candidates;
  for (const Domains::Range& range : now.domains().levels()[level].domains) {
    if (holdsEachKind(empty, range, nullptr))
      candidates.emplace_back(holdsEachKind(empty, range, &open), roomIn(now, range));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first : a.second.fits > b.second.fits;
  });
  if (candidates.size() > kMostTried) candidates.resize(kMostTried);
  Packer packer(empty);
  packer.setExactBudget(kTriedSteps);
  for (auto& [isOpen, room] : candidates) {
    if (packer.pack(level, room.range)) return std::move(room);
  }
  return std::nullopt;
}

}  // namespace trainyard::core
