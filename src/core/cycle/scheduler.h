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

#include "core/cycle/equals.h"
#include "core/cycle/overdue.h"
#include "core/cycle/queue_report.h"
#include "core/cycle/reservation_parts.h"
#include "core/cycle/schedule.h"
#include "core/cycle/type_demand.h"
#include "core/cycle/waiting_order.h"
#include "core/cycle/waiting_words.h"
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
  std::vector<Contender> listContenders();
  JobNotes::Asks asksOf(const Job& job, const Priorities& priorities);
  const QueueTree::Amounts& demandOf(const Job& job, std::uint32_t shape);
  void keepTurns(std::vector<Contender>& contenders);
  bool reached(const Contender& contender);
  [[nodiscard]] bool mayStartMembers(const Contender& contender) const;
  void closeTypes(const Contender& contender);
  bool consider(const Contender& contender);
  void resize();
  void wakeAt(std::optional<base::WallTime> time) {
    if (time && (!schedule_.wakeAt || *time < *schedule_.wakeAt)) schedule_.wakeAt = time;
  }

  // schedule_limits.cpp: contenders of queues that are at a limit, and quota below a limit that is kept for a
  // contender.
  bool neverStarts(const Contender& contender);
  bool outOfQuota(const Contender& contender, QueueTree::Excess beyond);
  bool beyondWhatIsItsOwn(const Contender& contender, const QueueTree::Excess& beyond);
  [[nodiscard]] QueueTree::Amounts awaitedBy(const Contender& contender) const;
  void stopQueue(const Contender& contender, const Pending& pending);
  void stopQueueIfRoomIsShort(const Contender& contender, const GangShape& shape);
  std::optional<QueueTree::Excess> keptBelowLimit(const Contender& contender, const QueueTree::Amounts& held);
  [[nodiscard]] bool entitled(const Contender& contender);
  void keepBelowLimits(const Contender& contender, const QueueTree::Amounts& demand);
  void holdBelowLimit(const Contender& contender, const QueueTree::Excess& beyond);
  [[nodiscard]] PendingPtr limitWords(const Contender& contender);
  void forgetExhausted() {
    exhausted_.reset();
    keptBelow_.reset();
    isShareExhausted_ = false;
  }

  // schedule_places.cpp: phase 5: a placement in free capacity, and the start on it.
  bool findPlaces(const Contender& contender);
  std::optional<Placement> placeInQuota(const Contender& contender, std::uint32_t shape, std::size_t widest);
  std::optional<Placement> withinQuota(const Contender& contender, const Job& job, std::size_t widest,
                                       std::optional<Placement> placement);
  std::optional<std::size_t> widerThatPays(const Contender& contender, const GangShape& shape);
  bool wouldFitWider(const Contender& contender, const GangShape& shape);
  bool startOrHoldBack(const Contender& contender, const GangShape& shape, Placement placement);
  void start(const Contender& contender, Placement placement, Conditions conditions);
  void take(const Job& job, const Placement& placement);
  std::optional<std::size_t> equalInVain(const Contender& contender);
  void noteInVain(const Contender& contender, const GangShape& shape);
  [[nodiscard]] static bool asksForRoomAlone(const Contender& contender);
  [[nodiscard]] static Equals equalsOf(const Contender& contender, const GangShape& shape);

  // schedule_smaller.cpp: phase 5 for an elastic gang: fewer members than desired.
  bool startsSmaller(const Contender& contender);
  std::optional<Placement> placeSmaller(const Contender& contender, std::size_t widest,
                                        const std::vector<model::NodeName>& avoid);
  std::optional<Placement> placeWith(const Contender& contender, int members, std::size_t widest,
                                     const std::vector<model::NodeName>& avoid = {});
  bool waitsForLeast(const Contender& contender, const Job& least);

  // schedule_claims.cpp: phase 6: other gangs give up capacity.
  [[nodiscard]] Claimant claimantOf(const Contender& contender);
  [[nodiscard]] QueueTree::Amounts typedDemandOf(const Contender& contender, const Job& sized);
  bool claims(const Contender& contender, const GangShape& shape);
  bool claimsGuaranteed(const Contender& contender, const GangShape& shape);
  bool claimsMore(const Contender& contender, const GangShape& shape);
  [[nodiscard]] std::optional<Claim> shrinkingFor(const Contender& contender, int members,
                                                  std::size_t widest);
  [[nodiscard]] std::optional<Claim> mostOfLower(const Contender& contender, std::optional<Claim> claim,
                                                 std::pair<int, int> sizes, std::size_t widest);
  bool movesOthers(const Contender& contender, const GangShape& shape);
  bool carryOutUnlessKept(const Contender& contender, Claim claim);
  void carryOut(const Contender& contender, Claim claim, Conditions conditions);
  void takeOverClaim(const Contender& contender, const GangShape& shape);

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

    [[nodiscard]] bool isKept() const { return BackfillVerdict{.kind = kind}.isKept(); }
  };
  void keepPlaces(const Contender& contender, const GangShape& shape);
  void reserve(const Contender& contender, const GangShape& shape);
  [[nodiscard]] bool hasReservationLeft(const Contender& contender) const;
  [[nodiscard]] bool keptByAnother(const Contender& contender) const;
  // `preempted`: the changes that this placement requires, if any.
  Judgement judge(const Contender& contender, const std::vector<model::Assignment>& places,
                  const std::vector<Change>* preempted = nullptr);
  [[nodiscard]] BackfillRequest requestOf(const Contender& contender, QueueTree::Index holders,
                                          const Job& holder);
  // A contender that had a reservation in the last cycle, and has not been considered yet in this one.
  struct HolderToCome {
    const Contender* contender = nullptr;
    std::optional<std::vector<char>> pool = std::nullopt;  // computed when first needed
  };
  void noteReservedSince(const std::vector<Contender>& contenders);
  void listHoldersToCome(const std::vector<Contender>& contenders);
  [[nodiscard]] Conditions towardsHoldersToCome(const Contender& contender,
                                                const std::vector<model::Assignment>& places);
  // What a preemptor takes on the nodes of a holder.
  struct Passed {
    std::vector<Change> handedOver;  // of gangs that the holder may not preempt itself
    // The earliest time from which on the holder may have the capacity of the other gangs.
    std::optional<base::WallTime> inheritedFrom;
  };
  [[nodiscard]] Passed passBeside(const Holder& holder, const std::vector<Change>& preempted);
  [[nodiscard]] std::optional<base::WallTime> preemptibleByFrom(const Claimant& claimant, const Job& gang);
  BackfillVerdict judgeBelow(const LimitHold& hold, const Contender& contender,
                             const QueueTree::Amounts& held);
  [[nodiscard]] std::optional<Ends> endsFor(const Contender& holder);
  std::optional<Placement> besideKept(const Contender& contender, const GangShape& shape,
                                      const Placement& found);
  std::optional<Placement> placeOff(std::vector<model::NodeName> nodes, const Contender& contender,
                                    const GangShape& shape);
  [[nodiscard]] std::vector<model::NodeName> keptNodes(const std::vector<model::Assignment>& places) const;
  [[nodiscard]] static HeldBackKey heldBackKey(const Contender& contender, const GangShape& shape,
                                               Basis basis);
  bool equalWasHeldBack(const Contender& contender, const GangShape& shape);
  void holdBack(const Contender& contender, const GangShape& shape, const Judgement& judgement);
  void sayHeldBack(const Contender& contender, const GangShape& shape, const HeldBack& held);

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
  WaitingWords words_;
  Schedule schedule_;
  // Members that are starting, from reserved to bound: in total and by namespace.
  std::int64_t starting_ = 0;
  std::map<std::string, std::int64_t> startingOf_;
  std::optional<model::ObjectKey> unreachedBefore_;
  std::vector<std::unique_ptr<const QueueTree::Amounts>> demands_;  // by shape
  // The limit that the present contender exceeds with every placement, if that is why it found none.
  std::optional<QueueTree::Excess> exhausted_;
  JobPtr keptBelow_;               // the job that quota below the limit is kept for, if that is why
  bool isShareExhausted_ = false;  // `exhausted_` is the guarantee that bounds non-preemptible jobs
  // Equivalent jobs for which a claim failed, since the last start.
  std::unordered_set<Equals, HashOfEquals> claimedInVain_;
  std::unordered_set<Equals, HashOfEquals> guaranteedInVain_;
  // Since the last start: the expected run of an elastic gang that no other gang gave more than its minimum.
  std::map<std::tuple<QueueTree::Index, int, std::uint32_t, std::size_t>, double> noMoreFor_;
  // Elastic gangs without a placement even at their minimum: queue, shape, width, minimum, preemptible.
  std::set<std::tuple<QueueTree::Index, std::uint32_t, std::size_t, int, bool>> noneSmaller_;
  std::map<HeldBackKey, HeldBack> heldBack_;
  std::unordered_map<Equals, std::size_t, HashOfEquals> inVain_;  // the same; by WaitingWords::lastLater()
  std::map<QueueTree::Index, PendingPtr> stopped_;                // queues with a first job out of quota
  std::vector<Reservation> reservations_;
  // Namespaces that have a reservation in a pool (PlacementCache::poolOf).
  std::set<std::pair<std::string, std::uint32_t>> pools_;
  ReservationParts parts_;
  std::vector<LimitHold> limitHolds_;
  std::vector<HolderToCome> holdersToCome_;
};

}  // namespace trainyard::core
