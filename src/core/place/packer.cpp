#include "core/place/packer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/place/capacity_copy.h"
#include "core/place/domain_candidate.h"
#include "core/place/exact_search.h"
#include "core/place/tight_spread.h"

namespace trainyard::core {
namespace {

using Kind = PlaceProblem::Kind;
using Range = Domains::Range;

// The most members per node that step 3 tries before it is skipped for its cost.
constexpr std::int64_t kLeastHarmBudget = 500'000;

// Whether all members of the kind fit, if they were alone.
bool hasPlaces(const Kind& kind, const Range& range) {
  std::int64_t fits = 0;
  for (std::uint32_t position = range.begin; position < range.end && fits < kind.count; ++position)
    fits += kind.fits[position];
  return fits >= kind.count;
}

// Domains of one level where every kind fits by itself, the best first. For a
// single kind, for which this suffices, only the best.
std::vector<DomainCandidate> wholeGangCandidates(const PlaceProblem& problem, NodePreference& preference,
                                                 std::size_t level) {
  std::vector<DomainCandidate> candidates;
  for (const Range& range : problem.domains().levels()[level].domains) {
    const bool enough = std::all_of(problem.kinds().begin(), problem.kinds().end(),
                                    [&](const Kind& kind) { return hasPlaces(kind, range); });
    if (!enough) continue;
    DomainCandidate candidate{range, 0, {}, 0};
    if (level == problem.domains().nodeLevel()) candidate.growth = preference.growthByAll(range.begin);
    for (std::uint32_t position = range.begin; position < range.end; ++position) {
      candidate.busyness += problem.busyness(position);
    }
    candidates.push_back(candidate);
  }
  // The gang takes the same amount everywhere, so domains have the same order by free GPUs before and
  // after. They come in path order, which decides ties.
  if (problem.kinds().size() == 1 && !candidates.empty()) {
    return {*std::min_element(candidates.begin(), candidates.end(), better)};
  }
  std::stable_sort(candidates.begin(), candidates.end(), better);
  return candidates;
}

std::int64_t sum(const std::vector<std::int64_t>& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), std::int64_t{0});
}

}  // namespace

bool Packer::holdsAtLevel(std::size_t level) {
  const auto& kinds = problem_->kinds();
  if (kinds.size() != 1) return packAtLevel(level).has_value();
  // A single kind fits if there are enough places.
  const auto& domains = problem_->domains().levels()[level].domains;
  return std::any_of(domains.begin(), domains.end(),
                     [&](const Range& range) { return hasPlaces(kinds.front(), range); });
}

std::optional<PackedDomain> Packer::packAtLevel(std::size_t level) {
  for (const DomainCandidate& candidate : wholeGangCandidates(*problem_, preference_, level)) {
    if (auto packing = pack(level, candidate.range))
      return PackedDomain{candidate.range, std::move(*packing)};
  }
  return std::nullopt;
}

std::optional<Packing> Packer::pack(std::size_t level, Range range) {
  const auto& kinds = problem_->kinds();
  if (kinds.size() > 1 && !totalDemandFits(range)) return std::nullopt;

  std::vector<std::size_t> order(kinds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const ShapeChoice& shape : shapesIn(level, range)) {
    if (auto packing = packInOrder(level, range, order, shape)) return packing;
  }
  if (auto packing = packInOrder(level, range, order, std::nullopt)) return packing;
  // For one kind, and on one node, where the sum of demands decides, the attempt above is exact.
  if (kinds.size() == 1 || range.end - range.begin == 1) return std::nullopt;

  std::vector<std::int64_t> spare;
  for (const Kind& kind : kinds) {
    spare.push_back(
        std::accumulate(kind.fits.begin() + range.begin, kind.fits.begin() + range.end, -kind.count));
  }
  std::vector<std::size_t> scarcest = order;
  std::stable_sort(scarcest.begin(), scarcest.end(), [&](auto a, auto b) { return spare[a] < spare[b]; });
  if (scarcest != order) {
    if (auto packing = packInOrder(level, range, scarcest, std::nullopt)) return packing;
  }
  if (auto packing = packByLeastHarm(range)) return packing;
  return packExactly(range);
}

// Cheapest first, only those for which the range has enough nodes.
std::vector<ShapeChoice> Packer::shapesIn(std::size_t level, Range range) const {
  const auto& kinds = problem_->kinds();
  const auto* costs = problem_->request().shapeCosts;
  // Kinds come hardest first, so those with GPUs are in front.
  const bool oneGpuKind = kinds.front().wantsGpus && (kinds.size() == 1 || !kinds[1].wantsGpus);
  if (costs == nullptr || !oneGpuKind || level == problem_->domains().nodeLevel()) return {};
  const Kind& kind = kinds.front();
  std::vector<ShapeChoice> shapes = shapeChoices(*costs, kind.shape->requests.gpus(), kind.count);
  std::erase_if(shapes, [&](const ShapeChoice& shape) {
    const auto fitting = std::count_if(kind.fits.begin() + range.begin, kind.fits.begin() + range.end,
                                       [&](std::int64_t fits) { return fits >= shape.members; });
    return fitting < shape.nodes;
  });
  return shapes;
}

std::optional<Packing> Packer::packInOrder(std::size_t level, Range range,
                                           const std::vector<std::size_t>& order,
                                           const std::optional<ShapeChoice>& shape) {
  CapacityCopy capacity(*problem_, range);
  Packing packing(order.size());
  for (const std::size_t index : order) {
    const Kind& kind = problem_->kinds()[index];
    std::vector<std::int64_t> fits = capacity.fitsOf(kind);
    if (shape && index == 0) {
      for (std::int64_t& places : fits) places = places < shape->members ? 0 : shape->members;
    }
    if (sum(fits) < kind.count) return std::nullopt;
    TightSpread spread(*problem_, preference_, kind, range, std::move(fits));
    spread.spread(level, range, kind.count);
    packing[index] = spread.result();
    for (std::size_t offset = 0; offset < packing[index].size(); ++offset) {
      if (packing[index][offset] > 0) capacity.take(kind, offset, packing[index][offset]);
    }
  }
  return packing;
}

Packing Packer::packSome(Range range) const {
  CapacityCopy capacity(*problem_, range);
  Packing packing;
  for (const Kind& kind : problem_->kinds()) {
    std::vector<std::int64_t> taken = capacity.fitsOf(kind);
    std::int64_t left = kind.count;
    for (std::size_t offset = 0; offset < taken.size(); ++offset) {
      taken[offset] = std::min(taken[offset], left);
      left -= taken[offset];
      if (taken[offset] > 0) capacity.take(kind, offset, taken[offset]);
    }
    packing.push_back(std::move(taken));
  }
  return packing;
}

std::optional<Packing> Packer::packByLeastHarm(Range range) const {
  const auto& kinds = problem_->kinds();
  const std::size_t nodes = range.end - range.begin;
  std::int64_t members = 0;
  for (const Kind& kind : kinds) members += kind.count;
  if (members * static_cast<std::int64_t>(nodes * kinds.size()) > kLeastHarmBudget) return std::nullopt;

  CapacityCopy capacity(*problem_, range);
  Packing packing(kinds.size(), std::vector<std::int64_t>(nodes, 0));
  for (std::size_t index = 0; index < kinds.size(); ++index) {
    for (std::int64_t member = 0; member < kinds[index].count; ++member) {
      std::size_t best = nodes;
      std::int64_t leastHarm = 0;
      for (std::size_t offset = 0; offset < nodes; ++offset) {
        if (capacity.fits(kinds[index], offset, 1) == 0) continue;
        std::int64_t harm = 0;
        for (std::size_t other = index + 1; other < kinds.size(); ++other) {
          harm += capacity.fits(kinds[other], offset, kinds[other].count);
        }
        capacity.take(kinds[index], offset, 1);
        for (std::size_t other = index + 1; other < kinds.size(); ++other) {
          harm -= capacity.fits(kinds[other], offset, kinds[other].count);
        }
        capacity.take(kinds[index], offset, -1);
        const bool better = best == nodes || harm < leastHarm ||
                            (harm == leastHarm && problem_->busyness(range.begin + offset) <
                                                      problem_->busyness(range.begin + best));
        if (!better) continue;
        best = offset;
        leastHarm = harm;
      }
      if (best == nodes) return std::nullopt;
      capacity.take(kinds[index], best, 1);
      ++packing[index][best];
    }
  }
  return packing;
}

std::optional<Packing> Packer::packExactly(Range range) {
  if (exactBudget_ <= 0) return std::nullopt;
  return ExactSearch(*problem_, range).run(exactBudget_);
}

bool Packer::totalDemandFits(Range range) const {
  const std::size_t width = problem_->dimensions().size();
  for (std::size_t i = 0; i < width; ++i) {
    std::int64_t wanted = 0;
    for (const Kind& kind : problem_->kinds()) {
      std::int64_t demand = 0;
      if (__builtin_mul_overflow(kind.demand[i], kind.count, &demand) ||
          __builtin_add_overflow(wanted, demand, &wanted)) {
        return false;
      }
    }
    std::int64_t have = 0;
    for (std::uint32_t position = range.begin; position < range.end && have < wanted; ++position) {
      have += std::max<std::int64_t>(0, problem_->capacityAt(position)[i]);
    }
    if (have < wanted) return false;
  }
  return true;
}

}  // namespace trainyard::core
