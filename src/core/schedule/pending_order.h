#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/order/order_policy.h"
#include "core/order/run_time_model.h"
#include "core/queues/queue_share.h"
#include "core/queues/queue_tree.h"
#include "core/schedule/schedule.h"
#include "core/search/job_notes.h"

namespace trainyard::core {

// One pending job as the order sees it.
struct PendingJob {
  const SchedulableJob* waiting = nullptr;
  int priority = 0;
  QueueTree::Index queue = QueueTree::kCluster;
  const Amounts& demand;             // of its shape; not freed before the schedule ends
  QueuePosition queuePosition = {};  // within its queue
  std::size_t position = 0;          // in the snapshot
  // Since when the job has had a reservation, which keeps its turn among queues although shares have changed.
  // Absent if it has none, or if its queue has its share by now.
  std::optional<base::WallTime> reservationSince = std::nullopt;
  // The job is overdue and has a reservation, so it keeps its turn within its own queue as well.
  bool overdue = false;
  const JobNotes::PendingFacts* pendingFacts = nullptr;  // of its note
};

// Returns the job's position in its queue, by the ordering of the cluster's policy.
[[nodiscard]] QueuePosition queuePositionOf(const model::Job& job, int priority,
                                            const model::Snapshot& snapshot, RunTimeModel& forecast);

// Returns the position of a pending job with these facts.
[[nodiscard]] QueuePosition queuePositionOf(const model::Job& job, int priority,
                                            const QueuePositionFacts& facts, const OrderSettings& settings,
                                            RunTimeModel& forecast);
[[nodiscard]] OrderSettings orderSettings(const model::Policy& policy);
// Returns true if the ordering serves jobs of equal priority in the order of their creation: no later job of
// the queue can come first.
[[nodiscard]] bool isOrderOfCreation(model::Ordering ordering);

// Hands out the pending jobs in the order in which they are served. The order changes with every job that is
// charged to its queue: see schedule.h, phase 4.
class PendingOrder {
 public:
  // `pendingJobs` outlive this object. Jobs of a queue keep their order among themselves.
  PendingOrder(const QueueTree& tree, const std::vector<PendingJob>& pendingJobs);

  // Returns the next job; nullptr after the last one. Call charged() first if the last job was charged.
  [[nodiscard]] const PendingJob* next();
  // Records that shares have changed, so that the queues are compared again.
  void charged() {
    stale_ = true;
    shares_.clear();
  }

 private:
  struct Line {
    std::vector<const PendingJob*> jobs;  // in order
    std::size_t head = 0;
    bool isRoot = false;             // a top-level queue: it has one share, whatever it is compared with
    std::int64_t share = 0;          // of a root's head
    bool isWithinGuarantee = false;  // of the head
  };
  [[nodiscard]] bool before(const Line& a, const Line& b) const;
  void weigh(Line& line) const;
  [[nodiscard]] std::int64_t shareOf(const ComparedBranch& compared, const Amounts& demand) const;

  const QueueTree& tree_;
  std::vector<Line> lines_;
  // Indices of lines with jobs left: a heap, except for the last index if its line was served last.
  std::vector<std::size_t> heap_;
  bool stale_ = true;
  bool served_ = false;
  // The last share of each branch and the demand it was computed for, until a job is charged. Equivalent jobs
  // come one after another.
  struct Share {
    // Identified by its address: the scheduler keeps one object for each shape.
    const Amounts* demand = nullptr;
    std::int64_t share = 0;
  };
  mutable std::vector<std::array<Share, 2>> shares_;  // by branch, isAbove
};

}  // namespace trainyard::core
