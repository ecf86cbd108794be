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
  bool isHolder = false;     // it holds a reservation, or gangs were backfilled on what it had reserved
  Rank rank = {};            // in its queue
  bool overdue = false;      // keeps its turn in its queue, whatever its rank
  bool beyondLeast = false;  // an elastic gang that asks for more members than its minimum
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

// A gang that may be preempted.
struct Victim {
  const model::Job* job = nullptr;
  int priority = 0;
  QueueTree::Index queue = QueueTree::kCluster;  // kCluster: of none that exists
  const QueueTree::Amounts& held;                // QueueTree::holdingsOf()
  // protectedUntil() has passed.
  bool isUnprotected = true;
};

// Whether the job is preemptible, placed, and has no change of its gang under way.
[[nodiscard]] bool stoppable(const model::Job& job);

// Whether the job may be preempted at all: it is preemptible and holds capacity, or is about to. A proposal
// of its own protects no gang: what its tenant can keep open must not keep others out. Not a gang that is
// leaving already.
[[nodiscard]] bool preemptible(const model::Job& job);

// From when on the job may be preempted: when the policy's minRuntime has passed since it was given its
// capacity. Restarts and replaced members do not begin that time again, as any tenant can cause them. Nothing
// unless the job is preemptible().
[[nodiscard]] std::optional<base::WallTime> preemptibleFrom(const model::Job& job,
                                                            const model::Snapshot& snapshot);

// Until when a gang is protected from claims for fair share: for minRuntime from its start, or its last
// preemption where that was later, twice as long with each time that another queue has preempted it, at most
// kMostProtectionDoublings times. It bounds how often any chain of such claims can preempt one gang. A start
// does not change when a gang shrinks or is moved.
inline constexpr int kMostProtectionDoublings = 6;
[[nodiscard]] base::WallTime protectedUntil(const model::Job& job, const model::Snapshot& snapshot);

// Whether the queue is guaranteed any of what these amounts name: a guarantee of GPUs is none of cpu.
[[nodiscard]] bool isGuaranteedAny(const QueueTree::Node& node, const QueueTree::Amounts& amounts);
// Whether the queue, or one above it, is guaranteed so much more than it holds. One suffices: what a sibling
// borrows below the same parent does not end a queue's guarantee, and a parent's is for all queues below it.
[[nodiscard]] bool isWithinGuarantee(QueueTree::Index queue, const QueueTree::Amounts& more,
                                     const QueueTree& tree);

// Whether the queue says that its jobs preempt none of each other.
[[nodiscard]] bool forbidsWithin(const QueueTree::Node& node);

// Whether `claimant` may preempt `victim` by right of its queue or priority. docs/preemption.md lists the
// rights and argues that every chain of preemptions ends.
//  priority   the victim is of the same queue and of lower priority, and the queue's preemption.withinQueue
//             allows it
//  guarantee  the claimant stays within the guarantee of a queue of its branch of the tree, and its own queue
//             may reclaim; each queue from the victim's branch down to its own holds more than it is
//             guaranteed of something that is wanted and that the victim holds, or the victim holds more of
//             it than belongs to the GPUs that the queue is guaranteed
//  fair share the claimant's branch ends with no larger share than the victim's branch keeps (as Kueue's
//             LessThanOrEqualToFinalShare), the victim's queues hold more than they are guaranteed, and the
//             victim isUnprotected
// `shares`: of the tree.
[[nodiscard]] bool outranks(const Claimant& claimant, const Victim& victim, const QueueTree& tree,
                            KnownShares& shares);

// Whether `claimant` is a holder on whose reserved capacity `victim` was backfilled, and may preempt it for
// that once the time of the condition has come: in its own queue unless preemption.withinQueue is Never; in
// another one as long as that queue, and each above it up to where both meet, holds more than it is
// guaranteed of something that the victim yields, and no job that waits there would be within its guarantee
// then.
[[nodiscard]] bool hasCondition(const Claimant& claimant, const Victim& victim, const QueueTree& tree);
[[nodiscard]] bool preemptsBackfilled(const Claimant& claimant, const Victim& victim, const QueueTree& tree,
                                      base::WallTime now);

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
