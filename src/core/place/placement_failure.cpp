#include "core/place/placement_failure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/ledger/node_misfit.h"
#include "core/place/able_domain.h"
#include "core/place/capacity_words.h"
#include "core/place/matching_nodes.h"
#include "core/place/packer.h"
#include "model/message_text.h"

namespace trainyard::core {
namespace {

using model::PendingReason;

// The plural for several nodes: "has the taint x" becomes "have the taint x".
std::string inNumber(const std::string& text, std::int64_t count) {
  static constexpr std::pair<std::string_view, std::string_view> kVerbs[] = {
      {"has ", "have "}, {"is ", "are "}, {"does ", "do "}};
  for (const auto& [one, many] : kVerbs) {
    if (count != 1 && text.rfind(one, 0) == 0) return fmt::format("{}{}", many, text.substr(one.size()));
  }
  return text;
}

std::optional<std::size_t> kindWithoutAnyNode(const PlaceProblem& problem) {
  for (std::size_t i = 0; i < problem.kinds().size(); ++i) {
    const auto& fits = problem.kinds()[i].fits;
    if (std::all_of(fits.begin(), fits.end(), [](std::int64_t count) { return count == 0; })) return i;
  }
  return std::nullopt;
}

class Explanation {
 public:
  Explanation(const PlaceProblem& now, std::size_t widest, std::size_t bound)
      : now_(now),
        empty_(now.request(), now.ledger(), now.domains(), PlaceProblem::Capacity::kEmpty),
        open_(now_, empty_),
        words_(now_, empty_, open_),
        widest_(widest),
        bound_(bound) {}

  PlacementFailure explain() {
    if (const auto kind = open_.kindWithoutMatch()) return noMatch(*kind);
    if (!Packer(empty_).packAtLevel(bound_)) return tooLarge();
    return waiting();
  }

 private:
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
    std::vector<std::string> reasons;
    for (const auto& [text, count] : sorted) {
      if (reasons.size() == 3) break;
      reasons.push_back(fmt::format("{} {}", model::counted(count, "node"), inNumber(text, count)));
    }
    PlacementFailure failure;
    failure.reason = PendingReason::kNoMatchingNodes;
    failure.message = nodeCount() == 0 ? std::string("the cluster has no nodes")
                                       : fmt::format("no node matches the template of role {}: {}",
                                                     words_.rolesOf(index), model::joinList(reasons));
    return failure;
  }

  PlacementFailure tooLarge() const {
    const DomainCapacity best = domainWithMostCapacity(empty_, bound_);
    PlacementFailure failure;
    failure.reason = PendingReason::kTooLarge;
    failure.message = failure.needs = words_.needs(empty_, best.range, bound_);
    failure.shortfall = words_.shortfall(empty_, best, bound_);
    if (const auto hopeless = kindWithoutAnyNode(empty_)) {
      failure.message += fmt::format("; the largest matching node {}", words_.bestNode(empty_, *hopeless));
      return failure;
    }
    if (bound_ == 0) {
      failure.message += fmt::format("; the cluster {} even when empty", words_.has(best));
    } else {
      failure.message += fmt::format("; the largest {}, {}, {} even when empty", levelAt(bound_).name,
                                     pathOf(bound_, best), words_.has(best));
    }
    if (bound_ != 0 && levelAt(bound_).labelled == 0)
      failure.message += fmt::format("; no node has the label {}", levelAt(bound_).labelKey);
    return failure;
  }

  PlacementFailure waiting() {
    const bool enoughInAll = widest_ != 0 && Packer(now_).packAtLevel(0).has_value();
    const auto& [level, best, waitsOnlyForPermission] = domainToWaitFor();
    PlacementFailure failure;
    failure.reason = enoughInAll ? PendingReason::kWaitingForTopology : PendingReason::kWaitingForCapacity;
    failure.message = failure.needs = words_.needs(now_, best.range, level);
    failure.shortfall = words_.shortfall(waitsOnlyForPermission ? empty_ : now_, best, level);
    if (waitsOnlyForPermission) {
      failure.message += fmt::format("; no {} can hold that: the largest, {}, {} even when empty",
                                     levelAt(level).name, pathOf(level, best), words_.has(best));
    } else if (const auto nowhere = kindWithoutAnyNode(now_)) {
      failure.message += "; " + words_.nothingFree(*nowhere);
    } else if (level == 0) {
      failure.message += fmt::format("; the cluster {}", words_.has(best));
    } else {
      failure.message +=
          fmt::format("; best {} {} {}", levelAt(level).name, pathOf(level, best), words_.has(best));
    }
    if (enoughInAll) failure.message += fmt::format(", the whole cluster {}", words_.hasInAll());
    failure.message += closedNodes();
    failure.scarce = failure.shortfall->resource;
    if (!waitsOnlyForPermission) failure.contested = contestedNodes(best);
    return failure;
  }

  // Jobs on some nodes do not block this one: on nodes where no member fits even if they are empty, and, if
  // the open nodes can hold the gang, on closed nodes.
  std::vector<std::uint32_t> contestedNodes(const DomainCapacity& best) const {
    const bool openOnly = holdsEachKind(empty_, best.range, &open_.openNow());
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t position = best.range.begin; position < best.range.end; ++position) {
      for (std::size_t i = 0; i < open_.openNow().size(); ++i) {
        if (empty_.kinds()[i].fits[position] == 0 || (openOnly && open_.openNow()[i][position] == 0))
          continue;
        nodes.push_back(now_.domains().nodeAt(position));
        break;
      }
    }
    return nodes;
  }

  struct AwaitedDomain {
    std::size_t level = 0;
    DomainCapacity domain;
    bool waitsOnlyForPermission = false;  // the gang fits at a wider level already
  };

  // Returns the best domain of those that could hold the gang if they were empty. If the permitted level has
  // none, that is a domain of the next wider level that has one, because the gang will wait for that. If the
  // gang fits there already, it is the largest domain of the permitted level.
  AwaitedDomain domainToWaitFor() const {
    for (std::size_t level = widest_;; --level) {
      if (auto able = bestAble(now_, empty_, level, open_.openNow())) {
        if (level == widest_ || !Packer(now_).packAtLevel(level)) return {level, std::move(*able), false};
        return {widest_, domainWithMostCapacity(empty_, widest_), true};
      }
      // Only the exact search finds one; it is too slow for every domain.
      if (level <= bound_) return {level, domainWithMostCapacity(now_, level), false};
    }
  }

  std::size_t nodeCount() const { return now_.domains().nodeCount(); }

  const Domains::Level& levelAt(std::size_t level) const { return now_.domains().levels()[level]; }

  std::string pathOf(std::size_t level, const DomainCapacity& best) const {
    return now_.domains().path(level, best.range.begin);
  }

  // The closed nodes that would help if they were reopened.
  std::string closedNodes() const {
    std::map<std::string, std::int64_t> counts;
    std::int64_t total = 0;
    for (std::size_t position = 0; position < nodeCount(); ++position) {
      const auto why = open_.closedFor(position);
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

  const PlaceProblem& now_;
  PlaceProblem empty_;
  MatchingNodes open_;
  CapacityWords words_;
  const std::size_t widest_;  // the widest level that is permitted now
  const std::size_t bound_;   // and ever
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
