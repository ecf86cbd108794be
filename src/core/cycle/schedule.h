#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/cycle/resizes.h"
#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/change.h"
#include "core/place/place.h"
#include "core/place/placement_cache.h"
#include "core/queues/queue_tree.h"
#include "core/timeline/limit_hold.h"
#include "model/snapshot.h"

namespace trainyard::core {

// A job that is admitted and has no places.
struct WaitingJob {
  std::shared_ptr<const model::Job> job;
  // Keeps its turn, but nothing can be written for it now.
  bool silent = false;
};

struct GangWait {
  std::shared_ptr<const model::Job> job;
  bool silent = false;
  std::shared_ptr<const model::Pending> pending;  // shared by jobs that wait for the same
  bool behindStarting = false;                    // waits for nothing but its turn to be started
  std::size_t position = 0;                       // in the snapshot
};

// A gang whose claim is under way and that has to leave its places to another one.
struct GangYield {
  std::shared_ptr<const model::Job> job;
  model::ObjectKey to;
};

// What a Queue object should say of itself.
struct QueueNews {
  std::shared_ptr<const model::Queue> queue;
  model::QueueStatus status;
  friend bool operator==(const QueueNews&, const QueueNews&) = default;
};

// The nodes that somebody who keeps a reservation may use at all.
struct KeptPool {
  model::ObjectKey holder;
  QueueTree::Index queue = QueueTree::kCluster;  // the holder's
  int priority = 0;
  std::vector<char> nodes;  // by their index in the ledger
};

struct Schedule {
  // Those that pay for a start come before it; growth and shrinking that pay for nobody come last.
  std::vector<Change> changes;
  std::vector<GangWait> waits;
  std::vector<GangYield> yields;
  std::vector<QueueNews> queues;  // those that have changed
  std::optional<base::WallTime> wakeAt = std::nullopt;
  std::optional<SizeTerms> sizes = std::nullopt;  // resizeGangs()
  std::int64_t fairnessLossPermille = 0;          // QueueReport::fairnessLossPermille()
  std::vector<KeptPool> keptPools = {};
  std::vector<LimitHold> keptBelow = {};

  // For whom of those who wait these places are kept from a gang that wants more members, or room below a
  // limit that they would take; nullptr: for nobody. As of who starts nothing is kept from whose queue is
  // guaranteed them, nor for who has a lower priority in the same queue. No other rule lets it pass: who
  // waits goes before who runs.
  [[nodiscard]] const model::ObjectKey* keptFor(const model::Job& job, int priority,
                                                const std::vector<model::Assignment>& places,
                                                const Ledger& ledger, const QueueTree& tree) const;
};

struct ScheduleRequest {
  const model::Snapshot& snapshot;
  Ledger& ledger;  // what starts is taken from it
  const Domains& domains;
  QueueTree& queues;  // of this snapshot; what starts is charged to it
  PlacementCache& cache;
  // The start of the unbroken period in which reservations have existed; absent if none exists. Read and
  // updated. A new leader, which has no value, takes the time of the oldest holder's reservation.
  std::optional<base::WallTime>& reservedSince;
  std::vector<WaitingJob> waiting;  // jobs of the snapshot
  // Placed gangs whose record this cycle changes already, or that end: none of them is asked for room, or
  // gets another size.
  std::set<const model::Job*> changing = {};
  // Members on their way already, from reserved to bound, by namespace.
  std::map<std::string, std::int64_t> startingMembers = {};
  // No further gang starts once so many are, but in a namespace that has less than its part of them.
  std::int64_t mostStartingMembers = 0;
};

// Who starts, where, and at whose cost; why everybody else waits. The scheduling mind, without protocol: the
// replay of traces and what is foretold (core/cycle/foresee.h) ask it in the same way as the operator's
// cycle. Phases, as numbered in docs/architecture.md:
//  3 shares    the queue tree with what each queue holds (core/queues/queue_tree.h, core/queues/fair_share.h)
//  4 order     between queues whoever keeps a reservation first, the oldest before the others; then the
//              smallest weighted dominant share above the guarantee, counted with the job in question, branch
//              by branch from the top; in a queue priority, then the policy's order, then earlier creation.
//              Ties: earlier creation, then namespace and name.
//  5 place     whole gangs only (core/place/place.h); an elastic one with as many members as its user wishes,
//              else with as many as find room, down to its least
//  6 make room for a job that has no places: who shrinks for it (core/preemption/shrinks.h); where it is
//              entitled to (core/queues/eligibility.h) the fewest, cheapest who stop for it
//              (core/preemption/stops.h); its places are then kept, but for a job of higher priority in the
//              same queue that would fit there. For the first job that has to wait, where room is free but
//              lies apart: whoever goes elsewhere for it (core/preemption/moves.h)
//  7 reserve   the first job that has to wait for room in a pool of nodes, or below a limit, keeps a
//              reservation; others pass it only where it lets them (core/timeline/reservation.h,
//              core/timeline/limit_hold.h)
//  8 resize    elastic gangs get what nobody waits for (core/cycle/resizes.h)
//  9 explain   everyone who still waits, by what is left when all have had their turn
//
// What it looks at is bounded (core/place/work_budget.h): past that nobody else is searched a place or told
// anything new; the next one keeps half of its budget for those that this one did not reach.
[[nodiscard]] Schedule schedule(const ScheduleRequest& request);

}  // namespace trainyard::core
