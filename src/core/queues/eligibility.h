#pragma once

#include <memory>
#include <optional>

#include "core/order/order_policy.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Who wants places, as far as it decides whom it may stop.
struct Claimant {
  const model::Job* job = nullptr;
  int priority = 0;
  QueueTree::Index queue = QueueTree::kCluster;
  QueueTree::Amounts demand;
  bool isHead = false;  // the first of all that has to wait
  Rank rank = {};       // in its queue
};

// Whether anybody may stop the job at all, sooner or later: it is preemptible, placed and at peace.
[[nodiscard]] bool stoppable(const model::Job& job);

// From when on anybody may stop the job: when it has run for the policy's minRuntime, counted from its last
// start. Nothing unless it is stoppable().
[[nodiscard]] std::optional<base::WallTime> stoppableFrom(const model::Job& job,
                                                          const model::Snapshot& snapshot);

// Since when the job has had its places, and since when it has waited; now, where its status does not tell.
[[nodiscard]] base::WallTime placedSince(const model::Job& job, base::WallTime now);
[[nodiscard]] base::WallTime waitingSince(const model::Job& job, base::WallTime now);

// Whether `claimant` may stop `victim`, which holds `held` and may be stopped by now. One of:
//  within the queue   the victim's priority is lower, and the queue's preemption.withinQueue allows it
//  passed             the victim has no higher priority, would be served later, and started while the
//                     claimant, now the head, waited: it was let past because it can be stopped
//  reclaim            the claimant's queue may reclaim; the victim's branch of the tree holds more than it is
//                     guaranteed of something that is wanted; and the claimant stays within the guarantees of
//                     its own branch, or ends with no larger share than the victim's branch keeps (as Kueue's
//                     LessThanOrEqualToFinalShare; so nobody ever wins back what was just taken)
// Equal priority in the same queue, except as mayTakeTurns() and isAhead() say, and whoever is within its
// guarantee, is never stopped.
[[nodiscard]] bool mayStop(const Claimant& claimant, const model::Job& victim, int victimPriority,
                           const QueueTree::Amounts& held, const QueueTree& tree,
                           const model::Snapshot& snapshot);

// When the present turn of a placed job ends by the policy's time slicing: turns are counted from when it got
// its places, and twice as long with each time that it was stopped before. Nothing where nobody takes turns.
[[nodiscard]] std::optional<base::WallTime> turnEnds(const model::Job& job, const model::Snapshot& snapshot);

// Whether jobs take turns and the victim, of the claimant's own queue and priority, has had a whole one and
// declares a checkpoint: nobody loses all that he did for the sake of order. Not in a queue where preemption.withinQueue is Never. It is the claimant's turn then if the order of service
// puts it before the victim by more than a stop costs: isAhead(). Among equals nobody is stopped.
[[nodiscard]] bool mayTakeTurns(const Claimant& claimant, const model::Job& victim, int victimPriority,
                                const QueueTree& tree, const model::Snapshot& snapshot);
// A running job's merit counts what a stop costs (core/order/order_policy.h); where the order goes by
// estimates alone, which know nothing of that, the claimant must be ahead by a tenth.
[[nodiscard]] bool isAhead(const Claimant& claimant, const Rank& victimRank, model::Ordering ordering);

}  // namespace trainyard::core
