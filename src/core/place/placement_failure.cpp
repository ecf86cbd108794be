#include "core/place/placement_failure.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/saturating.h"
#include "core/ledger/fit.h"
#include "core/place/able_domain.h"
#include "core/place/node_refusals.h"
#include "core/place/pack.h"
#include "model/message_text.h"

namespace trainyard::core {
namespace {

using Kind = PlaceProblem::Kind;
using Range = Domains::Range;
using model::PendingReason;

constexpr std::size_t kFixedDimensions = PlaceProblem::kFixedDimensions;

// The plural for several nodes: "has the taint x" becomes "have the taint x".
std::string inNumber(const std::string& text, std::int64_t count) {
  static constexpr std::pair<std::string_view, std::string_view> kVerbs[] = {
      {"has ", "have "}, {"is ", "are "}, {"does ", "do "}};
  for (const auto& [one, many] : kVerbs) {
    if (count != 1 && text.rfind(one, 0) == 0) return fmt::format("{}{}", many, text.substr(one.size()));
  }
  return text;
}

class Explanation {
 public:
  Explanation(const PlaceProblem& now, std::size_t widest, std::size_t bound)
      : now_(now),
        empty_(now.request(), now.ledger(), now.domains(), PlaceProblem::Capacity::kEmpty),
        widest_(widest),
        bound_(bound) {
    for (const Kind& kind : now.kinds()) {
      matching_.push_back(matchingNodes(kind));
      open_.push_back(openNodes(kind, matching_.back()));
    }
  }

  PlacementFailure explain() {
    for (std::size_t i = 0; i < matching_.size(); ++i) {
      if (std::find(matching_[i].begin(), matching_[i].end(), char{1}) == matching_[i].end())
        return noMatch(i);
    }
    if (!Packer(empty_).packAtLevel(bound_)) {
      widest_ = bound_;
      return tooLarge();
    }
    return waiting();
  }

 private:
  // --- the three answers

  PlacementFailure noMatch(std::size_t index) const {
    std::map<std::string, std::int64_t> counts;
    for (std::size_t position = 0; position < nodeCount(); ++position) {
      const model::Node& node = now_.node(position);
      const auto failure = templateMisfit(node, *now_.kinds()[index].shape);
      ++counts[failure ? failure->text : "is being deleted"];
    }
    std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> words;
    for (const auto& [text, count] : sorted) {
      if (words.size() == 3) break;
      words.push_back(fmt::format("{} {}", model::counted(count, "node"), inNumber(text, count)));
    }
    PlacementFailure failure;
    failure.reason = PendingReason::kNoMatchingNodes;
    failure.message = nodeCount() == 0 ? std::string("the cluster has no nodes")
                                       : fmt::format("no node matches the template of role {}: {}",
                                                     rolesOf(index), model::joinList(words));
    return failure;
  }

  PlacementFailure tooLarge() const {
    const DomainCapacity best = domainWithMostCapacity(empty_, widest_);
    PlacementFailure failure;
    failure.reason = PendingReason::kTooLarge;
    failure.message = failure.needs = needs(empty_, best.range);
    failure.shortfall = shortfall(empty_, best);
    if (const auto hopeless = kindWithoutAnyNode(empty_)) {
      failure.message += fmt::format("; the largest matching node {}", bestNode(empty_, *hopeless));
      return failure;
    }
    if (widest_ == 0) {
      failure.message += fmt::format("; the cluster {} even when empty", has(best));
    } else {
      failure.message +=
          fmt::format("; the largest {}, {}, {} even when empty", level().name, pathOf(best), has(best));
    }
    if (widest_ != 0 && level().labelled == 0)
      failure.message += fmt::format("; no node has the label {}", level().labelKey);
    return failure;
  }

  PlacementFailure waiting() {
    const bool enoughInAll = widest_ != 0 && Packer(now_).packAtLevel(0).has_value();
    const bool rightLevel = holdsWhenEmpty();
    const DomainCapacity best = rightLevel ? *able_ : domainWithMostCapacity(empty_, widest_);
    PlacementFailure failure;
    failure.reason = enoughInAll ? PendingReason::kWaitingForTopology : PendingReason::kWaitingForCapacity;
    failure.message = failure.needs = needs(now_, best.range);
    failure.shortfall = shortfall(rightLevel ? now_ : empty_, best);
    if (!rightLevel) {
      failure.message += fmt::format("; no {} can hold that: the largest, {}, {} even when empty",
                                     level().name, pathOf(best), has(best));
    } else if (const auto nowhere = kindWithoutAnyNode(now_)) {
      failure.message += "; " + nothingFree(*nowhere);
    } else if (widest_ == 0) {
      failure.message += fmt::format("; the cluster {}", has(best));
    } else {
      failure.message += fmt::format("; best {} {} {}", level().name, pathOf(best), has(best));
    }
    if (enoughInAll) failure.message += fmt::format(", the whole cluster {}", hasInAll());
    failure.message += closedNodes();
    failure.scarce = failure.shortfall->resource;
    if (rightLevel) failure.contested = contestedNodes(best);
    return failure;
  }

  // Jobs on some nodes do not block this one: on nodes where no member fits even if they are empty, and, if
  // the open nodes can hold the gang, on closed nodes.
  std::vector<std::uint32_t> contestedNodes(const DomainCapacity& best) const {
    const bool openOnly = holdsEachKind(empty_, best.range, &open_);
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t position = best.range.begin; position < best.range.end; ++position) {
      for (std::size_t i = 0; i < open_.size(); ++i) {
        if (empty_.kinds()[i].fits[position] == 0 || (openOnly && open_[i][position] == 0)) continue;
        nodes.push_back(now_.domains().nodeAt(position));
        break;
      }
    }
    return nodes;
  }

  // Finds in able_ the best domain of those that could hold the gang if they were empty. If the permitted
  // level has none, the message names the next wider level that has one, because the gang will wait for that.
  // Returns false if the gang fits there already, and only waits for permission.
  bool holdsWhenEmpty() {
    const std::size_t allowed = widest_;
    for (;; --widest_) {
      able_ = bestAble(now_, empty_, widest_, open_);
      if (able_) break;
      if (widest_ <= bound_) {
        // Only the exact search finds one; it is too slow for every domain.
        able_ = domainWithMostCapacity(now_, widest_);
        return true;
      }
    }
    if (widest_ == allowed || !Packer(now_).packAtLevel(widest_)) return true;
    widest_ = allowed;
    return false;
  }

  // --- numbers

  std::size_t nodeCount() const { return now_.domains().nodeCount(); }

  const Domains::Level& level() const { return now_.domains().levels()[widest_]; }

  std::vector<char> matchingNodes(const Kind& kind) const {
    std::vector<char> matching(nodeCount(), 0);
    const NodeOpenness openness(now_.request(), *kind.shape);
    for (std::size_t position = 0; position < matching.size(); ++position)
      matching[position] =
          openness.mayBecomeOpen(now_.domains().nodeAt(position), now_.node(position)) ? 1 : 0;
    return matching;
  }

  std::vector<char> openNodes(const Kind& kind, const std::vector<char>& matching) const {
    std::vector<char> open = matching;
    const NodeOpenness openness(now_.request(), *kind.shape);
    for (std::size_t position = 0; position < open.size(); ++position) {
      if (open[position] == 0) continue;
      const bool isOut = now_.avoided(position) || now_.closed(position);
      open[position] =
          !isOut && openness.mayUse(now_.domains().nodeAt(position), now_.node(position)) ? 1 : 0;
    }
    return open;
  }

  bool openFor(std::size_t index, std::size_t position, const PlaceProblem& problem) const {
    return (&problem == &empty_ ? matching_ : open_)[index][position] != 0;
  }

  static std::optional<std::size_t> kindWithoutAnyNode(const PlaceProblem& problem) {
    for (std::size_t i = 0; i < problem.kinds().size(); ++i) {
      const auto& fits = problem.kinds()[i].fits;
      if (std::all_of(fits.begin(), fits.end(), [](std::int64_t count) { return count == 0; })) return i;
    }
    return std::nullopt;
  }

  // The members that fit into the range if only the extended resources and dimension `extra` counted.
  std::int64_t fitsBy(const PlaceProblem& problem, std::size_t index, Range range,
                      std::optional<std::size_t> extra) const {
    const Kind& kind = problem.kinds()[index];
    std::int64_t total = 0;
    for (std::uint32_t position = range.begin; position < range.end; ++position) {
      if (!openFor(index, position, problem)) continue;
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
  std::vector<std::size_t> named(const PlaceProblem& problem, std::size_t index, Range range) const {
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
  std::size_t shortKind(const DomainCapacity& best) const {
    std::size_t index = 0;
    while (index + 1 < best.fits.size() && best.fits[index] >= now_.kinds()[index].count) ++index;
    return index;
  }

  model::Shortfall shortfall(const PlaceProblem& problem, const DomainCapacity& best) const {
    const std::size_t index = shortKind(best);
    const Kind& kind = problem.kinds()[index];
    model::Shortfall shortfall;
    shortfall.level = level().name;
    if (widest_ != 0) shortfall.domain = pathOf(best);
    const std::vector<std::size_t> dimensions = named(problem, index, best.range);
    if (dimensions.empty()) return shortfall;
    // The dimensions after the extended ones are named because they are short.
    const std::size_t scarce = dimensions.back();
    shortfall.resource = problem.dimensions()[scarce];
    shortfall.needed = base::saturatingMultiply(kind.demand[scarce], kind.count);
    for (std::uint32_t position = best.range.begin; position < best.range.end; ++position) {
      if (openFor(index, position, problem)) {
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

  // --- text

  std::string rolesOf(std::size_t index) const {
    std::string names;
    for (const std::size_t group : now_.kinds()[index].groups) {
      names += (names.empty() ? "" : "/") + now_.request().groups[group].role->name;
    }
    return names;
  }

  // Members that fill a whole node each are described as nodes.
  bool fillsNodes(std::size_t index) const {
    const Kind& kind = empty_.kinds()[index];
    if (kind.count == 1) return true;
    for (std::size_t position = 0; position < nodeCount(); ++position) {
      if (matching_[index][position] != 0 && empty_.timesCovered(kind, empty_.capacityAt(position), 2) > 1)
        return false;
    }
    return true;
  }

  std::string resourcesOf(const PlaceProblem& problem, std::size_t index, Range range) const {
    std::vector<std::string> words;
    for (const std::size_t i : named(problem, index, range)) {
      words.push_back(model::amountOf(problem.dimensions()[i], problem.kinds()[index].demand[i]));
    }
    return model::joinList(words);
  }

  std::string needs(const PlaceProblem& problem, Range range) const {
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
    if (widest_ == now_.domains().nodeLevel())
      where = " on one node";
    else if (widest_ != 0)
      where = fmt::format(" in one {}", level().name);
    return fmt::format("needs {}{}", model::joinList(parts), members > 1 ? where : "");
  }

  // "has 3", "can hold 9", "can hold 3 and 2"
  std::string has(const DomainCapacity& best) const {
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

  // For a gang that would fit if it could spread over the whole cluster.
  std::string hasInAll() const {
    if (now_.kinds().size() > 1) return "can hold all";
    return has(capacityIn(now_, {0, static_cast<std::uint32_t>(nodeCount())}));
  }

  std::string pathOf(const DomainCapacity& best) const {
    return now_.domains().path(widest_, best.range.begin);
  }

  // "n3 has 5" or "n3 has 8 nvidia.com/gpu and 100Gi memory": the node that comes closest to one member.
  std::string bestNode(const PlaceProblem& problem, std::size_t index) const {
    const Range all{0, static_cast<std::uint32_t>(nodeCount())};
    const std::vector<std::size_t> dimensions = named(problem, index, all);
    const Kind& kind = problem.kinds()[index];
    std::optional<std::size_t> best;
    double bestCover = -1;
    for (std::size_t position = 0; position < nodeCount(); ++position) {
      if (!openFor(index, position, problem)) continue;
      if (&problem == &now_ && empty_.kinds()[index].fits[position] == 0) continue;
      double cover = 1;
      for (const std::size_t i : dimensions) {
        cover = std::min(cover, static_cast<double>(problem.capacityAt(position)[i]) /
                                    static_cast<double>(kind.demand[i]));
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

  std::string nothingFree(std::size_t index) const {
    // The message names no node if all are equally full: one name would single it out for no reason.
    const std::vector<std::size_t> dimensions =
        named(now_, index, {0, static_cast<std::uint32_t>(nodeCount())});
    if (dimensions.size() == 1 && noneHas(index, dimensions.front()))
      return fmt::format("no node has any {} free", now_.dimensions()[dimensions.front()]);
    if (const std::string best = bestNode(now_, index); !best.empty())
      return fmt::format("best node {}", best);
    const bool anyOpen =
        std::any_of(open_[index].begin(), open_[index].end(), [](char open) { return open != 0; });
    return anyOpen ? "no matching node that is large enough is available" : "no matching node is available";
  }

  // Whether some node is open, and no open node has any free amount of the dimension.
  bool noneHas(std::size_t index, std::size_t dimension) const {
    bool anyOpen = false;
    for (std::size_t position = 0; position < nodeCount(); ++position) {
      if (!openFor(index, position, now_)) continue;
      anyOpen = true;
      if (now_.capacityAt(position)[dimension] > 0) return false;
    }
    return anyOpen;
  }

  // The closed nodes that would help if they were reopened.
  std::string closedNodes() const {
    std::map<std::string, std::int64_t> counts;
    std::int64_t total = 0;
    for (std::size_t position = 0; position < nodeCount(); ++position) {
      const auto why = closedFor(position);
      if (!why) continue;
      ++counts[*why];
      ++total;
    }
    if (total == 0) return {};
    std::vector<std::string> words;
    for (const auto& [text, count] : counts) {
      words.push_back(counts.size() == 1 ? inNumber(text, count)
                                         : fmt::format("{} {}", count, inNumber(text, count)));
    }
    return fmt::format("; {} {} free capacity but {}", model::counted(total, "more node"),
                       total == 1 ? "has" : "have", model::joinList(words));
  }

  std::optional<std::string> closedFor(std::size_t position) const {
    for (std::size_t i = 0; i < now_.kinds().size(); ++i) {
      const Kind& kind = now_.kinds()[i];
      if (matching_[i][position] == 0 || open_[i][position] != 0 ||
          now_.timesCovered(kind, now_.capacityAt(position), 1) == 0)
        continue;
      if (const auto failure = nodeMisfit(now_.node(position), *kind.shape)) return failure->text;
      if (now_.closed(position)) return "has a GPU type that would exceed the limit of the job's queue";
      if (now_.avoided(position)) return "is avoided after the last attempt";
    }
    return std::nullopt;
  }

  const PlaceProblem& now_;
  PlaceProblem empty_;
  std::size_t widest_;  // the level that the message names
  std::size_t bound_;
  std::vector<std::vector<char>> matching_;  // per kind, by position: the template matches
  std::vector<std::vector<char>> open_;      // and the node is open now
  std::optional<DomainCapacity> able_;       // holdsWhenEmpty()
};

}  // namespace

PlacementFailure explainNoPlacement(const PlaceProblem& problem, std::size_t widest, std::size_t bound) {
  return Explanation(problem, widest, bound).explain();
}

PlacementFailure unknownLevel(const std::string& required, const Domains& domains) {
  std::vector<std::string> names;
  for (std::size_t level = 1; level < domains.levels().size(); ++level)
    names.push_back(domains.levels()[level].name);
  PlacementFailure failure;
  failure.reason = PendingReason::kNoMatchingNodes;
  failure.message = model::noSuchLevel("spec.locality.required", required, names);
  return failure;
}

}  // namespace trainyard::core
