#pragma once

#include <cstdint>
#include <vector>

#include "core/cycle/schedule.h"
#include "core/cycle/waiting_order.h"
#include "core/queues/queue_tree.h"

namespace trainyard::core {

// What the queues say of themselves, and which of Philly's two kinds a job's waiting is.
class QueueReport {
 public:
  explicit QueueReport(const QueueTree& tree) : tree_(tree) {}

  // Before anybody is served: everybody's demand.
  void countWaiting(const std::vector<Contender>& contenders);

  // Whether the queue, and each above it, holds less than its share.
  [[nodiscard]] bool isBelowShare(QueueTree::Index queue) const;

  // How many times the cluster's capacity is held or waited for; at least 1.
  [[nodiscard]] double load() const { return load_; }

  // `failure`, of a job that found no places, counted as what it is: fair-share delay where the queue (or one
  // above it) would hold more than its share with this job, else fragmentation delay. Where others are
  // entitled to what the queue holds, the reason says so.
  [[nodiscard]] model::Pending classify(const Contender& contender, const model::Pending& failure) const;

  // The statuses that differ from what the Queue objects say.
  [[nodiscard]] std::vector<QueueNews> news(const model::Snapshot& snapshot, const Schedule& schedule);

  // How far the queues are from their fair shares, once this cycle's starts have their places: the sum of
  // |held - fair share| over all queues, each without those below it, as a part of the most that it can be,
  // twice what there is. After Dorm's fairness loss (core/resize/size_problem.h), with queues instead of
  // applications, of the resource that the cluster is shared by. What waits for want of a place counts, and
  // so does what is held beyond a share; where nobody waits it is 0.
  [[nodiscard]] std::int64_t fairnessLossPermille() const;

 private:
  // Each queue's number becomes that of it and of all below it.
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
