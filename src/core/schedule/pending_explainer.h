#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/schedule/limit_waits.h"
#include "core/schedule/overdue.h"
#include "core/schedule/pending_order.h"
#include "core/schedule/queue_report.h"
#include "core/schedule/schedule.h"
#include "core/search/gang_placer.h"
#include "core/timeline/ends.h"
#include "core/timeline/reservation.h"

namespace trainyard::core {

// Phase 9 of one schedule: why each pending job waits. Reasons about capacity are found after all jobs had
// their turn, once for equivalent jobs. Jobs that wait for the same thing share one object. A job that was
// not reached keeps the reason that it reported before.
class PendingExplainer {
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
  explicit PendingExplainer(Scene scene)
      : in_(scene),
        overdue_(scene.overdue),
        limits_(scene.snapshot, scene.ledger, scene.tree, scene.placer, scene.ends, scene.runs) {}

  using PendingPtr = std::shared_ptr<const model::Pending>;
  // Each function adds an entry to schedule.waits and returns false: the job was not charged to its queue.
  bool behindStarting(const PendingJob& pendingJob, Schedule& schedule);
  bool notReached(const PendingJob& pendingJob, Schedule& schedule);
  bool addWait(const PendingJob& pendingJob, const PendingPtr& pending, Schedule& schedule);
  // The job found nodes that are kept; `briefly`: they will be free for all jobs in a moment.
  bool heldBack(const PendingJob& pendingJob, const Reservation& by, bool briefly, Schedule& schedule);
  // The job found no placement; explain() finds out why. The pending job outlives this object.
  bool noteUnplaced(const PendingJob& pendingJob, const GangShape& shape, Schedule& schedule);
  // Does the same for a job that is equivalent to an earlier one, given by its lastUnplaced().
  bool noteUnplacedAs(const PendingJob& pendingJob, std::size_t equal, Schedule& schedule);
  [[nodiscard]] std::size_t lastUnplaced() const { return unplaced_.size() - 1; }

  // Returns true if the job lacks capacity; else it may wait for ever (too large, no matching nodes).
  [[nodiscard]] bool waitsForCapacity(const PendingJob& pendingJob, const GangShape& shape);
  // Returns what the job lacks, classified by the share of its queue.
  [[nodiscard]] model::Pending classified(const PendingJob& pendingJob, const GangShape& shape);
  [[nodiscard]] LimitWaits& limits() { return limits_; }
  // Records that quota below a limit is kept for the job.
  void noteLimitHolder(const PendingJob& pendingJob) { holders_.insert(pendingJob.position); }

  // Called last: finds the reasons that are missing, and the expected starts that are cheap to find.
  void explain(const std::vector<Reservation>& reservations, Schedule& schedule);
  [[nodiscard]] std::optional<base::WallTime> wakeAt() const { return wakeAt_; }

 private:
  [[nodiscard]] PendingPtr failureOf(const PendingJob& pendingJob, const GangShape& shape);
  struct Explained {
    PendingPtr pending;
    bool isShareable = false;  // with equivalent jobs; false: it is what this job reported before
  };
  [[nodiscard]] Explained pendingOf(const UnplacedJob& each);
  [[nodiscard]] std::string levelText(std::size_t level) const;
  void describeMinimum(const PendingJob& pendingJob, const GangShape& shape, model::Pending& pending);
  void describeTimeSlice(const PendingJob& pendingJob, model::Pending& pending) const;
  [[nodiscard]] PendingPtr previousReason(const PendingJob& pendingJob) const;
  void describeHolders(const std::vector<Reservation>& reservations, Schedule& schedule);
  void addExpectedStarts(const std::vector<Reservation>& reservations, Schedule& schedule);
  void wakeAt(std::optional<base::WallTime> time) {
    if (time && (!wakeAt_ || *time < *wakeAt_)) wakeAt_ = time;
  }

  Scene in_;
  Overdue& overdue_;
  LimitWaits limits_;
  std::vector<UnplacedJob> unplaced_;
  // The failures of this cycle, each with the ledger's takes() at that time. The key is the question, and the
  // nodes that are closed to the jobs that ask it.
  using Question = std::pair<UnplacedShapes::Question, const GangPlacer::NodeNames*>;
  std::map<Question, std::pair<std::uint64_t, PendingPtr>> failures_;
  std::map<PlacementCache::MessageKey, PendingPtr> reported_;
  std::map<const Reservation*, PendingPtr> reservedBy_;
  std::set<std::size_t> holders_;  // positions
  std::optional<base::WallTime> wakeAt_;
  PendingPtr starting_ = std::make_shared<model::Pending>(model::Pending{
      model::PendingReason::kWaitingForTurn, "behind other jobs whose pods are being started"});
  PendingPtr unreached_ = std::make_shared<model::Pending>(
      model::Pending{model::PendingReason::kWaitingForTurn, "behind other jobs that are considered first"});
};

}  // namespace trainyard::core
