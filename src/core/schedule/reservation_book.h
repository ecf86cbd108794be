#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/limit_holds.h"
#include "core/schedule/pending_explainer.h"
#include "core/schedule/reservation_parts.h"
#include "core/schedule/schedule_context.h"
#include "core/timeline/reservation.h"

namespace trainyard::core {

// Phase 7: the capacity that this cycle reserves for pending gangs, on nodes and below limits, and what that
// lets other gangs do.
class ReservationBook {
 public:
  using Conditions = ScheduleContext::Conditions;

  ReservationBook(ScheduleContext& context, PendingExplainer& explainer)
      : in_(context), explainer_(explainer), limitHolds_(context) {}

  // Reads which of the pending jobs had a reservation in the last cycle.
  void begin(const std::vector<PendingJob>& pendingJobs);
  // The job has its turn now: no condition for its sake is needed any more.
  void beginTurn(const PendingJob& pendingJob);
  // Called for all jobs that rest (SchedulableJob) before the first turn.
  void expectResting(const PendingJob& pendingJob) {
    restingParts_.addWaiting(pendingJob.waiting->job->key.ns, pendingJob.queue);
  }
  // The job rests. Gangs that come after it start on the condition that it may preempt them. These holders
  // are as many as reservations, divided alike.
  void rest(const PendingJob& pendingJob);

  // The first job that waits for capacity in its pool gets a reservation there, and below its queue's limits.
  void reserveIfAllowed(const PendingJob& pendingJob, const GangShape& shape);
  // Reserves if the job's queue and namespace have a reservation left.
  void reserve(const PendingJob& pendingJob, const GangShape& shape);
  void reserveBelowLimit(const PendingJob& pendingJob, const Excess& beyond);

  // What the reservations let a gang do with a placement.
  struct Judgement {
    BackfillVerdict::Kind kind = BackfillVerdict::Kind::kFree;
    std::size_t by = 0;  // reserved: index into reservations()
    Conditions conditions = {};

    [[nodiscard]] bool isReserved() const { return BackfillVerdict{.kind = kind}.isReserved(); }
  };
  // `preempted`: the changes that this placement requires, if any.
  [[nodiscard]] Judgement judge(const PendingJob& pendingJob,
                                const std::vector<model::Assignment>& assignments,
                                const std::vector<Change>* preempted = nullptr);

  // Nodes of the reservations that concern these assignments.
  struct Nodes {
    std::vector<model::NodeName> freed;  // left by a gang a moment ago
    std::vector<model::NodeName> reserved;
  };
  [[nodiscard]] Nodes nodesAround(const std::vector<model::Assignment>& assignments) const;
  // Whether a gang that holds this takes from any reservation, so that it is given no more members.
  [[nodiscard]] bool concerns(const model::Job& job, const std::vector<model::Assignment>& assignments) const;

  [[nodiscard]] const std::vector<Reservation>& reservations() const { return reservations_; }
  [[nodiscard]] LimitHolds& limitHolds() { return limitHolds_; }

 private:
  // A pending job without a reservation in this cycle, for which gangs start conditionally.
  struct AbsentHolder {
    const PendingJob* pendingJob = nullptr;
    std::optional<std::vector<char>> pool = std::nullopt;  // computed when first needed
  };
  // What a preemptor takes on the nodes of a holder.
  struct TakenFromHolder {
    std::vector<Change> handedOver;  // of gangs that the holder may not preempt itself
    // The earliest time from which on the holder may have the capacity of the other gangs.
    std::optional<base::WallTime> inheritedFrom;
  };

  void noteReservedSince(const std::vector<PendingJob>& pendingJobs);
  void listUpcomingHolders(const std::vector<PendingJob>& pendingJobs);
  [[nodiscard]] bool isReservedByAnother(const PendingJob& pendingJob) const;
  [[nodiscard]] Conditions conditionsForAbsentHolders(const PendingJob& pendingJob,
                                                      const std::vector<model::Assignment>& assignments,
                                                      bool preempts);
  [[nodiscard]] std::optional<model::Charge::Backfill> conditionFor(
      AbsentHolder& holder, const PendingJob& pendingJob, const std::vector<model::Assignment>& assignments,
      bool comesFirst);
  [[nodiscard]] Reservation::Asking askingOf(const PendingJob& pendingJob, const Holder& holder,
                                             bool isEntitled);
  [[nodiscard]] TakenFromHolder takeFromHolder(const Holder& holder, const std::vector<Change>& preempted);
  [[nodiscard]] std::optional<base::WallTime> preemptibleByFrom(const Preemptor& preemptor,
                                                                const model::Job& gang);
  // The ends of other gangs as seen by a holder that may preempt some of them; nothing for other holders.
  [[nodiscard]] std::optional<Ends> endsFor(const PendingJob& holder);

  ScheduleContext& in_;
  PendingExplainer& explainer_;
  LimitHolds limitHolds_;
  std::vector<Reservation> reservations_;
  // Namespaces that have a reservation in a pool (PlacementCache::poolOf).
  std::set<std::pair<std::string, std::uint32_t>> pools_;
  ReservationParts parts_;
  // They had a reservation in the last cycle, and have not had their turn yet in this one.
  std::vector<AbsentHolder> upcomingHolders_;
  ReservationParts restingParts_;
  std::vector<AbsentHolder> restingHolders_;  // they are in a back-off
};

}  // namespace trainyard::core
