#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/cycle/schedule.h"
#include "core/order/order_policy.h"
#include "core/order/run_time_model.h"
#include "core/place/job_notes.h"
#include "core/queues/queue_tree.h"

namespace trainyard::core {

// One waiting job as the order sees it.
struct Contender {
  const WaitingJob* waiting = nullptr;
  int priority = 0;
  QueueTree::Index queue = QueueTree::kCluster;
  const QueueTree::Amounts& demand;
  Rank rank = {};            // within its queue
  std::size_t position = 0;  // in the snapshot
  // Since when places are kept for it, which keeps its turn among queues whatever shares have become since;
  // absent where none are, or its queue has its share by now.
  std::optional<base::WallTime> keepsSince = std::nullopt;
  // It has waited longer than it is expected to run: it keeps its turn in its own queue as well.
  bool overdue = false;
  const JobNotes::Asks* asks = nullptr;  // of its note
};

// Where the job stands in its queue, by the ordering of the cluster's policy.
[[nodiscard]] Rank rankOf(const model::Job& job, int priority, const model::Snapshot& snapshot,
                          RunTimeModel& forecast);

// The same of one that waits and has this standing.
[[nodiscard]] Rank rankOf(const model::Job& job, int priority, const Standing& standing,
                          const OrderSettings& settings, RunTimeModel& forecast);
[[nodiscard]] OrderSettings orderSettings(const model::Policy& policy);

// Hands out the waiting jobs in the order in which they are served, which changes with every job that is
// charged to its queue: see schedule.h, phase 4.
class WaitingOrder {
 public:
  // `contenders` outlive this. Jobs of a queue keep their order among themselves.
  WaitingOrder(const QueueTree& tree, const std::vector<Contender>& contenders);

  // The next one; nullptr when all had their turn. Call charged() first when the last one was charged.
  [[nodiscard]] const Contender* next();
  // Shares have moved: the queues are compared anew.
  void charged() {
    stale_ = true;
    shares_.clear();
  }

 private:
  struct Line {
    std::vector<const Contender*> jobs;  // in order
    std::size_t head = 0;
    bool isRoot = false;             // its queue: then its share is the same beside all other such
    std::int64_t share = 0;          // of a root's head
    bool isWithinGuarantee = false;  // its head
  };
  [[nodiscard]] bool before(const Line& a, const Line& b) const;
  void weigh(Line& line) const;
  [[nodiscard]] std::int64_t shareOf(const QueueTree::Serving& serving,
                                     const QueueTree::Amounts& demand) const;

  const QueueTree& tree_;
  std::vector<Line> lines_;
  // Indices of those with jobs left, a heap but for the last one where that was served last.
  std::vector<std::size_t> heap_;
  bool stale_ = true;
  bool served_ = false;
  // Until something is charged: of a branch, with the demand that was asked last. Equal jobs come one after
  // another.
  struct Share {
    const QueueTree::Amounts* demand = nullptr;
    std::int64_t share = 0;
  };
  mutable std::vector<std::array<Share, 2>> shares_;  // by branch, isAbove
};

}  // namespace trainyard::core
