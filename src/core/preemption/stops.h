#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "core/place/gang_placer.h"
#include "core/preemption/concession.h"

namespace trainyard::core {

// Indices into a list of concessions.
using Chosen = std::vector<std::size_t>;

struct StopChoice {
  Chosen victims;
  Placement placement;
};

// Who must stop so that the whole gang has its places; nothing when even all candidates together do not help,
// so nobody is ever stopped in vain.
//
// Assumes: only whole gangs are stopped; whoever goes makes room only, so more victims never fit worse. But
// not everybody who may be stopped may be stopped together with others: a queue gives back no more than it
// borrowed.
//
// Best is: no queue falls below its guarantee; then the fewest gangs; then the lowest priorities, in its own
// queue; then the least cost; then names. Steps:
//  1 with all candidates gone the gang must fit
//  2 of `together`, three ways to begin: the shortest run of the cheapest, and of those that free most, that
//    suffices, by bisection; and, domain by domain, the nodes that the fewest gangs must leave
//  3 of each, only those stay whose nodes the gang then takes, or whose quota it needs; then the dearest
//    first is spared where the rest suffices, up to kMostSpared
//  4 with up to kExactCandidates candidates all smaller and equally small sets are tried, so that the answer
//    is the best there is; no more than kTriedSets placements. Parts of what does not suffice, and more than
//    what may not be stopped together, are left out unasked. With more candidates, each single one that frees
//    enough, up to kTriedAlone
// (Lost: exact search always. Victims are a weighted cover problem; clusters have thousands of candidates,
// and a cycle some milliseconds.)
struct StopQuestion {
  const model::Job& claimant;
  QueueTree::Index queue = QueueTree::kCluster;  // of the claimant
  std::int64_t gpus = 0;                         // that it wants
  std::size_t widest = 0;                        // how wide it may be placed
  // Each may be stopped alone; sorted, cheapest first (sortByCost()).
  const std::vector<Concession>& candidates;
  // Those that may all be stopped, in that order too, as may any of them.
  const Chosen& together;
  Ledger& ledger;  // as it was afterwards
  GangPlacer& placer;
  // Whether quotas permit the gang when these are gone, on the places if there are any; more victims never
  // permit less.
  const std::function<bool(const Chosen&, const Placement*)>& quotaAllows;
  // Its places in the ledger as it is, which quotas permit when these are gone.
  const std::function<std::optional<Placement>(const Chosen&)>& place;
  // Whether these may be stopped for the gang, in whatever order.
  const std::function<bool(const Chosen&)>& mayStopAll;
  // GPUs by which others' queues fall below their guarantees.
  const std::function<std::int64_t(const Chosen&)>& deficit;
};
[[nodiscard]] std::optional<StopChoice> chooseStops(const StopQuestion& question);

inline constexpr std::size_t kExactCandidates = 10;
inline constexpr std::size_t kTriedAlone = 32;
inline constexpr int kTriedSets = 200;
inline constexpr int kMostSpared = 32;

}  // namespace trainyard::core
