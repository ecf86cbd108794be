#include "model/constraints.h"

#include <algorithm>

namespace trainyard::model {

Labels::Labels(std::vector<std::pair<std::string, std::string>> entries) : entries_(std::move(entries)) {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  // Keeps the last of equal keys: unique() from the back.
  const auto keptFrom = std::unique(entries_.rbegin(), entries_.rend(),
                                    [](const auto& a, const auto& b) { return a.first == b.first; });
  entries_.erase(entries_.begin(), keptFrom.base());
}

const std::string* Labels::find(std::string_view key) const {
  const auto at =
      std::lower_bound(entries_.begin(), entries_.end(), key,
                       [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return at != entries_.end() && at->first == key ? &at->second : nullptr;
}

namespace {

std::size_t countTerms(const std::vector<NodeSelectorTerm>& terms) {
  std::size_t words = 0;
  for (const NodeSelectorTerm& term : terms) {
    words += term.fields.size();
    for (const SelectorRequirement& each : term.labels) words += 1 + each.values.size();
  }
  return words;
}

}  // namespace

std::size_t selectorTerms(const PodShape& shape) {
  return shape.nodeSelector.entries().size() + (shape.affinity ? countTerms(*shape.affinity) : 0) +
         countTerms(shape.preferred);
}

std::size_t constraintTerms(const PodShape& shape) {
  std::size_t words = selectorTerms(shape) + shape.tolerations.size();
  for (const auto& terms : shape.volumeAffinity) words += countTerms(terms);
  return words;
}

}  // namespace trainyard::model
