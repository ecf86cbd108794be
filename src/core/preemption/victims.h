#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "core/preemption/candidate.h"
#include "core/search/gang_placer.h"

namespace trainyard::core {

// Indices into a list of concessions.
using Chosen = std::vector<std::size_t>;

struct VictimChoice {
  Chosen victims;
  Placement placement;
};

// Which gangs are preempted so that the whole gang has a placement. Empty if even all candidates together do
// not help, so that no gang is preempted in vain.
//
// Assumes: whole gangs are preempted; a preemption only adds free capacity, so more
// victims never fit worse. But gangs that may each be preempted may not be preempted
// together: a queue gives back no more than it borrowed.
//
// The best set leaves no queue below its guarantee; then has the fewest gangs; then the lowest priorities, in
// the preemptor's own queue; then the least cost; then the first names. Steps:
//  1 with all candidates gone the gang must fit
//  2 of `together`, three starting points: the shortest run of the cheapest that suffices, that of the gangs
//    that free most, both by bisection; and, domain by domain, the nodes that the fewest gangs hold
//  3 of each, only those victims stay that hold nodes of the placement, or quota that it needs; then the most
//    expensive first is spared if the rest suffices, up to kMaxSpared
//  4 with up to kExactCandidates candidates all smaller and equally small sets are tried, so that the
//    answer is the best there is; at most kTriedSets placements. Subsets of what does not suffice,
//    and supersets of what may not be preempted together, are skipped. With more candidates, each
//    single one that frees enough, up to kTriedAlone
// (Rejected: exact search always. Victims are a weighted cover problem; clusters have thousands of
// candidates, and a cycle takes some milliseconds.)
struct VictimQuestion {
  const model::Job& preemptor;
  QueueTree::Index queue = QueueTree::kCluster;  // of the preemptor
  std::int64_t gpus = 0;                         // that it requests
  std::size_t widest = 0;                        // how wide it may be placed
  // Each may be preempted alone; sorted, the cheapest first (sortByCost()).
  const std::vector<Candidate>& candidates;
  // Those that may all be preempted in that order, as may any subset of them.
  const Chosen& together;
  Ledger& ledger;  // unchanged afterwards
  GangPlacer& placer;
  // Whether quotas permit the gang without these victims, on the given placement if
  // there is one. More victims never permit less.
  const std::function<bool(const Chosen&, const Placement*)>& quotaAllows;
  // A placement in the ledger as it is, permitted by the quotas without these victims.
  const std::function<std::optional<Placement>(const Chosen&)>& place;
  // Whether these may all be preempted for the gang, in some order.
  const std::function<bool(const Chosen&)>& mayPreemptAll;
  // By how much other queues fall below their guarantees (GuaranteeDeficit).
  const std::function<std::int64_t(const Chosen&)>& deficit;
};
[[nodiscard]] std::optional<VictimChoice> chooseVictims(const VictimQuestion& question);

inline constexpr std::size_t kExactCandidates = 10;
inline constexpr std::size_t kTriedAlone = 32;
inline constexpr int kTriedSets = 200;
inline constexpr int kMaxSpared = 32;

}  // namespace trainyard::core
