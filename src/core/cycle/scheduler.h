#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/cycle/equivalence_key.h"
#include "core/cycle/overdue.h"
#include "core/cycle/pending_explainer.h"
#include "core/cycle/pending_order.h"
#include "core/cycle/queue_report.h"
#include "core/cycle/reservation_parts.h"
#include "core/cycle/schedule.h"
#include "core/cycle/type_demand.h"
#include "core/place/gang_placer.h"
#include "core/preemption/preemption.h"
#include "core/queues/priority.h"
#include "core/queues/queue_tree.h"
#include "core/timeline/ends.h"
#include "core/timeline/limit_hold.h"
#include "core/timeline/reservation.h"

namespace trainyard::core {

// One schedule() under way; core/cycle/schedule.h describes its phases. Each group of functions is
// implemented in a file of its own, and only those files include this header.
class Scheduler {
 public:
  using Job = model::Job;
  using Pending = model::Pending;
  using JobPtr = std::shared_ptr<const Job>;
  using PendingPtr = std::shared_ptr<const Pending>;
  using Conditions = std::vector<model::Charge::Backfill>;

  explicit Scheduler(const ScheduleRequest& request);
  Schedule run();

 private:
  // schedule.cpp: considers all contenders in turn.
  std::vector<PendingJob> listPendingJobs();
  JobNotes::PendingFacts pendingFactsOf(const Job& job, const Priorities& priorities);
  const QueueTree::Amounts& demandOf(const Job& job, std::uint32_t shape);
  void keepReservedPositions(std::vector<PendingJob>& pendingJobs);
  bool reached(const PendingJob& pendingJob);
  [[nodiscard]] bool mayStartMembers(const PendingJob& pendingJob) const;
  void closeTypes(const PendingJob& pendingJob);
  bool consider(const PendingJob& pendingJob);
  void resize();
  void wakeAt(std::optional<base::WallTime> time) {
    if (time && (!schedule_.wakeAt || *time < *schedule_.wakeAt)) schedule_.wakeAt = time;
  }

  // schedule_limits.cpp: contenders of queues that are at a limit, and quota below a limit that is kept for a
  // contender.
  bool neverStarts(const PendingJob& pendingJob);
  bool outOfQuota(const PendingJob& pendingJob, QueueTree::Excess beyond);
  bool outOfNominalQuota(const PendingJob& pendingJob, const QueueTree::Excess& beyond);
  [[nodiscard]] QueueTree::Amounts startDemandOf(const PendingJob& pendingJob) const;
  void blockQueue(const PendingJob& pendingJob, const Pending& pending);
  void blockQueueIfCapacityIsShort(const PendingJob& pendingJob, const GangShape& shape);
  std::optional<QueueTree::Excess> reservedBelowLimit(const PendingJob& pendingJob,
                                                      const QueueTree::Amounts& held);
  [[nodiscard]] bool entitled(const PendingJob& pendingJob);
  void reserveBelowLimits(const PendingJob& pendingJob, const QueueTree::Amounts& demand);
  void holdBelowLimit(const PendingJob& pendingJob, const QueueTree::Excess& beyond);
  [[nodiscard]] PendingPtr limitPending(const PendingJob& pendingJob);
  void forgetExhausted() {
    exhausted_.reset();
    reservedBelow_.reset();
    isShareExhausted_ = false;
  }

  // schedule_places.cpp: phase 5: a placement in free capacity, and the start on it.
  bool findPlacement(const PendingJob& pendingJob);
  std::optional<Placement> placeInQuota(const PendingJob& pendingJob, std::uint32_t shape,
                                        std::size_t widest);
  std::optional<Placement> withinQuota(const PendingJob& pendingJob, const Job& job, std::size_t widest,
                                       std::optional<Placement> placement);
  std::optional<std::size_t> worthwhileWidening(const PendingJob& pendingJob, const GangShape& shape);
  bool wouldFitWider(const PendingJob& pendingJob, const GangShape& shape);
  bool startOrHoldBack(const PendingJob& pendingJob, const GangShape& shape, Placement placement);
  void start(const PendingJob& pendingJob, Placement placement, Conditions conditions);
  void take(const Job& job, const Placement& placement);
  std::optional<std::size_t> equivalentUnplaced(const PendingJob& pendingJob);
  void noteEquivalentUnplaced(const PendingJob& pendingJob, const GangShape& shape);
  [[nodiscard]] static bool needsOnlyCapacity(const PendingJob& pendingJob);
  [[nodiscard]] static EquivalenceKey equivalenceKeyOf(const PendingJob& pendingJob, const GangShape& shape);

  // schedule_smaller.cpp: phase 5 for an elastic gang: fewer members than desired.
  bool startsSmaller(const PendingJob& pendingJob);
  std::optional<Placement> placeSmaller(const PendingJob& pendingJob, std::size_t widest,
                                        const std::vector<model::NodeName>& avoid);
  std::optional<Placement> placeWith(const PendingJob& pendingJob, int members, std::size_t widest,
                                     const std::vector<model::NodeName>& avoid = {});
  bool waitsForMinimum(const PendingJob& pendingJob, const Job& minimum);

  // schedule_claims.cpp: phase 6: other gangs give up capacity.
  [[nodiscard]] Preemptor preemptorOf(const PendingJob& pendingJob);
  [[nodiscard]] QueueTree::Amounts typedDemandOf(const PendingJob& pendingJob, const Job& sized);
  bool claims(const PendingJob& pendingJob, const GangShape& shape);
  bool claimsGuaranteed(const PendingJob& pendingJob, const GangShape& shape);
  bool claimsMore(const PendingJob& pendingJob, const GangShape& shape);
  [[nodiscard]] std::optional<Claim> shrinkingFor(const PendingJob& pendingJob, int members,
                                                  std::size_t widest);
  [[nodiscard]] std::optional<Claim> mostOfLower(const PendingJob& pendingJob, std::optional<Claim> claim,
                                                 std::pair<int, int> sizes, std::size_t widest);
  bool movesOthers(const PendingJob& pendingJob, const GangShape& shape);
  bool carryOutUnlessReserved(const PendingJob& pendingJob, Claim claim);
  void carryOut(const PendingJob& pendingJob, Claim claim, Conditions conditions);
  void takeOverClaim(const PendingJob& pendingJob, const GangShape& shape);

  // schedule_reservations.cpp: phase 7: capacity reserved for pending gangs, and gangs backfilled on it.
  // Equivalent jobs that found a kept placement share a key: queue, shape, width, preemptible,
  // checkpointable, the basis of the expected run, and the deadline.
  using HeldBackKey = std::tuple<QueueTree::Index, std::uint32_t, std::size_t, bool, bool, Basis,
                                 std::optional<std::chrono::seconds>>;
  struct HeldBack {
    std::chrono::seconds run{0};
    bool briefly = false;
    std::size_t by = 0;  // index into reservations_
  };
  // What the reservations let a gang do with a placement.
  struct Judgement {
    BackfillVerdict::Kind kind = BackfillVerdict::Kind::kFree;
    std::size_t by = 0;  // kept: index into reservations_
    Conditions conditions = {};

    [[nodiscard]] bool isReserved() const { return BackfillVerdict{.kind = kind}.isReserved(); }
  };
  void reserveIfAllowed(const PendingJob& pendingJob, const GangShape& shape);
  void reserve(const PendingJob& pendingJob, const GangShape& shape);
  [[nodiscard]] bool hasReservationLeft(const PendingJob& pendingJob) const;
  [[nodiscard]] bool reservedByAnother(const PendingJob& pendingJob) const;
  // `preempted`: the changes that this placement requires, if any.
  Judgement judge(const PendingJob& pendingJob, const std::vector<model::Assignment>& assignments,
                  const std::vector<Change>* preempted = nullptr);
  [[nodiscard]] BackfillRequest requestOf(const PendingJob& pendingJob, QueueTree::Index holders,
                                          const Job& holder);
  // A contender that had a reservation in the last cycle, and has not been considered yet in this one.
  struct UpcomingHolder {
    const PendingJob* pendingJob = nullptr;
    std::optional<std::vector<char>> pool = std::nullopt;  // computed when first needed
  };
  void noteReservedSince(const std::vector<PendingJob>& pendingJobs);
  void listUpcomingHolders(const std::vector<PendingJob>& pendingJobs);
  [[nodiscard]] Conditions conditionsForUpcomingHolders(const PendingJob& pendingJob,
                                                        const std::vector<model::Assignment>& assignments);
  // What a preemptor takes on the nodes of a holder.
  struct TakenFromHolder {
    std::vector<Change> handedOver;  // of gangs that the holder may not preempt itself
    // The earliest time from which on the holder may have the capacity of the other gangs.
    std::optional<base::WallTime> inheritedFrom;
  };
  [[nodiscard]] TakenFromHolder takeFromHolder(const Holder& holder, const std::vector<Change>& preempted);
  [[nodiscard]] std::optional<base::WallTime> preemptibleByFrom(const Preemptor& preemptor, const Job& gang);
  BackfillVerdict judgeBelow(const LimitHold& hold, const PendingJob& pendingJob,
                             const QueueTree::Amounts& held);
  [[nodiscard]] std::optional<Ends> endsFor(const PendingJob& holder);
  std::optional<Placement> placeOffReserved(const PendingJob& pendingJob, const GangShape& shape,
                                            const Placement& found);
  std::optional<Placement> placeOffNodes(std::vector<model::NodeName> nodes, const PendingJob& pendingJob,
                                         const GangShape& shape);
  [[nodiscard]] std::vector<model::NodeName> nodesOfReservations(
      const std::vector<model::Assignment>& assignments) const;
  [[nodiscard]] static HeldBackKey heldBackKey(const PendingJob& pendingJob, const GangShape& shape,
                                               Basis basis);
  bool equivalentWasHeldBack(const PendingJob& pendingJob, const GangShape& shape);
  void holdBack(const PendingJob& pendingJob, const GangShape& shape, const Judgement& judgement);
  void reportHeldBack(const PendingJob& pendingJob, const GangShape& shape, const HeldBack& held);

  const ScheduleRequest& request_;
  const model::Snapshot& snapshot_;
  Ledger& ledger_;
  QueueTree& tree_;
  GangPlacer placer_;
  TypeDemand types_;
  RunTimeModel runs_;
  OrderSettings orderSettings_;
  Ends ends_;
  Preemption preemption_;
  QueueReport report_;
  Overdue overdue_;
  PendingExplainer explainer_;
  Schedule schedule_;
  // Members that are starting, from reserved to bound: in total and by namespace.
  std::int64_t starting_ = 0;
  std::map<std::string, std::int64_t> startingOf_;
  std::optional<model::ObjectKey> unreachedBefore_;
  std::vector<std::unique_ptr<const QueueTree::Amounts>> demands_;  // by shape
  // The limit that the present contender exceeds with every placement, if that is why it found none.
  std::optional<QueueTree::Excess> exhausted_;
  JobPtr reservedBelow_;           // the job that quota below the limit is kept for, if that is why
  bool isShareExhausted_ = false;  // `exhausted_` is the guarantee that bounds non-preemptible jobs
  // Equivalent jobs for which a claim failed, since the last start.
  std::unordered_set<EquivalenceKey, EquivalenceHash> failedClaims_;
  std::unordered_set<EquivalenceKey, EquivalenceHash> failedGuaranteedClaims_;
  // Since the last start: the expected run of an elastic gang that no other gang gave more than its minimum.
  std::map<std::tuple<QueueTree::Index, int, std::uint32_t, std::size_t>, double> noMoreFor_;
  // Elastic gangs without a placement even at their minimum: queue, shape, width, minimum, preemptible.
  std::set<std::tuple<QueueTree::Index, std::uint32_t, std::size_t, int, bool>> noneSmaller_;
  std::map<HeldBackKey, HeldBack> heldBack_;
  std::unordered_map<EquivalenceKey, std::size_t, EquivalenceHash>
      unplacedKeys_;                                      // the same; by PendingExplainer::lastUnplaced()
  std::map<QueueTree::Index, PendingPtr> blockedQueues_;  // queues with a first job out of quota
  std::vector<Reservation> reservations_;
  // Namespaces that have a reservation in a pool (PlacementCache::poolOf).
  std::set<std::pair<std::string, std::uint32_t>> pools_;
  ReservationParts parts_;
  std::vector<LimitHold> limitHolds_;
  std::vector<UpcomingHolder> upcomingHolders_;
};

}  // namespace trainyard::core
