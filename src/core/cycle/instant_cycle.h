#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/cycle/cycle_cache.h"
#include "core/cycle/schedule.h"
#include "core/cycle/user_scale.h"
#include "core/place/change.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// A snapshot on which everything that schedule() plans happens at once: for what is to come (foresee()) and
// for the replay of traces, which ask and carry out in the same way as the operator.
//
// Assumes: nothing fails, whoever is stopped is gone, whoever starts runs, at the moment of the snapshot.
// Kept as the operator keeps them, since decisions rest on them: places, conditions and their times, service
// (GPU and run seconds, those included that a stop loses), stops, what queues say of themselves.
// (Lost: pods. A placed gang's record counts in their stead.)
class InstantCycle {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  explicit InstantCycle(model::Snapshot snapshot) : snapshot_(std::move(snapshot)) {}

  [[nodiscard]] const model::Snapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] CycleCache& cache() { return cache_; }
  // What goes on outside of scheduling. Never back.
  void setTime(base::WallTime now) { snapshot_.now = now; }
  [[nodiscard]] model::Snapshot& world() { return snapshot_; }

  // A new job, which waits.
  void add(model::Job job);
  // Changes the job, which is there.
  void change(const model::ObjectKey& job, const std::function<void(model::Job&)>& change);
  // The job has ended well and is gone: as it was at last.
  JobPtr end(const model::ObjectKey& job);

  struct Outcome {
    std::vector<Change> changes;  // as they happened; whoever leaves does so before his place is taken
    std::vector<GangWait> waits;
    std::optional<base::WallTime> wakeAt;
    std::optional<SizeTerms> sizes = std::nullopt;
    // Whether somebody was stopped, so that others may be let in now.
    bool stopped = false;
  };
  // One schedule for those who wait, of the queues that the snapshot makes.
  Outcome decide(const std::function<std::vector<WaitingJob>(const QueueTree&)>& waiting);

 private:
  [[nodiscard]] ScaleAnswer scale(const Schedule& schedule, QueueTree& tree);
  void carryOut(const Change& change);
  void resize(const Change& change);
  void leave(model::Job& job);

  model::Snapshot snapshot_;
  CycleCache cache_;
};

}  // namespace trainyard::core
