#include "core/schedule/failed_searches.h"

namespace trainyard::core {

void FailedSearches::onStart() {
  claims_.clear();
  guaranteedClaims_.clear();
  shrinks_.clear();
  unplaced_.clear();
  heldBack_.clear();
}

bool FailedSearches::hasShrink(const EquivalenceKey& key, double expectedRun) const {
  const auto failed = shrinks_.find(key);
  return failed != shrinks_.end() && expectedRun >= failed->second;
}

std::optional<std::size_t> FailedSearches::unplaced(const EquivalenceKey& key) const {
  const auto equal = unplaced_.find(key);
  return equal == unplaced_.end() ? std::nullopt : std::optional(equal->second);
}

std::optional<FailedSearches::HeldBack> FailedSearches::heldBack(const HeldBackKey& key,
                                                                 std::chrono::seconds run) const {
  const auto equal = heldBack_.find(key);
  if (equal == heldBack_.end() || run < equal->second.run) return std::nullopt;
  return equal->second;
}

}  // namespace trainyard::core
