#include "core/place/capacity_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/saturating.h"
#include "model/message_text.h"

namespace trainyard::core {
namespace {

constexpr std::size_t kFixedDimensions = PlaceProblem::kFixedDimensions;

}  // namespace

// The members that fit into the range if only the extended resources and dimension `extra` counted.
std::int64_t CapacityWords::fitsBy(const PlaceProblem& problem, std::size_t index, Range range,
                                   std::optional<std::size_t> extra) const {
  const Kind& kind = problem.kinds()[index];
  std::int64_t total = 0;
  for (std::uint32_t position = range.begin; position < range.end; ++position) {
    if (!open_.has(index, position, problem)) continue;
    std::int64_t count = kind.count;
    for (std::size_t i = 0; i < kind.demand.size(); ++i) {
      if ((i < kFixedDimensions && i != extra) || kind.demand[i] <= 0) continue;
      const std::int64_t have = problem.capacityAt(position)[i];
      count = have < kind.demand[i] ? 0 : std::min(count, have / kind.demand[i]);
    }
    total += count;
  }
  return total;
}

// The dimensions that the message names: extended resources always, others only if they are short.
std::vector<std::size_t> CapacityWords::named(const PlaceProblem& problem, std::size_t index,
                                              Range range) const {
  const Kind& kind = problem.kinds()[index];
  std::vector<std::size_t> extended;
  for (std::size_t i = kFixedDimensions; i < kind.demand.size(); ++i) {
    if (kind.demand[i] > 0) extended.push_back(i);
  }
  std::vector<std::size_t> dimensions = extended;
  const std::int64_t byExtended = fitsBy(problem, index, range, std::nullopt);
  for (std::size_t i = 0; i < kFixedDimensions; ++i) {
    if (kind.demand[i] > 0 && fitsBy(problem, index, range, i) < byExtended) dimensions.push_back(i);
  }
  for (std::size_t i = 0; dimensions.empty() && i < kFixedDimensions; ++i) {
    if (kind.demand[i] > 0) dimensions.push_back(i);
  }
  return dimensions;
}

// The first kind of members that does not fit; the last if only the combination of kinds does not fit.
std::size_t CapacityWords::shortKind(const DomainCapacity& best) const {
  std::size_t index = 0;
  while (index + 1 < best.fits.size() && best.fits[index] >= now_.kinds()[index].count) ++index;
  return index;
}

model::Shortfall CapacityWords::shortfall(const PlaceProblem& problem, const DomainCapacity& best,
                                          std::size_t level) const {
  const std::size_t index = shortKind(best);
  const Kind& kind = problem.kinds()[index];
  model::Shortfall shortfall;
  shortfall.level = now_.domains().levels()[level].name;
  if (level != 0) shortfall.domain = now_.domains().path(level, best.range.begin);
  const std::vector<std::size_t> dimensions = named(problem, index, best.range);
  if (dimensions.empty()) return shortfall;
  // The dimensions after the extended ones are named because they are short.
  const std::size_t scarce = dimensions.back();
  shortfall.resource = problem.dimensions()[scarce];
  shortfall.needed = base::saturatingMultiply(kind.demand[scarce], kind.count);
  for (std::uint32_t position = best.range.begin; position < best.range.end; ++position) {
    if (open_.has(index, position, problem)) {
      shortfall.available += std::max<std::int64_t>(0, problem.capacityAt(position)[scarce]);
    }
  }
  // Enough in total, but too fragmented for the members.
  if (shortfall.available >= shortfall.needed)
    shortfall.available = base::saturatingMultiply(kind.demand[scarce], best.fits[index]);
  if (fillsNodes(index)) {
    shortfall.neededNodes = static_cast<int>(kind.count);
    shortfall.availableNodes = static_cast<int>(best.fits[index]);
  }
  return shortfall;
}

std::string CapacityWords::rolesOf(std::size_t index) const {
  std::string names;
  for (const std::size_t group : now_.kinds()[index].groups) {
    names += (names.empty() ? "" : "/") + now_.request().groups[group].role->name;
  }
  return names;
}

// Members that fill a whole node each are described as nodes.
bool CapacityWords::fillsNodes(std::size_t index) const {
  const Kind& kind = empty_.kinds()[index];
  if (kind.count == 1) return true;
  for (std::size_t position = 0; position < nodeCount(); ++position) {
    if (open_.matching(index)[position] != 0 && empty_.timesCovered(kind, empty_.capacityAt(position), 2) > 1)
      return false;
  }
  return true;
}

std::string CapacityWords::resourcesOf(const PlaceProblem& problem, std::size_t index, Range range) const {
  std::vector<std::string> words;
  for (const std::size_t i : named(problem, index, range)) {
    words.push_back(model::amountOf(problem.dimensions()[i], problem.kinds()[index].demand[i]));
  }
  return model::joinList(words);
}

std::string CapacityWords::needs(const PlaceProblem& problem, Range range, std::size_t level) const {
  const auto& kinds = problem.kinds();
  std::vector<std::string> parts;
  std::int64_t members = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    members += kinds[i].count;
    const std::string what = resourcesOf(problem, i, range);
    const std::string_view each = kinds[i].count == 1 ? "" : " each";
    if (kinds.size() > 1) {
      parts.push_back(fmt::format("{}{} {} with {}{}", i == 0 ? "capacity for " : "", kinds[i].count,
                                  rolesOf(i) + (kinds[i].count == 1 ? " member" : " members"), what, each));
    } else if (fillsNodes(i)) {
      parts.push_back(fmt::format("{} with {}{}", model::counted(kinds[i].count, "node"), what, each));
    } else {
      parts.push_back(
          fmt::format("capacity for {} with {}{}", model::counted(kinds[i].count, "member"), what, each));
    }
  }
  std::string where;
  if (level == now_.domains().nodeLevel())
    where = " on one node";
  else if (level != 0)
    where = fmt::format(" in one {}", now_.domains().levels()[level].name);
  return fmt::format("needs {}{}", model::joinList(parts), members > 1 ? where : "");
}

std::string CapacityWords::has(const DomainCapacity& best) const {
  if (best.fits.size() == 1) return fmt::format("{} {}", fillsNodes(0) ? "has" : "can hold", best.fits[0]);
  bool all = true;
  std::vector<std::string> counts;
  for (std::size_t i = 0; i < best.fits.size(); ++i) {
    all = all && best.fits[i] >= now_.kinds()[i].count;
    counts.push_back(fmt::to_string(best.fits[i]));
  }
  return all ? "can hold each role, but not all together"
             : fmt::format("can hold {}", model::joinList(counts));
}

std::string CapacityWords::hasInAll() const {
  if (now_.kinds().size() > 1) return "can hold all";
  return has(capacityIn(now_, {0, static_cast<std::uint32_t>(nodeCount())}));
}

std::string CapacityWords::bestNode(const PlaceProblem& problem, std::size_t index) const {
  const Range all{0, static_cast<std::uint32_t>(nodeCount())};
  const std::vector<std::size_t> dimensions = named(problem, index, all);
  const Kind& kind = problem.kinds()[index];
  std::optional<std::size_t> best;
  double bestCover = -1;
  for (std::size_t position = 0; position < nodeCount(); ++position) {
    if (!open_.has(index, position, problem)) continue;
    if (&problem == &now_ && empty_.kinds()[index].fits[position] == 0) continue;
    double cover = 1;
    for (const std::size_t i : dimensions) {
      cover = std::min(
          cover, static_cast<double>(problem.capacityAt(position)[i]) / static_cast<double>(kind.demand[i]));
    }
    if (cover <= bestCover && best) continue;
    best = position;
    bestCover = cover;
  }
  if (!best) return {};
  std::vector<std::string> words;
  for (const std::size_t i : dimensions) {
    const std::int64_t have = std::max<std::int64_t>(0, problem.capacityAt(*best)[i]);
    const bool bare = dimensions.size() == 1 && i >= kFixedDimensions;
    words.push_back(bare ? fmt::to_string(have) : model::amountOf(problem.dimensions()[i], have));
  }
  return fmt::format("{} has {}", problem.node(*best).name, model::joinList(words));
}

std::string CapacityWords::nothingFree(std::size_t index) const {
  // The message names no node if all are equally full: one name would single it out for no reason.
  const std::vector<std::size_t> dimensions =
      named(now_, index, {0, static_cast<std::uint32_t>(nodeCount())});
  if (dimensions.size() == 1 && noneHas(index, dimensions.front()))
    return fmt::format("no node has any {} free", now_.dimensions()[dimensions.front()]);
  if (const std::string best = bestNode(now_, index); !best.empty()) return fmt::format("best node {}", best);
  const bool anyOpen = std::any_of(open_.openNow()[index].begin(), open_.openNow()[index].end(),
                                   [](char open) { return open != 0; });
  return anyOpen ? "no matching node that is large enough is available" : "no matching node is available";
}

// Whether some node is open, and no open node has any free amount of the dimension.
bool CapacityWords::noneHas(std::size_t index, std::size_t dimension) const {
  bool anyOpen = false;
  for (std::size_t position = 0; position < nodeCount(); ++position) {
    if (!open_.has(index, position, now_)) continue;
    anyOpen = true;
    if (now_.capacityAt(position)[dimension] > 0) return false;
  }
  return anyOpen;
}

}  // namespace trainyard::core
