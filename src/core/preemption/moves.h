#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/gang_placer.h"
#include "core/preemption/concession.h"
#include "core/queues/eligibility.h"
#include "core/queues/queue_tree.h"
#include "core/timeline/ends.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Room for a gang that waits although enough is free, by moving one or two that run (defragmentation).
//
// Assumes: what is free suffices for the gang, but lies apart, and nobody can be stopped for it. Whole gangs
// are moved: each loses what a stop costs it. Ends are expected as core/timeline/ends.h says. Steps: 1 who
// may be moved: whoever may be stopped by now (core/queues/eligibility.h), of no higher priority than the
// gang; not out of a queue that forbids stopping within it, nor out of another one that is within its
// guarantee, or below one that is: a move costs as much as a stop. 2 the cheapest one, and then the cheapest
// two that cost less, after which the gang has its places and each of them new ones in what is left, at once
// and within all quotas; kMostMovable of them, kMostTries questions. 3 they move if the gang's GPUs, for as
// long as it would wait else but no longer than it runs, are worth the policy's gain times what is lost.
// Ties: fewer moves, then namespace and name.
//
// New places never rest on what the gang, or another move, is given at the same time: records count each
// room once (core/ledger/ledger.h). (Lost: three and more at a time. Each is a program that starts anew, and
// the sets to try grow with every one.)
inline constexpr std::size_t kMostMovable = 32;
inline constexpr int kMostTries = 40;

struct MoveQuestion {
  const model::Snapshot& snapshot;
  Ledger& ledger;     // as it was afterwards
  QueueTree& queues;  // as it was afterwards
  GangPlacer& placer;
  Ends& ends;
  RunTimeModel& runs;
};

// `stoppable`: who may be stopped by now at all. `widest`: how wide the claimant may be placed.
[[nodiscard]] std::optional<Claim> chooseMoves(const MoveQuestion& question, const Claimant& claimant,
                                               std::size_t widest,
                                               const std::vector<const Concession*>& stoppable);

}  // namespace trainyard::core
