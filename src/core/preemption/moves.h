#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/preemption/candidate.h"
#include "core/queues/eligibility.h"
#include "core/queues/queue_tree.h"
#include "core/search/gang_placer.h"
#include "core/timeline/ends.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Places a pending gang by moving one or two running gangs when enough capacity is free (defragmentation).
//
// Assumes: the free capacity suffices for the gang, but is fragmented, and no gang can be preempted for it.
// Whole gangs move: each loses what a preemption costs it. Ends are expected as in core/timeline/ends.h.
// Steps: 1 a gang may move if it may be preempted by now (core/queues/eligibility.h) and has no higher
// priority; not out of the same queue if that forbids preemption within it, nor out of another queue that is
// within its guarantee, or below one that is: a move costs as much as a preemption. 2 Take the cheapest
// gang, then the cheapest pair that costs less, after which the pending gang and the moved ones have
// placements, at once and within all quotas; kMaxMovable gangs, kMaxTries tries. 3 They move if the
// pending gang's GPUs, times the shorter of its wait and its run, are worth the policy's gain times the
// loss. Ties: fewer moves, then namespace and name.
//
// A new placement never depends on capacity that the pending gang, or another move, releases at the same
// time: records count all capacity once (core/ledger/ledger.h). (Rejected: three and more at a time. Each is
// a program that restarts, and the number of sets grows with each.)
inline constexpr std::size_t kMaxMovable = 32;
inline constexpr int kMaxTries = 40;

struct MoveQuestion {
  const model::Snapshot& snapshot;
  Ledger& ledger;     // unchanged afterwards
  QueueTree& queues;  // unchanged afterwards
  GangPlacer& placer;
  Ends& ends;
  RunTimeModel& runs;
};

// `preemptibleNow`: gangs that may be preempted by now. `widest`: how wide the preemptor may be placed.
[[nodiscard]] std::optional<Claim> chooseMoves(const MoveQuestion& question, const Preemptor& preemptor,
                                               std::size_t widest,
                                               const std::vector<const Candidate*>& preemptibleNow);

}  // namespace trainyard::core
