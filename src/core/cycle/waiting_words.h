#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/cycle/limit_waits.h"
#include "core/cycle/overdue.h"
#include "core/cycle/queue_report.h"
#include "core/cycle/schedule.h"
#include "core/cycle/waiting_order.h"
#include "core/place/gang_placer.h"
#include "core/timeline/ends.h"
#include "core/timeline/reservation.h"

namespace trainyard::core {

// Phase 9 of one schedule: why everybody waits who waits. Reasons that tell of room are found when all have
// had their turn, once for all that are alike; jobs that wait for the same share one object. Whoever was not
// reached is told what he was told before.
class WaitingWords {
 public:
  struct Scene {
    const model::Snapshot& snapshot;
    Ledger& ledger;
    const QueueTree& tree;
    GangPlacer& placer;
    PlacementCache& cache;
    const QueueReport& report;
    Ends& ends;
    RunTimeModel& runs;
    Overdue& overdue;
  };
  explicit WaitingWords(Scene scene)
      : in_(scene),
        overdue_(scene.overdue),
        limits_(scene.snapshot, scene.ledger, scene.tree, scene.placer, scene.ends, scene.runs) {}

  using PendingPtr = std::shared_ptr<const model::Pending>;
  // Each adds one to schedule.waits, and returns false: the job was not charged to its queue.
  bool behindStarting(const Contender& contender, Schedule& schedule);
  bool notReached(const Contender& contender, Schedule& schedule);
  bool say(const Contender& contender, const PendingPtr& pending, Schedule& schedule);
  // It found places that are kept; `briefly`: they will be anybody's in a moment.
  bool heldBack(const Contender& contender, const Reservation& by, bool briefly, Schedule& schedule);
  // It found none: why is looked up in explain(). The contender outlives this.
  bool later(const Contender& contender, const GangShape& shape, Schedule& schedule);
  // The same of one that is equal to an earlier one, by lastLater().
  bool laterAs(const Contender& contender, std::size_t equal, Schedule& schedule);
  [[nodiscard]] std::size_t lastLater() const { return later_.size() - 1; }

  // Whether room is what it lacks; else it may wait for ever (too large, no such nodes).
  [[nodiscard]] bool waitsForRoom(const Contender& contender, const GangShape& shape);
  // What it lacks, as its queue has it.
  [[nodiscard]] model::Pending classified(const Contender& contender, const GangShape& shape);
  [[nodiscard]] LimitWaits& limits() { return limits_; }
  // Room below a limit is kept for it.
  void keepsLimit(const Contender& contender) { keepers_.insert(contender.position); }

  // Last: finds the words that are missing, and when whoever waits will start, as far as it is cheap to know.
  void explain(const std::vector<Reservation>& reservations, Schedule& schedule);
  [[nodiscard]] std::optional<base::WallTime> wakeAt() const { return wakeAt_; }

 private:
  [[nodiscard]] PendingPtr failureOf(const Contender& contender, const GangShape& shape);
  [[nodiscard]] PendingPtr wordsFor(const Later& each);
  [[nodiscard]] std::string levelWords(std::size_t level) const;
  void tellLeast(const Contender& contender, const GangShape& shape, model::Pending& pending);
  void tellSlice(const Contender& contender, model::Pending& pending) const;
  [[nodiscard]] PendingPtr saidBefore(const Contender& contender) const;
  void tellHolders(const std::vector<Reservation>& reservations, Schedule& schedule);
  void tellStarts(const std::vector<Reservation>& reservations, Schedule& schedule);
  void wakeAt(std::optional<base::WallTime> time) {
    if (time && (!wakeAt_ || *time < *wakeAt_)) wakeAt_ = time;
  }

  Scene in_;
  Overdue& overdue_;
  LimitWaits limits_;
  std::vector<Later> later_;
  // Of the present cycle, with how much had been taken from the ledger then; of a question, and what is
  // closed to those who ask.
  using Question = std::pair<PlacementCache::Question, const GangPlacer::NodeNames*>;
  std::map<Question, std::pair<std::uint64_t, PendingPtr>> failures_;
  std::map<PlacementCache::Words, PendingPtr> told_;
  PendingPtr lastTold_;  // of those
  std::map<const Reservation*, PendingPtr> reservedBy_;
  std::set<std::size_t> keepers_;  // positions
  std::optional<base::WallTime> wakeAt_;
  PendingPtr starting_ = std::make_shared<model::Pending>(
      model::Pending{model::PendingReason::kWaitingForTurn, "behind others whose pods are being started"});
  PendingPtr unreached_ = std::make_shared<model::Pending>(
      model::Pending{model::PendingReason::kWaitingForTurn, "behind others that are looked at first"});
};

}  // namespace trainyard::core
