#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/domains.h"
#include "core/ledger.h"
#include "core/place.h"
#include "core/what_if.h"

namespace trainyard::core {

// A running gang that may be stopped for the one in question.
struct Evictable {
  std::shared_ptr<const model::Job> job;
  int priority = 0;
  std::int64_t lostWork = 0;  // GPU seconds
  NodeAmounts holds;
};

struct VictimChoice {
  std::vector<std::size_t> victims;  // indices into the candidates
  Placement placement;
};

// Who must go so that the whole gang has its places; nothing when even all candidates together do not help,
// so nobody is ever stopped in vain.
//
// Assumes: only whole gangs are stopped; whoever goes makes room only, so more victims never fit worse.
// Steps: 1 with all candidates gone the gang must fit; 2 the shortest run of the cheapest that suffices, by
// bisection; 3 of those the dearest first is spared where the rest suffices; 4 with up to kExactCandidates
// candidates all smaller and equally small sets are tried, so that the answer is the best there is: fewest
// victims, then least lost work, then names. With more candidates, each single one that may do alone is
// tried, up to kTriedAlone. (Lost: exact search always. Victims are a weighted cover problem; clusters have
// hundreds of candidates, and a cycle some milliseconds.)
//
// `quotaAllows` says whether quotas permit the gang when these are gone; more victims never permit less.
// `candidates` are sorted, cheapest first (see sortByCost).
[[nodiscard]] std::optional<VictimChoice> chooseVictims(
    const std::vector<Evictable>& candidates, Ledger& ledger,
    const std::function<std::optional<Placement>()>& tryPlace,
    const std::function<bool(const std::vector<std::size_t>&)>& quotaAllows);

// Lower priority, then less lost work, then namespace and name.
void sortByCost(std::vector<Evictable>& candidates);

inline constexpr std::size_t kExactCandidates = 10;
inline constexpr std::size_t kTriedAlone = 32;

}  // namespace trainyard::core
