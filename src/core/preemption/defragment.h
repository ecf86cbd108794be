#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/place/gang_placer.h"
#include "core/preemption/victims.h"
#include "core/queues/eligibility.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// A running gang and where it goes on.
struct GangMove {
  std::shared_ptr<const model::Job> job;
  Placement placement;
};

// Places for a gang that waits, once others have moved.
struct Rearrangement {
  Placement placement;
  std::vector<GangMove> moves;
};

// Room for a gang that waits although enough is free, by moving one or two that run.
//
// Assumes: what is free suffices for the gang, but lies apart, and nobody can be stopped for it. Whole gangs
// are moved: each loses what it did since its last start, and kRestart. A job of unknown length ends about as
// late again as it is old, an hour at first (as in core/order/order_policy.h). Steps: 1 who may be moved:
// whoever may be stopped by now (core/queues/eligibility.h), of no higher priority than the gang; not out of
// a queue that forbids stopping within it, nor out of another one that is within its guarantee. 2 the
// cheapest one, and then the cheapest two that cost less, after which the gang has its places and each of
// them new ones in what is left, at once and within all quotas; kMostMovable of them, kMostTries questions. 3
// they move if the gang's GPUs, for as long as it would wait else but no longer than it runs, are worth the
// policy's gain times what is lost. Ties: fewer moves, then namespace and name.
//
// New places never rest on what the gang, or another move, is given at the same time: records count each
// room once (core/ledger/ledger.h). (Lost: three and more at a time. Each is a program that starts anew, and
// the sets to try grow with every one.)
inline constexpr std::chrono::seconds kYoung{3'600};
inline constexpr std::size_t kMostMovable = 32;
inline constexpr int kMostTries = 40;

struct DefragmentInput {
  const model::Snapshot& snapshot;
  Ledger& ledger;     // as it was afterwards
  QueueTree& queues;  // as it was afterwards
  const Domains& domains;
  GangPlacer& placer;
};

// `stoppable`: who may be stopped by now at all. `widest`: how wide the claimant may be placed.
[[nodiscard]] std::optional<Rearrangement> defragment(const DefragmentInput& input, const Claimant& claimant,
                                                      std::size_t widest,
                                                      const std::vector<Evictable>& stoppable);

}  // namespace trainyard::core
