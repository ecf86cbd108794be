#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/order/order_policy.h"
#include "core/place/gang_placer.h"
#include "core/queues/queue_tree.h"
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
  Rank rank = {};           // in its queue
  bool overdue = false;     // keeps its turn in its queue, whatever its rank is by now
  std::uint32_t shape = 0;  // PlacementCache::shapeOf
  std::size_t widest = 0;   // may be placed this wide now
  base::WallTime since{};   // has kept a reservation since
};

// What is kept for a job that has to wait for room, and who may pass it (EASY backfilling: Mu'alem and
// Feitelson, "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2
// with Backfilling", TPDS 2001, section 2). There is one for each pool of nodes that somebody waits for: the
// nodes that his members may use at all. What lies outside is nobody's concern.
//
// Assumes about ends what core/timeline/ends.h does. The earliest time counts at which the job fits: when
// others have ended, or when it may be placed wider (core/place/relaxation.h), whichever comes first.
//
// Steps, for a job that has found places in the pool; the first that holds decides:
//  1. its queue is guaranteed what it needs, or it comes first in the holder's own queue: it passes
//  2. it ends before the reserved time, as its owner says and no less than most of its kind: it passes. One
//     that cannot be stopped counts then, as nothing holds it to its word (rule 6)
//  3. gangs have left some of these nodes a moment ago (core/timeline/freed_places.h): not these, not now
//  4. it leaves the reserved places their room: it passes
//  5. the holder may stop it then, and could in time: the reserved time is not a stated one, or lies at least
//     the policy's minRuntime ahead: it passes
//  6. the holder may not, and the reserved time is a guess: it passes as long as fewer than
//     BackfillPolicy::passesWithoutEstimate have, in all the time that the holder waits; not who has
//     the places by a stop that the holder might have asked for
// Ties: none, who is served earlier asks earlier.
class Reservation {
 public:
  // Snapshot, ledger and `ends` outlive this.
  Reservation(Holder holder, const model::Snapshot& snapshot, Ledger& ledger, Ends& ends, GangPlacer& placer);

  enum class Verdict {
    kPasses,
    kKept,
    kKeptBriefly,  // for no other reason than that somebody has just left one of the nodes
  };
  struct Asking {
    const model::Job* job = nullptr;
    bool entitled = false;      // rule 1
    bool mayBeStopped = false;  // by the holder, once it is let past (core/queues/eligibility.h)
    bool stops = false;         // those who hold the places; the holder might, too
    ExpectedRun run = {};       // cautiousRun()
  };
  // Whether the job may take these places. A yes counts.
  [[nodiscard]] Verdict judge(const Asking& asking, const std::vector<model::Assignment>& places);

  [[nodiscard]] const Holder& holder() const { return holder_; }
  // Absent: even when all have ended it does not fit.
  [[nodiscard]] const std::optional<ExpectedTime>& start() const { return start_; }
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
  // How many have passed on the strength of a word or a guess.
  [[nodiscard]] int passes() const { return passes_; }

 private:
  void findStart(Ends& ends, GangPlacer& placer);
  [[nodiscard]] bool leavesRoom(const model::Job& job, const std::vector<model::Assignment>& places);
  [[nodiscard]] bool mayCount(int most) const;
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
  int passes_ = 0;
};

// The nodes that members of the job may use, room aside: by index into Ledger::nodes(). Only those with GPUs
// count for a job that has any.
[[nodiscard]] std::vector<char> poolOf(const model::Job& job, const Ledger& ledger);
// The same without those that are closed to it.
[[nodiscard]] std::vector<char> openPoolOf(const model::Job& job, const Ledger& ledger,
                                           const GangPlacer& placer);

}  // namespace trainyard::core
