#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/cycle/cycle_cache.h"
#include "core/elastic/user_scale.h"
#include "core/place/change.h"
#include "core/queues/queue_tree.h"
#include "core/schedule/schedule.h"
#include "model/snapshot.h"

namespace trainyard::core {

// A snapshot on which everything that schedule() plans takes effect at once. foresee() and the replay of
// traces use it, so that they call schedule() and carry out its changes as the operator does.
//
// Assumes: nothing fails. At the time of the snapshot, preempted gangs are gone and started gangs run. It
// keeps what decisions rest on as the operator does: placements, conditions and their times, service,
// preemptions and the queues' statuses. Service counts GPU and run seconds, including those that a preemption
// loses. (Rejected: pods. A placed gang's record counts in their stead.)
class InstantCycle {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  explicit InstantCycle(model::Snapshot snapshot) : snapshot_(std::move(snapshot)) {}

  [[nodiscard]] const model::Snapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] CycleCache& cache() { return cache_; }
  // For changes outside of scheduling. Time never goes back.
  void setTime(base::WallTime now) { snapshot_.now = now; }
  [[nodiscard]] model::Snapshot& world() { return snapshot_; }

  // Adds a new pending job.
  void add(model::Job job);
  // Changes the job, which must exist.
  void change(const model::ObjectKey& job, const std::function<void(model::Job&)>& change);
  // Removes the job, which has succeeded. Returns its last state.
  JobPtr end(const model::ObjectKey& job);

  struct Outcome {
    std::vector<Change> changes;  // in this order; a victim leaves before its nodes are taken
    std::vector<GangWait> waits;
    std::optional<base::WallTime> wakeAt;
    std::optional<SizeTerms> sizes = std::nullopt;
    // A gang was preempted or gave members back, so that other jobs may start now.
    bool stopped = false;
  };
  // Runs schedule() once for the pending jobs that `waiting` returns for the snapshot's queues.
  Outcome decide(const std::function<std::vector<SchedulableJob>(const QueueTree&)>& waiting);

 private:
  [[nodiscard]] ScaleAnswer scale(const Schedule& schedule, QueueTree& tree);
  void carryOut(const Change& change);
  void resize(const Change& change);
  void leave(model::Job& job);

  model::Snapshot snapshot_;
  CycleCache cache_;
};

// Sets a condition of the job, without reason and message.
void setHolds(model::Job& job, std::string_view type, bool holds, base::WallTime now);

}  // namespace trainyard::core
