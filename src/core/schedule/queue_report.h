#pragma once

#include <cstdint>
#include <vector>

#include "core/queues/queue_tree.h"
#include "core/schedule/pending_order.h"
#include "core/schedule/schedule.h"

namespace trainyard::core {

// Computes the statuses of the queues, and which of Philly's two kinds of delay a pending job has.
class QueueReport {
 public:
  explicit QueueReport(const QueueTree& tree) : tree_(tree) {}

  // Called before any job is served: counts the demand of all pending jobs.
  void countWaiting(const std::vector<PendingJob>& pendingJobs);

  // Returns true if the queue, and each queue above it, holds less than its share.
  [[nodiscard]] bool isBelowShare(QueueTree::Index queue) const;

  // What is held or waited for, as a multiple of the cluster's capacity; at least 1.
  [[nodiscard]] double load() const { return load_; }

  // Classifies `failure` of a job that found no placement. It is a fair-share delay if the queue (or one
  // above it) would hold more than its share with this job, else a fragmentation delay. If others are
  // entitled to what the queue holds, the reason reports that.
  [[nodiscard]] model::Pending classify(const PendingJob& pendingJob, const model::Pending& failure) const;

  // Returns the statuses that differ from those of the Queue objects.
  [[nodiscard]] std::vector<QueueStatusUpdate> updates(const model::Snapshot& snapshot,
                                                       const Schedule& schedule);

  // Returns how far the queues are from their fair shares after this cycle's starts. It is the sum of |held -
  // fair share| over all queues, each without those below it. The sum is given as a part of its maximum,
  // twice the capacity. It is Dorm's fairness loss (core/resize/size_problem.h), with queues instead of
  // applications, for the resource that the cluster is shared by. Unmet demand counts, and so does what is
  // held beyond a share. Without pending jobs it is 0.
  [[nodiscard]] std::int64_t fairnessLossPermille() const;

 private:
  // Adds to each queue's number the numbers of all queues below it.
  void addThoseBelow(std::vector<int>& counts) const;
  [[nodiscard]] model::QueueStatus statusOf(QueueTree::Index queue, const model::Snapshot& snapshot) const;

  const QueueTree& tree_;
  std::vector<std::int64_t> waitingDemand_;  // of the shared dimension, by queue
  std::vector<int> waiting_;                 // jobs, by queue
  std::vector<int> placed_;
  std::vector<std::int64_t> fairShares_;
  std::size_t dimension_ = 0;
  double load_ = 1;
};

}  // namespace trainyard::core
