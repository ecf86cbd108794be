#pragma once

#include <optional>
#include <vector>

#include "core/order/run_time_model.h"
#include "core/preemption/preemption.h"
#include "core/schedule/failed_searches.h"
#include "core/schedule/pending_order.h"
#include "core/schedule/schedule.h"
#include "core/schedule/starting_members.h"
#include "core/search/gang_placer.h"
#include "core/search/type_demand.h"
#include "core/timeline/ends.h"

namespace trainyard::core {

// What the steps of one schedule() share: the snapshot, what it says about capacity, quota and time, and the
// schedule as far as it is decided. A gang that starts changes the ledger, the queues and the ends.
struct ScheduleContext {
  explicit ScheduleContext(const ScheduleRequest& of);
  ScheduleContext(const ScheduleContext&) = delete;
  ScheduleContext& operator=(const ScheduleContext&) = delete;

  using Conditions = std::vector<model::Charge::Backfill>;

  // Starts the gang on this placement. `conditions`: of the reservations on whose capacity it is backfilled.
  void start(const PendingJob& pendingJob, Placement placement, Conditions conditions);
  // Takes the capacity of members that are created in this cycle.
  void take(const model::Job& job, const Placement& placement);
  // For a job that waits: it may start, or preempt, once it accepts a wider placement.
  void wakeAtRelaxation(const PendingJob& pendingJob, const GangShape& shape) {
    wakeAt(relaxesAt(pendingJob, shape));
  }
  // When the job accepts nodes that are farther apart; nothing if it never does.
  [[nodiscard]] std::optional<base::WallTime> relaxesAt(const PendingJob& pendingJob,
                                                        const GangShape& shape) {
    const auto& next = shape.relaxation.next;
    if (!next) return std::nullopt;
    return placer.waitingSinceOf(*pendingJob.waiting->job, pendingJob.position) + next->after;
  }
  void wakeAt(std::optional<base::WallTime> time) {
    if (time && (!schedule.wakeAt || *time < *schedule.wakeAt)) schedule.wakeAt = time;
  }
  [[nodiscard]] GangShape shapeOf(const PendingJob& pendingJob) {
    return placer.shapeOf(*pendingJob.waiting->job, pendingJob.demand[0], pendingJob.position);
  }

  const ScheduleRequest& request;
  const model::Snapshot& snapshot;
  Ledger& ledger;
  QueueTree& tree;
  GangPlacer placer;
  TypeDemand types;
  RunTimeModel runs;
  Ends ends;
  Preemption preemption;
  StartingMembers starting;
  FailedSearches failed;
  Schedule schedule;
};

}  // namespace trainyard::core
