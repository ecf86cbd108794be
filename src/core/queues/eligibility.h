#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/order/job_times.h"
#include "core/order/order_policy.h"
#include "core/order/preemption_cost.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// A job that asks for a placement, with what decides which gangs it may preempt.
struct Preemptor {
  const model::Job* job = nullptr;
  int priority = 0;
  QueueTree::Index queue = QueueTree::kCluster;
  Amounts demand;  // at least, whatever its nodes are
  // As `demand`, with members without GPUs on nodes with GPUs. Absent: as `demand`.
  std::optional<Amounts> wanted = std::nullopt;
  bool isHolder = false;  // it holds a reservation, or gangs were backfilled on what it had reserved
  QueuePosition queuePosition = {};  // in its queue
  bool overdue = false;              // keeps its turn in its queue, whatever its position is
  bool aboveMinimum = false;         // an elastic gang that asks for more members than its minimum
};

// Caches the shares that reclaim compares: hundreds of preemptors in a row need those
// of the same few queues. All belong to one tree.
class ShareCache {
 public:
  explicit ShareCache(const QueueTree& tree) : tree_(tree) {}
  [[nodiscard]] std::int64_t with(QueueTree::Index queue, const Amounts& more);
  [[nodiscard]] std::int64_t without(QueueTree::Index queue, const Amounts& less, const Amounts& wanted);

 private:
  struct Known {
    std::uint64_t version = 0;
    Amounts amounts = {};  // empty: nothing is cached
    Amounts wanted = {};
    std::int64_t share = 0;
  };
  template <typename Compute>
  [[nodiscard]] std::int64_t known(std::vector<Known>& all, QueueTree::Index queue, const Amounts& amounts,
                                   const Amounts& wanted, Compute compute);

  const QueueTree& tree_;
  std::vector<Known> with_;  // by queue
  std::vector<Known> without_;
};

// A gang that may be preempted.
struct Victim {
  const model::Job* job = nullptr;
  int priority = 0;
  QueueTree::Index queue = QueueTree::kCluster;  // kCluster: its queue does not exist
  const Amounts& held;                           // holdingsOf(), or what it would give up of that
  // protectedUntil() has passed.
  bool isUnprotected = true;
  const Amounts* whole = nullptr;  // all that it holds, if `held` is a part
};

// Whether the job is preemptible, placed, and has no change of its gang under way.
[[nodiscard]] bool preemptibleNow(const model::Job& job);

// Whether the job may be preempted at all: it is preemptible and holds capacity, or is about
// to. A proposal of its own does not protect a gang: its tenant could keep one open to keep
// others out. False for a gang that terminates already.
[[nodiscard]] bool preemptible(const model::Job& job);

// From when on the job may be preempted: when the policy's minRuntime has passed since it got its
// placement. Restarts and replaced members do not begin that time again, because any tenant can
// cause them. Empty unless the job is preemptible().
[[nodiscard]] std::optional<base::WallTime> preemptibleFrom(const model::Job& job,
                                                            const model::Snapshot& snapshot);

// Until when a gang is protected from claims for fair share: for minRuntime from its start, or from
// its last preemption if that is later. The time doubles with each preemption by another queue, at
// most kMaxProtectionDoublings times. It bounds how often any chain of such claims can preempt one
// gang. A shrink or a move does not change the start.
inline constexpr int kMaxProtectionDoublings = 6;
[[nodiscard]] base::WallTime protectedUntil(const model::Job& job, const model::Snapshot& snapshot);

// Whether the queue forbids preemption among its own jobs.
[[nodiscard]] bool forbidsPreemptionWithin(const QueueTree::Node& node);

// Whether `preemptor` may preempt `victim` by right of its queue or priority. docs/preemption.md lists the
// rights and argues that every chain of preemptions ends.
//  priority   the victim is of the same queue and of lower priority, and the queue's preemption.withinQueue
//             allows it
//  guarantee  the preemptor stays within the guarantee of a queue of its branch of the tree, its own
//             queue may reclaim, and the victim yieldsBorrowed() in each queue from its branch down to its
//             own
//  fair share the preemptor's branch ends with no larger share than the victim's branch keeps (as
//             Kueue's LessThanOrEqualToFinalShare), the victim yieldsShare() in these queues and
//             isUnprotected
// `shares`: of the tree.
[[nodiscard]] bool hasRightToPreempt(const Preemptor& preemptor, const Victim& victim, const QueueTree& tree,
                                     ShareCache& shares);

// Whether `victim` was backfilled on capacity that `preemptor` had reserved, and `preemptor` may
// preempt it for that once the time of the condition has come. In its own queue it may unless
// preemption.withinQueue is Never. In another queue the victim must hold borrowed capacity
// (yieldsBorrowed()). Unless `preemptor` is within its own guarantee, no job that waits there may be within
// its guarantee afterwards.
[[nodiscard]] bool hasCondition(const Preemptor& preemptor, const Victim& victim, const QueueTree& tree);
[[nodiscard]] bool preemptsBackfilled(const Preemptor& preemptor, const Victim& victim, const QueueTree& tree,
                                      base::WallTime now);

// Whether the cluster's policy enables time slicing at all: under an
// ordering by arrival only, no job preempts another.
[[nodiscard]] bool allowsTimeSlicing(const model::Policy& policy);

// When pending jobs should be considered for a placed job's time slice: at every multiple of the interval,
// once it has had a whole one. Empty without time slicing. (Rejected: the end of its own slice. With a
// hundred running jobs one ends every half minute, and each time all pending jobs are considered in vain.)
// `placed`: placedSince() of the job.
[[nodiscard]] std::optional<base::WallTime> timeSliceEnds(const model::Job& job, base::WallTime placed,
                                                          const model::Snapshot& snapshot);

// A time slice goes on beyond the interval while a preemption would lose more than one part in so many: a job
// with hourly checkpoints would lose all of a slice of half an hour. No job keeps its slice for ever by its
// checkpoint settings: maxLostWork caps the loss. (Rejected: one part in two. Philly's jobs on 58x8, all with
// hourly checkpoints in one queue, take a mean of 27,673 s with it, and 25,822 with this.)
inline constexpr int kMaxLostShareOfSlice = 4;

// Whether time slicing lets `preemptor` preempt the victim: the victim is checkpointable
// (isCheckpointable()), is in the same queue with the same priority, and has had a whole slice, most
// of which is saved (kMaxLostShareOfSlice). False if preemption.withinQueue of the queue is Never. The
// preemptor must also be worth a preemption: isAhead().
[[nodiscard]] bool mayPreemptByTimeSlice(const Preemptor& preemptor, const model::Job& victim,
                                         int victimPriority, QueueTree::Index victimQueue,
                                         const QueueTree& tree, const model::Snapshot& snapshot);
[[nodiscard]] inline bool isAhead(const Preemptor& preemptor, const QueuePosition& victimPosition) {
  return worthPreempting(preemptor.queuePosition, victimPosition);
}

}  // namespace trainyard::core
