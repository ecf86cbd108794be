#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/place.h"
#include "core/place/placement_cache.h"
#include "core/preemption/defragment.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// A job that is admitted and has no places.
struct WaitingJob {
  std::shared_ptr<const model::Job> job;
  // Keeps its turn, but nothing can be written for it now.
  bool silent = false;
};

// A gang that starts, on these places; `victims` must go first, and those in `moves` to their new places.
struct GangStart {
  std::shared_ptr<const model::Job> job;
  bool silent = false;
  Placement placement;
  std::vector<std::shared_ptr<const model::Job>> victims = {};
  std::vector<GangMove> moves = {};
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

struct Schedule {
  std::vector<GangStart> starts;
  std::vector<GangWait> waits;
  std::vector<GangYield> yields;
  std::vector<QueueNews> queues;  // those that have changed
  std::optional<base::WallTime> wakeAt = std::nullopt;
};

struct ScheduleRequest {
  const model::Snapshot& snapshot;
  Ledger& ledger;  // what starts is taken from it
  const Domains& domains;
  QueueTree& queues;  // of this snapshot; what starts is charged to it
  PlacementCache& cache;
  std::vector<WaitingJob> waiting;       // jobs of the snapshot
  std::int64_t startingMembers = 0;      // on their way already, from Reserve to bound
  std::int64_t mostStartingMembers = 0;  // no further gang starts once so many are
};

// Who starts, where, and at whose cost; why everybody else waits. The scheduling mind, without protocol: the
// replay of traces asks it in the same way as the operator's cycle. Phases, as numbered in
// docs/architecture.md:
//  3 shares    the queue tree with what each queue holds (core/queues/queue_tree.h, core/queues/fair_share.h)
//  4 order     between queues the smallest weighted dominant share above the guarantee, counted with the job
//  in
//              question, branch by branch from the top; in a queue priority, then the policy's order, then
//              earlier creation. Ties: earlier creation, then namespace and name.
//  5 place     whole gangs only (core/place/place.h)
//  6 preempt   for the first job that has no places, and for whoever is entitled to
//  (core/queues/eligibility.h): the
//              fewest, cheapest victims with which it has places (core/preemption/victims.h); its places are
//              then kept, but for a job of higher priority in the same queue that would fit there
//  6 move      for the first job that has to wait, where room is free but lies apart: whoever makes room by
//              going elsewhere (core/preemption/defragment.h)
//  7 backfill  the first job that has to wait is the head; others pass it only where it lets them
//              (core/timeline/head.h)
//  9 explain   everyone who still waits
[[nodiscard]] Schedule schedule(const ScheduleRequest& request);

}  // namespace trainyard::core
