#include "core/place/pack.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace trainyard::core {
namespace {

using Busyness = PlaceProblem::Busyness;
using Kind = PlaceProblem::Kind;
using Range = Domains::Range;

// The most members per node that step 3 tries before it is skipped for its cost.
constexpr std::int64_t kLeastHarmBudget = 500'000;

struct Candidate {
  Range range;
  std::int64_t fits = 0;
  Busyness busyness;
  std::int64_t growth = 0;  // of fragmentation; for single nodes only
};

// The domains of `level` inside `range` where a member fits, in path order.
std::vector<Candidate> candidatesIn(const PlaceProblem& problem, std::size_t level, Range range,
                                    const std::vector<std::int64_t>& fits) {
  const auto& domains = problem.domains().levels()[level].domains;
  auto at = std::lower_bound(domains.begin(), domains.end(), range.begin,
                             [](const Range& domain, std::uint32_t begin) { return domain.begin < begin; });
  std::vector<Candidate> candidates;
  for (; at != domains.end() && at->begin < range.end; ++at) {
    Candidate candidate{*at, 0, {}, 0};
    for (std::uint32_t position = at->begin; position < at->end; ++position) {
      candidate.fits += fits[position - range.begin];
      candidate.busyness += problem.busyness(position);
    }
    if (candidate.fits > 0) candidates.push_back(candidate);
  }
  return candidates;
}

// Whether all members of the kind fit, if they were alone.
bool hasPlaces(const Kind& kind, const Range& range) {
  std::int64_t fits = 0;
  for (std::uint32_t position = range.begin; position < range.end && fits < kind.count; ++position)
    fits += kind.fits[position];
  return fits >= kind.count;
}

bool better(const Candidate& a, const Candidate& b) {
  return a.growth != b.growth ? a.growth < b.growth : a.busyness < b.busyness;
}

// Domains of one level where every kind fits by itself, the best first. For a
// single kind, for which this suffices, only the best.
std::vector<Candidate> wholeGangCandidates(const PlaceProblem& problem, PlaceRank& rank, std::size_t level) {
  std::vector<Candidate> candidates;
  for (const Range& range : problem.domains().levels()[level].domains) {
    const bool enough = std::all_of(problem.kinds().begin(), problem.kinds().end(),
                                    [&](const Kind& kind) { return hasPlaces(kind, range); });
    if (!enough) continue;
    Candidate candidate{range, 0, {}, 0};
    if (level == problem.domains().nodeLevel()) candidate.growth = rank.growthByAll(range.begin);
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

class TightSpread {
 public:
  TightSpread(const PlaceProblem& problem, PlaceRank& rank, const Kind& kind, Range range,
              std::vector<std::int64_t> fits)
      : problem_(problem),
        rank_(rank),
        kind_(kind),
        whole_(range),
        fits_(std::move(fits)),
        taken_(fits_.size(), 0) {}

  void spread(std::size_t level, Range range, std::int64_t count) {
    const std::size_t nodeLevel = problem_.domains().nodeLevel();
    if (count == 0) return;
    if (level == nodeLevel) return take(range.begin, count);
    for (std::size_t inner = nodeLevel; inner > level; --inner) {
      std::vector<Candidate> candidates = candidatesOf(inner, range);
      std::erase_if(candidates, [&](const Candidate& each) { return each.fits < count; });
      const bool nodes = inner == nodeLevel;
      for (Candidate& each : candidates) {
        if (nodes) each.growth = rank_.growth(kind_, count, each.range.begin);
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

  std::vector<std::int64_t> result() { return std::move(taken_); }

 private:
  // No inner domain holds `count`: fills whole ones, the largest first, until the rest fits into one.
  void fillLargest(std::size_t level, Range range, std::int64_t count) {
    std::vector<Candidate> candidates = candidatesOf(level + 1, range);
    const bool nodes = level + 1 == problem_.domains().nodeLevel();
    std::stable_sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
      if (a.fits != b.fits) return a.fits > b.fits;
      if (a.busyness != b.busyness) return a.busyness < b.busyness;
      return nodes && lonelier(a, b);
    });
    for (const Candidate& candidate : candidates) {
      if (candidate.fits >= count) break;
      for (std::uint32_t position = candidate.range.begin; position < candidate.range.end; ++position) {
        take(position, fits_[position - whole_.begin]);
      }
      count -= candidate.fits;
    }
    spread(level, range, count);
  }

  // Whether, of two nodes, only the second hosts another gang that needs the network.
  bool lonelier(const Candidate& a, const Candidate& b) {
    return !rank_.sharesNetwork(a.range.begin) && rank_.sharesNetwork(b.range.begin);
  }

  // Whether another job's parameter servers on this node would share its uplink with this job's.
  bool crowded(const Candidate& node) { return rank_.hostsServers(node.range.begin); }

  std::vector<Candidate> candidatesOf(std::size_t level, Range range) const {
    const auto first = fits_.begin() + (range.begin - whole_.begin);
    return candidatesIn(problem_, level, range,
                        std::vector<std::int64_t>(first, first + (range.end - range.begin)));
  }

  void take(std::uint32_t position, std::int64_t count) {
    taken_[position - whole_.begin] += count;
    // A used node is not offered again: its remaining capacity was considered already.
    fits_[position - whole_.begin] = 0;
  }

  const PlaceProblem& problem_;
  PlaceRank& rank_;
  const Kind& kind_;
  Range whole_;
  std::vector<std::int64_t> fits_;
  std::vector<std::int64_t> taken_;
};

// The remaining capacity of the range's nodes while kinds are placed on them.
class CapacityCopy {
 public:
  CapacityCopy(const PlaceProblem& problem, Range range)
      : problem_(problem), range_(range), width_(problem.dimensions().size()) {
    capacity_.assign(problem.capacityAt(range.begin),
                     problem.capacityAt(range.begin) + (range.end - range.begin) * width_);
  }

  [[nodiscard]] std::int64_t fits(const Kind& kind, std::size_t offset, std::int64_t limit) const {
    if (kind.open[range_.begin + offset] == 0) return 0;
    return problem_.timesCovered(kind, capacity_.data() + offset * width_, limit);
  }

  [[nodiscard]] std::vector<std::int64_t> fitsOf(const Kind& kind) const {
    std::vector<std::int64_t> fits(range_.end - range_.begin);
    for (std::size_t offset = 0; offset < fits.size(); ++offset)
      fits[offset] = this->fits(kind, offset, kind.count);
    return fits;
  }

  void take(const Kind& kind, std::size_t offset, std::int64_t count) {
    for (std::size_t i = 0; i < width_; ++i) capacity_[offset * width_ + i] -= kind.demand[i] * count;
  }

 private:
  const PlaceProblem& problem_;
  Range range_;
  std::size_t width_;
  std::vector<std::int64_t> capacity_;
};

std::int64_t sum(const std::vector<std::int64_t>& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), std::int64_t{0});
}

// One way to combine the kinds on a node: a count of each kind but the
// last, and the largest count of the last beside them.
struct Option {
  std::vector<std::int64_t> counts;  // in the order of the search, without the last kind
  std::size_t step = 0;              // what the counts add to the index of the state
  std::int64_t last = 0;
};

// Dynamic programming over the nodes. State: the members placed so far of every kind but the
// last; value: the largest count of the last kind beside them. The kind with the most members is
// the last, which keeps the number of states small.
class ExactSearch {
 public:
  ExactSearch(const PlaceProblem& problem, Range range)
      : problem_(problem), range_(range), capacity_(problem, range) {
    order_.resize(problem.kinds().size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return problem.kinds()[a].count < problem.kinds()[b].count;
    });
  }

  // Spends from the budget. Empty if the gang does not fit or the budget does not suffice.
  std::optional<Packing> run(std::int64_t& budget) {
    if (!countStates(budget)) return std::nullopt;
    best_.assign(states_, -1);
    best_[0] = 0;
    for (std::size_t offset = 0; offset < range_.end - range_.begin; ++offset) {
      std::vector<Option> options = optionsAt(offset, budget);
      if (options.empty()) continue;
      budget -= static_cast<std::int64_t>(states_ * options.size());
      if (budget < 0) return std::nullopt;
      advance(options);
      rounds_.push_back({offset, std::move(options)});
      if (best_.back() >= kind(order_.size() - 1).count) return trace();
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kKeep = std::numeric_limits<std::uint32_t>::max();

  struct Round {
    std::size_t offset = 0;
    std::vector<Option> options;
  };

  [[nodiscard]] const Kind& kind(std::size_t rank) const { return problem_.kinds()[order_[rank]]; }

  bool countStates(std::int64_t budget) {
    states_ = 1;
    for (std::size_t rank = 0; rank + 1 < order_.size(); ++rank) {
      strides_.push_back(states_);
      const auto digits = static_cast<std::size_t>(kind(rank).count) + 1;
      if (digits > static_cast<std::size_t>(budget) / states_) return false;
      states_ *= digits;
    }
    return true;
  }

  std::vector<Option> optionsAt(std::size_t offset, std::int64_t& budget) {
    std::vector<Option> options;
    Option current{std::vector<std::int64_t>(strides_.size(), 0), 0, 0};
    collect(offset, 0, current, options, budget);
    // No member of any kind fits: the node is skipped.
    if (options.size() == 1 && options.front().last == 0) options.clear();
    return options;
  }

  void collect(std::size_t offset, std::size_t rank, Option& current, std::vector<Option>& options,
               std::int64_t& budget) {
    if (--budget < 0) return;
    if (rank == strides_.size()) {
      current.last = capacity_.fits(kind(rank), offset, kind(rank).count);
      options.push_back(current);
      return;
    }
    const std::int64_t most = capacity_.fits(kind(rank), offset, kind(rank).count);
    for (std::int64_t count = 0; count <= most; ++count) {
      current.counts[rank] = count;
      capacity_.take(kind(rank), offset, count);
      collect(offset, rank + 1, current, options, budget);
      capacity_.take(kind(rank), offset, -count);
    }
    current.counts[rank] = 0;
  }

  void advance(std::vector<Option>& options) {
    for (Option& option : options) {
      for (std::size_t rank = 0; rank < strides_.size(); ++rank) {
        option.step += static_cast<std::size_t>(option.counts[rank]) * strides_[rank];
      }
    }
    std::vector<std::int64_t> next(states_, -1);
    std::vector<std::uint32_t> chosen(states_, kKeep);
    for (std::size_t state = 0; state < states_; ++state) {
      if (best_[state] < 0) continue;
      for (std::size_t i = 0; i < options.size(); ++i) {
        if (!staysWithinNeed(state, options[i])) continue;
        const std::size_t to = state + options[i].step;
        const std::int64_t value = best_[state] + options[i].last;
        if (value <= next[to]) continue;
        next[to] = value;
        chosen[to] = static_cast<std::uint32_t>(i);
      }
    }
    best_ = std::move(next);
    chosen_.push_back(std::move(chosen));
  }

  [[nodiscard]] bool staysWithinNeed(std::size_t state, const Option& option) const {
    for (std::size_t rank = 0; rank < strides_.size(); ++rank) {
      const auto digits = static_cast<std::size_t>(kind(rank).count) + 1;
      const std::size_t placed = state / strides_[rank] % digits;
      if (placed + static_cast<std::size_t>(option.counts[rank]) >= digits) return false;
    }
    return true;
  }

  [[nodiscard]] Packing trace() const {
    Packing packing(order_.size(), std::vector<std::int64_t>(range_.end - range_.begin, 0));
    std::size_t state = states_ - 1;
    std::int64_t lastLeft = kind(order_.size() - 1).count;
    for (std::size_t round = rounds_.size(); round-- > 0;) {
      const Option& option = rounds_[round].options[chosen_[round][state]];
      for (std::size_t rank = 0; rank < strides_.size(); ++rank) {
        packing[order_[rank]][rounds_[round].offset] = option.counts[rank];
      }
      const std::int64_t last = std::min(option.last, lastLeft);
      packing[order_.back()][rounds_[round].offset] = last;
      lastLeft -= last;
      state -= option.step;
    }
    return packing;
  }

  const PlaceProblem& problem_;
  Range range_;
  CapacityCopy capacity_;
  std::vector<std::size_t> order_;    // kinds by their number of members
  std::vector<std::size_t> strides_;  // of a state's index, per kind but the last
  std::size_t states_ = 1;
  std::vector<std::int64_t> best_;
  std::vector<Round> rounds_;
  std::vector<std::vector<std::uint32_t>> chosen_;
};

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
  for (const Candidate& candidate : wholeGangCandidates(*problem_, rank_, level)) {
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
    TightSpread spread(*problem_, rank_, kind, range, std::move(fits));
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
