#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/order/order_policy.h"
#include "core/place/change.h"
#include "core/queues/queue_tree.h"
#include "core/search/gang_placer.h"
#include "core/timeline/backfill.h"
#include "core/timeline/ends.h"
#include "core/timeline/recently_freed.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The pending gang that has the reservation.
struct Holder {
  std::shared_ptr<const model::Job> job;
  bool silent = false;       // the operator cannot write its status now
  std::size_t position = 0;  // in the snapshot
  QueueTree::Index queue = QueueTree::kCluster;
  QueuePosition queuePosition = {};  // in its queue
  bool overdue = false;              // keeps its turn in its queue, whatever its position is by now
  bool isEntitled = false;           // its queue is guaranteed what it needs
  std::uint32_t shape = 0;           // PlacementCache::shapeOf
  std::size_t widest = 0;            // may be placed this wide now
  base::WallTime since{};            // has held a reservation since
  base::WallTime reservingSince{};   // reservations have existed without a break since
};

// Capacity that is kept for a pending gang on the nodes that its members may use, its pool (EASY
// backfilling: Mu'alem and Feitelson, "Utilization, Predictability, Workloads, and User Runtime Estimates in
// Scheduling the IBM SP2 with Backfilling", TPDS 2001, section 2). A gang outside the pool is not affected.
//
// Assumes about ends what core/timeline/ends.h does; a gang that was backfilled under this holder's condition
// ends when the holder may preempt it. The holder's start is the earliest time at which it fits: when others
// have ended, or when it may be placed wider (core/place/relaxation.h), whichever comes first.
//
// Steps, for a gang that has found a placement in the pool; the first that holds decides:
//  1. its queue is guaranteed what it needs; or it has a higher priority in the
//     holder's own queue (or comes first there, if the order does not depend on
//     expected run times); or it holds an older reservation, and the holder is not in
//     another queue within that queue's guarantee: it starts
//  2. it leaves the capacity of the reserved placement free: it starts, unless a gang has just left one of
//     its nodes (core/timeline/recently_freed.h). If the holder may preempt it, under the same condition as
//     in step 3: a third job may be entitled to the reserved placement, and the holder then needs this one
//  3. it takes reserved capacity: lendReserved() decides (core/timeline/backfill.h). Nodes that a gang has
//     just left stay reserved, unless it is expected to end in time
// Ties: none; gangs are judged in the order of service.
class Reservation {
 public:
  // Snapshot, ledger and `ends` must outlive this.
  // `ends`: as seenBy() the holder.
  Reservation(Holder holder, const model::Snapshot& snapshot, Ledger& ledger, Ends& ends, GangPlacer& placer);

  struct Asking {
    const model::Job* job = nullptr;
    bool isEntitled = false;  // step 1
    BackfillRequest request = {};
    // The gang preempts others for its placement.
    bool preempts = false;
    // Those of them that the holder could not preempt itself. What they hold on the same nodes passes to
    // the gang; the gang does not take it from the holder.
    const std::vector<Change>* handedOver = nullptr;
  };
  // Whether the gang may start on this placement.
  [[nodiscard]] BackfillVerdict judge(const Asking& asking,
                                      const std::vector<model::Assignment>& assignments);

  [[nodiscard]] const Holder& holder() const { return holder_; }
  // Empty if the holder does not fit even when all other gangs have ended.
  [[nodiscard]] const std::optional<ExpectedTime>& start() const { return start_; }
  [[nodiscard]] ReservedTime reserved() const { return {start_, holder_.reservingSince, isImminent_}; }
  // Empty if start() is.
  [[nodiscard]] const std::vector<model::Assignment>& assignments() const { return assignments_; }
  // Whether the holder may use any of these nodes.
  [[nodiscard]] bool concerns(const std::vector<model::Assignment>& assignments) const;
  // The nodes that the holder may use, by index in the ledger.
  [[nodiscard]] const std::vector<char>& pool() const { return pool_; }
  [[nodiscard]] bool samePool(const std::vector<char>& pool) const { return pool_ == pool; }
  // A gang outside freedNodes() is never kept briefly. A gang outside reservedNodes() always meets step 2.
  [[nodiscard]] const std::vector<model::NodeName>& freedNodes() const { return freed_.nodes; }
  [[nodiscard]] std::vector<model::NodeName> reservedNodes() const;
  // The next time at which the holder may start, or a briefly kept node becomes free for all.
  [[nodiscard]] std::optional<base::WallTime> wakeAt() const;

 private:
  void findStart(Ends& ends, GangPlacer& placer);
  [[nodiscard]] bool leavesCapacity(const Asking& asking, const std::vector<model::Assignment>& assignments);
  [[nodiscard]] bool justFreed(const std::vector<model::Assignment>& assignments) const;

  Holder holder_;
  const model::Snapshot& snapshot_;
  Ledger& ledger_;
  std::vector<char> pool_;  // by index into Ledger::nodes()
  std::optional<ExpectedTime> start_;
  std::vector<model::Assignment> assignments_;
  // What is free at the start beyond what is free now, less what the holder takes.
  std::map<std::size_t, model::Resources> spare_;
  RecentlyFreed freed_;
  bool isImminent_ = false;  // ReservedTime
};

// The nodes that members of the job may use, by index into Ledger::nodes(); their free capacity does not
// matter. If the job requests GPUs, only its roles with GPUs count.
[[nodiscard]] std::vector<char> poolOf(const model::Job& job, const Ledger& ledger);
// As above, without the nodes that are closed to the job.
[[nodiscard]] std::vector<char> openPoolOf(const model::Job& job, const Ledger& ledger,
                                           const GangPlacer& placer);

}  // namespace trainyard::core
