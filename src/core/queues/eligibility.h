#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/order/job_times.h"
#include "core/order/order_policy.h"
#include "core/order/stop_cost.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Who wants places, as far as it decides whom it may stop.
struct Claimant {
  const model::Job* job = nullptr;
  int priority = 0;
  QueueTree::Index queue = QueueTree::kCluster;
  QueueTree::Amounts demand;
  // Since when places are kept for it (core/timeline/reservation.h); absent: none are.
  std::optional<base::WallTime> reservedSince = std::nullopt;
  bool belowShare = false;   // its queue holds less than its share
  Rank rank = {};            // in its queue
  bool overdue = false;      // keeps its turn in its queue, whatever its rank
  bool beyondLeast = false;  // an elastic gang that asks for more members than it can do with
};

// Shares as reclaim compares them, as they were told last: hundreds of claimants in a row ask it of the same
// few queues. Of one tree.
class KnownShares {
 public:
  explicit KnownShares(const QueueTree& tree) : tree_(tree) {}
  [[nodiscard]] std::int64_t with(QueueTree::Index queue, const QueueTree::Amounts& more);
  [[nodiscard]] std::int64_t without(QueueTree::Index queue, const QueueTree::Amounts& less,
                                     const QueueTree::Amounts& wanted);

 private:
  struct Known {
    std::uint64_t version = 0;
    QueueTree::Amounts amounts = {};  // none: nothing is known
    QueueTree::Amounts wanted = {};
    std::int64_t share = 0;
  };
  template <typename Compute>
  [[nodiscard]] std::int64_t known(std::vector<Known>& all, QueueTree::Index queue,
                                   const QueueTree::Amounts& amounts, const QueueTree::Amounts& wanted,
                                   Compute compute);

  const QueueTree& tree_;
  std::vector<Known> with_;  // by queue
  std::vector<Known> without_;
};

// Who might go for it.
struct Victim {
  const model::Job* job = nullptr;
  int priority = 0;
  QueueTree::Index queue = QueueTree::kCluster;  // kCluster: of none that exists
  const QueueTree::Amounts& held;                // QueueTree::holdingsOf()
  const std::function<Rank()>& rank;             // in its queue; asked for only where it matters
};

// Whether anybody may stop the job at all, sooner or later: it is preemptible, placed and at peace.
[[nodiscard]] bool stoppable(const model::Job& job);

// From when on anybody may stop the job: when it has run for the policy's minRuntime, counted from its last
// start. Nothing unless it is stoppable().
[[nodiscard]] std::optional<base::WallTime> stoppableFrom(const model::Job& job,
                                                          const model::Snapshot& snapshot);

// Whether the queue says that its jobs stop none of each other.
[[nodiscard]] bool forbidsWithin(const QueueTree::Node& node);

// Whether `claimant` may stop `victim`, which may be stopped by now. One of:
//  within the queue   the victim's priority is lower, and the queue's preemption.withinQueue allows it
//  passed             (not in a queue where preemption.withinQueue is Never) the victim started while places
//  were kept for the claimant: it was let past because it
//                     can be stopped. In the same queue one of lower priority, or of the same that comes
//                     later in the order, or any if the claimant is overdue; where jobs take turns only if it
//                     comes through a stop, which is worth it (worthAStop()) or overdue. Of another queue
//                     only one that took its places from no other queue, as it was not let past then, and
//                     without which that queue, and each above it up to where both meet, holds its
//                     guarantee, too: what it could take back at once is not worth a stop
//  reclaim            the claimant's queue may reclaim; the victim's branch of the tree, and each queue from
//  there
//                     down to its own, holds more than it is guaranteed of something that is wanted; and the
//                     claimant stays within the guarantees of its own branch, or ends with no larger share
//                     than the victim's branch keeps (as Kueue's LessThanOrEqualToFinalShare; so nobody ever
//                     wins back what was just taken)
// Equal priority in the same queue, except as mayTakeTurns() and isAhead() say, and whoever is within its
// guarantee, is never stopped.
// `shares`: of the tree.
[[nodiscard]] bool mayStop(const Claimant& claimant, const Victim& victim, const QueueTree& tree,
                           const model::Snapshot& snapshot, KnownShares& shares);

// Whether the cluster's policy lets jobs take turns at all: an order that says only who came first stops
// nobody.
[[nodiscard]] bool takesTurns(const model::Policy& policy);

// When somebody should ask for a placed job's turn anew: whenever the clock has gone on by a turn, once it
// has had a whole one. Nothing where it never takes turns. (Lost: the end of its own turn. Of a hundred that
// run one ends every half minute, and each time all who wait ask in vain.)
// `placed`: placedSince() of the job.
[[nodiscard]] std::optional<base::WallTime> turnEnds(const model::Job& job, base::WallTime placed,
                                                     const model::Snapshot& snapshot);

// A turn goes on, beyond the interval, while a stop would lose more than one part in so many of it: who
// writes a checkpoint an hour would lose each turn of half an hour whole. Nobody keeps its turn for ever by
// what it says of checkpoints: maxLostWork caps what counts as lost. (Lost: one part in two. Philly's jobs on
// 58x8, all with hourly checkpoints in one queue, take a mean of 27,673 s with it, and 25,822 with this.)
inline constexpr int kLostOfTurn = 4;

// Whether jobs take turns, the victim says that it comes through a stop (survivesStops()), and it is of the
// claimant's own queue and priority and has had a whole turn, most of which is saved (kLostOfTurn); not in a
// queue where preemption.withinQueue is Never. It is the claimant's turn then if that is worth a stop:
// isAhead().
[[nodiscard]] bool mayTakeTurns(const Claimant& claimant, const model::Job& victim, int victimPriority,
                                QueueTree::Index victimQueue, const QueueTree& tree,
                                const model::Snapshot& snapshot);
[[nodiscard]] inline bool isAhead(const Claimant& claimant, const Rank& victimRank) {
  return worthAStop(claimant.rank, victimRank);
}

}  // namespace trainyard::core
