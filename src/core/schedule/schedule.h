#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/elastic/resizes.h"
#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/change.h"
#include "core/place/place.h"
#include "core/queues/queue_tree.h"
#include "core/search/placement_cache.h"
#include "core/timeline/limit_hold.h"
#include "model/snapshot.h"

namespace trainyard::core {

// A pending job: admitted, without a placement.
struct SchedulableJob {
  std::shared_ptr<const model::Job> job;
  // The job keeps its turn, but nothing can be written for it in this cycle.
  bool silent = false;
  // It is in the back-off after an aborted attempt: it does not start, and has conditions on gangs that do.
  bool rests = false;
};

struct GangWait {
  std::shared_ptr<const model::Job> job;
  bool silent = false;
  std::shared_ptr<const model::Pending> pending;  // shared by jobs that wait for the same thing
  bool behindStarting = false;                    // waits only for its turn to be started
  std::size_t position = 0;                       // in the snapshot
};

// A gang with a claim under way that yields its nodes to another gang.
struct GangYield {
  std::shared_ptr<const model::Job> job;
  model::ObjectKey to;
};

// The status to write to a Queue object.
struct QueueStatusUpdate {
  std::shared_ptr<const model::Queue> queue;
  model::QueueStatus status;
  friend bool operator==(const QueueStatusUpdate&, const QueueStatusUpdate&) = default;
};

// The nodes that the holder of a reservation may use at all.
struct ReservedPool {
  model::ObjectKey holder;
  QueueTree::Index queue = QueueTree::kCluster;  // the holder's
  int priority = 0;
  std::vector<char> nodes;  // by their index in the ledger
};

struct Schedule {
  // Changes that a start requires come before it; other growth and shrinking come last.
  std::vector<Change> changes;
  std::vector<GangWait> waits;
  std::vector<GangYield> yields;
  std::vector<QueueStatusUpdate> queues;  // those that have changed
  std::optional<base::WallTime> wakeAt = std::nullopt;
  std::optional<SizeTerms> sizes = std::nullopt;  // resizeGangs()
  std::int64_t fairnessLossPermille = 0;          // QueueReport::fairnessLossPermille()
  std::vector<ReservedPool> reservedPools = {};
  std::vector<LimitHold> limitHolds = {};

  // Returns the pending job for which these nodes, or quota below a limit, are kept from a gang that wants to
  // grow onto them; nullptr: there is none. As for starts, nothing is kept if the gang's queue is guaranteed
  // the capacity, nor for a holder of lower priority in the same queue. No other rule lets the gang pass,
  // because pending jobs go before running ones.
  [[nodiscard]] const model::ObjectKey* reservedFor(const model::Job& job, int priority,
                                                    const std::vector<model::Assignment>& assignments,
                                                    const Ledger& ledger, const QueueTree& tree) const;
};

struct ScheduleRequest {
  const model::Snapshot& snapshot;
  Ledger& ledger;  // capacity of started gangs is taken from it
  const Domains& domains;
  QueueTree& queues;  // of this snapshot; started gangs are charged to it
  PlacementCache& cache;
  // The start of the unbroken period in which reservations have existed; absent if none exists. Read and
  // updated. A new leader, which has no value, takes the time of the oldest holder's reservation.
  std::optional<base::WallTime>& reservedSince;
  std::vector<SchedulableJob> waiting;  // jobs of the snapshot
  // Placed gangs that end, or have a record that this cycle already changes. None of them gives up capacity
  // for another gang, and none is resized.
  std::set<const model::Job*> changing = {};
  // Members that are starting already, from reserved to bound, by namespace.
  std::map<std::string, std::int64_t> startingMembers = {};
  // Once so many members are starting, gangs start only in namespaces with less than their part of them.
  std::int64_t maxStartingMembers = 0;
};

// Decides which jobs start, where and at what cost to others, and why all other jobs stay pending. It is the
// scheduling policy without the protocol: the replay of traces and core/forecast/foresee.h call it in the
// same way as the operator's cycle. Phases, as numbered in docs/architecture.md:
//  3 shares    the queue tree with what each queue holds (core/queues/queue_tree.h, core/queues/fair_share.h)
//  4 order     between queues: first the jobs within a guarantee, then the holders of reservations, oldest
//              first; then the smallest weighted dominant share above the guarantee, counted with the job in
//              question, branch by branch from the top. Within a queue: priority, overdue holders, the
//              policy's order, earlier creation. Ties: earlier creation, then namespace and name
//  5 place     whole gangs only (core/place/place.h). An elastic gang starts with its desired members, else
//              with as many as fit, down to its minimum
//  6 preempt   gangs give up capacity for a job that finds no placement: they shrink
//              (core/preemption/shrinks.h). If the job is entitled to it (core/queues/eligibility.h), the
//              fewest and cheapest victims are preempted (core/preemption/victims.h). Its nodes are then
//              kept, except from a job of higher priority in the same queue that would fit there. For the
//              first job that has to wait while free capacity is scattered, gangs move
//              (core/preemption/moves.h)
//  7 reserve   the first job that waits for capacity in a pool of nodes, or below a limit, gets a
//              reservation. Others backfill on it only under its conditions (core/timeline/reservation.h,
//              core/timeline/limit_hold.h)
//  8 resize    elastic gangs get capacity that no job waits for (core/elastic/resizes.h)
//  9 explain   every pending job reports why it waits, by what is left after all turns
//
// The work of a call is bounded (core/place/work_budget.h). Past the bound no job is placed or gets a new
// reason. The next cycle keeps half of its budget for the jobs that this one did not reach.
[[nodiscard]] Schedule schedule(const ScheduleRequest& request);

}  // namespace trainyard::core
