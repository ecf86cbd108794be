#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/order/order_policy.h"
#include "core/place/change.h"
#include "core/place/gang_placer.h"
#include "core/queues/queue_tree.h"
#include "core/timeline/backfill.h"
#include "core/timeline/ends.h"
#include "core/timeline/freed_places.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Who has the reservation.
struct Holder {
  std::shared_ptr<const model::Job> job;
  bool silent = false;       // nothing can be written for it now
  std::size_t position = 0;  // in the snapshot
  QueueTree::Index queue = QueueTree::kCluster;
  Rank rank = {};              // in its queue
  bool overdue = false;        // keeps its turn in its queue, whatever its rank is by now
  bool isEntitled = false;     // its queue is guaranteed what it needs
  std::uint32_t shape = 0;     // PlacementCache::shapeOf
  std::size_t widest = 0;      // may be placed this wide now
  base::WallTime since{};      // has kept a reservation since
  base::WallTime keptSince{};  // one holder or another has existed since
};

// Capacity that is kept for a pending gang on the nodes that its members may use, its pool (EASY backfilling:
// Mu'alem and Feitelson, "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling
// the IBM SP2 with Backfilling", TPDS 2001, section 2). A gang that keeps off the pool is not concerned.
//
// Assumes about ends what core/timeline/ends.h does; a gang that was backfilled under this holder's condition
// ends when the holder may preempt it. The holder's start is the earliest time at which it fits: when others
// have ended, or when it may be placed wider (core/place/relaxation.h), whichever comes first.
//
// Steps, for a gang that has found a placement in the pool; the first that holds decides:
//  1. its queue is guaranteed what it needs, it has a higher priority in the holder's own queue (or comes
//     first there, if the order does not go by expected run times), or it holds an older reservation, and the
//     holder is not one of another queue within its guarantee: it
//     starts
//  2. it leaves the reserved placement its capacity: it starts, unless a gang has left one of its nodes a
//     moment ago (core/timeline/freed_places.h). If the holder may preempt it, under the same condition as in
//     step 3: another job may be entitled to the reserved placement, and the holder then needs this one
//  3. it takes reserved capacity: lendReserved() decides (core/timeline/backfill.h); not on nodes that a gang
//     has left a moment ago, unless it is expected to end in time
// Ties: none, the gang that is served earlier asks earlier.
class Reservation {
 public:
  // Snapshot, ledger and `ends` outlive this.
  // `ends`: as seenBy() the holder.
  Reservation(Holder holder, const model::Snapshot& snapshot, Ledger& ledger, Ends& ends, GangPlacer& placer);

  struct Asking {
    const model::Job* job = nullptr;
    bool isEntitled = false;  // step 1
    BackfillRequest request = {};
    // The gang preempts others for its placement.
    bool preempts = false;
    // Of these, those that the holder could not preempt itself. What they hold on the same nodes is handed
    // over, not taken.
    const std::vector<Change>* handedOver = nullptr;
  };
  // Whether the gang may start on this placement.
  [[nodiscard]] BackfillVerdict judge(const Asking& asking, const std::vector<model::Assignment>& places);

  [[nodiscard]] const Holder& holder() const { return holder_; }
  // Absent: even when all have ended it does not fit.
  [[nodiscard]] const std::optional<ExpectedTime>& start() const { return start_; }
  [[nodiscard]] ReservedTime reserved() const { return {start_, holder_.keptSince, isImminent_}; }
  // Empty without a start.
  [[nodiscard]] const std::vector<model::Assignment>& places() const { return places_; }
  // Whether any of these nodes is one that it might use.
  [[nodiscard]] bool concerns(const std::vector<model::Assignment>& places) const;
  // The nodes that it might use, by their index in the ledger.
  [[nodiscard]] const std::vector<char>& pool() const { return pool_; }
  [[nodiscard]] bool samePool(const std::vector<char>& pool) const { return pool_ == pool; }
  // Who keeps off the first does not meet rule 3, and off the second rule 4 lets him pass.
  [[nodiscard]] const std::vector<model::NodeName>& freedNodes() const { return freed_.nodes; }
  [[nodiscard]] std::vector<model::NodeName> reservedNodes() const;
  // The next moment at which it may start, or something of what is kept for it is free for all.
  [[nodiscard]] std::optional<base::WallTime> wakeAt() const;

 private:
  void findStart(Ends& ends, GangPlacer& placer);
  [[nodiscard]] bool leavesRoom(const Asking& asking, const std::vector<model::Assignment>& places);
  [[nodiscard]] bool justFreed(const std::vector<model::Assignment>& places) const;

  Holder holder_;
  const model::Snapshot& snapshot_;
  Ledger& ledger_;
  std::vector<char> pool_;  // by index into Ledger::nodes()
  std::optional<ExpectedTime> start_;
  std::vector<model::Assignment> places_;
  // Free at the reserved time beyond what is free now, less what the holder takes.
  std::map<std::size_t, model::Resources> spare_;
  FreedPlaces freed_;
  bool isImminent_ = false;  // ReservedTime
};

// The nodes that members of the job may use, room aside: by index into Ledger::nodes(). Only those with GPUs
// count for a job that has any.
[[nodiscard]] std::vector<char> poolOf(const model::Job& job, const Ledger& ledger);
// The same without those that are closed to it.
[[nodiscard]] std::vector<char> openPoolOf(const model::Job& job, const Ledger& ledger,
                                           const GangPlacer& placer);

}  // namespace trainyard::core
