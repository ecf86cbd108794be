#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/place/place.h"
#include "core/queues/queue_tree.h"

namespace trainyard::core {

// A running gang that may be stopped for the one in question.
struct Evictable {
  std::shared_ptr<const model::Job> job;
  int priority = 0;
  std::int64_t lostWork = 0;     // GPU seconds
  QueueTree::Amounts held = {};  // of its queue, QueueTree::holdingsOf()
  NodeAmounts holds = {};        // roomHeldBy(); left empty where nobody may stop it
};

struct VictimChoice {
  std::vector<std::size_t> victims;  // indices into the candidates
  Placement placement;
};

// Who must go so that the whole gang has its places; nothing when even all candidates together do not help,
// so nobody is ever stopped in vain.
//
// Assumes: only whole gangs are stopped; whoever goes makes room only, so more victims never fit worse. But
// not everybody who may be stopped may be stopped together with others: a queue gives back no more than it
// borrowed. Steps: 1 with all candidates gone the gang must fit; 2 the shortest run of the cheapest among
// `together` that suffices, by bisection; 3 of those the dearest first is spared where the rest suffices; 4
// with up to kExactCandidates candidates all smaller and equally small sets are tried, so that the answer is
// the best there is: fewest victims, then least lost work, then names; no more than kTriedSets placements.
// With more candidates, each single one that may do alone is tried, up to kTriedAlone. (Lost: exact search
// always. Victims are a weighted cover problem; clusters have hundreds of candidates, and a cycle some
// milliseconds.)
//
// `quotaAllows` says whether quotas permit the gang when these are gone; more victims never permit less.
struct VictimQuestion {
  // Each may be stopped alone; sorted, cheapest first (see sortByCost).
  const std::vector<Evictable>& candidates;
  // Indices of such as may all be stopped, in that order too, as may any of them.
  const std::vector<std::size_t>& together;
  Ledger& ledger;  // as it was afterwards
  const std::function<std::optional<Placement>()>& tryPlace;
  const std::function<bool(const std::vector<std::size_t>&)>& quotaAllows;
  // Whether these may be stopped for the gang, in whatever order.
  const std::function<bool(const std::vector<std::size_t>&)>& mayStopAll;
};
[[nodiscard]] std::optional<VictimChoice> chooseVictims(const VictimQuestion& question);

// Lower priority, then less lost work, then namespace and name.
void sortByCost(std::vector<Evictable>& candidates);

inline constexpr std::size_t kExactCandidates = 10;
inline constexpr std::size_t kTriedAlone = 32;
inline constexpr int kTriedSets = 200;

}  // namespace trainyard::core
