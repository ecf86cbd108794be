#include "core/place/matching_nodes.h"

#include <algorithm>

#include "core/ledger/node_misfit.h"
#include "core/place/node_refusals.h"

namespace trainyard::core {

MatchingNodes::MatchingNodes(const PlaceProblem& now, const PlaceProblem& empty) : now_(now), empty_(empty) {
  for (const Kind& kind : now.kinds()) {
    matching_.push_back(matchingNodes(kind));
    open_.push_back(openNodes(kind, matching_.back()));
  }
}

std::optional<std::size_t> MatchingNodes::kindWithoutMatch() const {
  for (std::size_t i = 0; i < matching_.size(); ++i) {
    if (std::find(matching_[i].begin(), matching_[i].end(), char{1}) == matching_[i].end()) return i;
  }
  return std::nullopt;
}

std::vector<char> MatchingNodes::matchingNodes(const Kind& kind) const {
  std::vector<char> matching(now_.domains().nodeCount(), 0);
  const NodeOpenness openness(now_.request(), *kind.shape);
  for (std::size_t position = 0; position < matching.size(); ++position)
    matching[position] = openness.mayBecomeOpen(now_.domains().nodeAt(position), now_.node(position)) ? 1 : 0;
  return matching;
}

std::vector<char> MatchingNodes::openNodes(const Kind& kind, const std::vector<char>& matching) const {
  std::vector<char> open = matching;
  const NodeOpenness openness(now_.request(), *kind.shape);
  for (std::size_t position = 0; position < open.size(); ++position) {
    if (open[position] == 0) continue;
    const bool isOut = now_.avoided(position) || now_.closed(position);
    open[position] = !isOut && openness.mayUse(now_.domains().nodeAt(position), now_.node(position)) ? 1 : 0;
  }
  return open;
}

std::optional<std::string> MatchingNodes::closedFor(std::size_t position) const {
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

}  // namespace trainyard::core
