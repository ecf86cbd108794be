#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/place/gang_placer.h"
#include "core/place/job_notes.h"
#include "core/preemption/concession.h"
#include "core/preemption/shrinks.h"
#include "core/preemption/stops.h"
#include "core/queues/eligibility.h"
#include "core/queues/queue_tree.h"
#include "core/timeline/ends.h"
#include "core/timeline/reservation.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Phase 6 of one schedule: who is stopped for whom. It remembers whom it has given away.
//
// Assumes: a search asks for many placements, which the cycle's WorkBudget bounds; who is not served now is
// served by the next cycle. Steps: who may shrink for it, and whether that suffices
// (core/preemption/shrinks.h); else whom a claimant may stop (core/queues/eligibility.h), cheapest first; who
// of them must go (core/preemption/stops.h), and who of those need only shrink; where nobody may be stopped,
// who may go elsewhere (core/preemption/moves.h).
//
// Who goes is chosen as if those had gone that leave already: nobody is stopped in their stead. Where a limit
// has no room for the claimant before that, nobody goes yet.
//
// An elastic gang gives up what it has beyond its user's wish to whoever waits; down to its least to whoever
// may stop it, or is of its own queue and no lower in priority, where it comes through that without loss and
// its queue does not forbid it (preemption.withinQueue: Never).
class Preemption {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  // Where a running job stands in its queue.
  using RankOf = std::function<Rank(const model::Job&, int priority)>;

  // `notes` follow the snapshot. Nobody asks those that are `changing` for anything.
  Preemption(const model::Snapshot& snapshot, const JobNotes& notes, Ledger& ledger, QueueTree& tree,
             GangPlacer& placer, Ends& ends, RunTimeModel& runs, RankOf rankOf,
             std::set<const model::Job*> changing)
      : snapshot_(snapshot),
        notes_(notes),
        ledger_(ledger),
        tree_(tree),
        shares_(tree),
        placer_(placer),
        ends_(ends),
        runs_(runs),
        rankOf_(std::move(rankOf)),
        stopped_(std::move(changing)) {}

  // Whether anybody may be stopped or shrunk, and whether anybody has a claim under way; else nobody need
  // ask.
  [[nodiscard]] bool anyRunning();
  // Whether a running gang was backfilled on capacity that the job had reserved.
  [[nodiscard]] bool isHolder(const model::Job& job);
  [[nodiscard]] bool anyClaiming();
  // Whether one of lower priority in this queue has a claim under way, which somebody may take over.
  [[nodiscard]] bool anyClaimingBelow(QueueTree::Index queue, int priority);
  // Whether anybody who runs may be stopped for the sake of order.
  [[nodiscard]] bool anyTakesTurns() {
    listRunning();
    return !runningOf_.empty();
  }

  // Places for the claimant, with those who must go for them, whom it discharges from their queues; nothing
  // where nobody may be stopped, or that would not help.
  [[nodiscard]] std::optional<Claim> claim(const Claimant& claimant, std::size_t widest);

  // Whether the last claim failed because there was nobody to ask, and nobody who might shrink.
  [[nodiscard]] bool lastHadNobody() const { return lastHadNobody_; }
  // Whether a claim would fail likewise of one that is equal to whoever made that one, but for its rank, as
  // long as nothing was taken or given since: it is not his turn either. Counts as if he had asked.
  [[nodiscard]] bool hasNobody(QueueTree::Index queue, const Rank& rank, bool mayPreempt);

  // The same, as far as elastic gangs make room by shrinking alone.
  [[nodiscard]] std::optional<Claim> claimShrinking(const Claimant& claimant, std::size_t widest);

  // The claim is not carried out: those who would have gone are charged again.
  void withdraw(const Claim& claim);

  // Places for the claimant, with those who go elsewhere for it. Asked once, for the first that has to wait.
  [[nodiscard]] std::optional<Claim> move(const Claimant& claimant, std::size_t widest);

  // The claim of a lower priority in the same queue whose victims the claimant may wait for instead. One a
  // cycle: what it frees is seen in the next one.
  [[nodiscard]] std::optional<JobPtr> takeOver(const Claimant& claimant, std::size_t widest);

  // When somebody who may not be stopped yet may be, or has had his turn, if anybody asked.
  [[nodiscard]] std::optional<base::WallTime> wakeAt() const { return wakeAt_; }

 private:
  // Running gangs that are alike to a claimant by right of queue and priority: indices into running_,
  // ascending.
  using Alike = std::vector<std::size_t>;

  void listRunning();
  [[nodiscard]] std::optional<Claim> shrinks(const Claimant& claimant, std::size_t widest, bool surplusOnly);
  [[nodiscard]] std::vector<Shrinkable> shrinkable(const Claimant& claimant, bool surplusOnly);
  [[nodiscard]] NodeAmounts freedBy(const model::Job& job, int count) const;
  [[nodiscard]] int mayGive(const Claimant& claimant, const Concession& running);
  void spareMembers(const Claimant& claimant, std::size_t widest, Claim& claim);
  [[nodiscard]] std::optional<Placement> placedBeside(const Claimant& claimant, std::size_t widest,
                                                      const std::vector<Change>& gone);
  void listElastic(const JobPtr& job, int priority);
  // Whether a limit makes the claim wait for what leaves already.
  [[nodiscard]] bool comesTooEarly(const Claimant& claimant, const Claim& claim);
  void giveAway(const Claim& claim);
  void leave(const std::vector<Change>& gone, bool isBack);
  void leave(const std::vector<Concession>& candidates, const Chosen& gone, bool isBack);
  [[nodiscard]] bool quotaAllowsBeside(const Claimant& claimant, const std::vector<Change>& gone);
  [[nodiscard]] bool quotaAllows(const Claimant& claimant, const Placement* placement) const;
  [[nodiscard]] std::optional<Placement> placeBeside(const Claimant& claimant, std::size_t widest,
                                                     const std::vector<Change>& gone);
  [[nodiscard]] std::optional<Placement> placeInQuota(const Claimant& claimant, std::size_t widest);
  void listAlike();
  [[nodiscard]] std::vector<std::size_t> whomMayStop(const Claimant& claimant);
  void addBackfilled(const Claimant& claimant, std::vector<std::size_t>& found);
  void addTurns(const Claimant& claimant, std::vector<std::size_t>& found);
  void wakeAt(std::optional<base::WallTime> time);
  [[nodiscard]] bool mayTakeFrom(const Claimant& claimant, const Concession& running);
  [[nodiscard]] bool mayTakeTurn(const Claimant& claimant, const Concession& running);
  [[nodiscard]] std::vector<Concession> concessions(const Claimant& claimant);
  // Placed gangs that may be preempted by now and are not, cheapest first; without the room that they hold.
  [[nodiscard]] std::vector<const Concession*> stoppable();
  [[nodiscard]] Rank rankOf(const Concession& running);
  void spend(std::size_t rights);
  [[nodiscard]] Chosen stoppableTogether(const Claimant& claimant, const std::vector<Concession>& candidates);
  [[nodiscard]] bool mayStopAll(const Claimant& claimant, const std::vector<Concession>& candidates,
                                Chosen gone);
  [[nodiscard]] bool mayStopInTurn(const Claimant& claimant, const std::vector<Concession>& candidates,
                                   const Chosen& gone);
  void discharge(const Concession& running);
  void chargeAgain(const Concession& running);
  [[nodiscard]] bool fitsWithout(const model::Job& other, const Claimant& asking, std::size_t widest);

  const model::Snapshot& snapshot_;
  const JobNotes& notes_;
  Ledger& ledger_;
  QueueTree& tree_;
  KnownShares shares_;
  GangPlacer& placer_;
  Ends& ends_;
  RunTimeModel& runs_;
  RankOf rankOf_;
  bool askedToMove_ = false;
  bool lastHadNobody_ = false;
  bool tooEarly_ = false;  // the last claim, which somebody would have given its places
  bool listed_ = false;
  bool tookOver_ = false;
  std::optional<std::vector<JobPtr>> claiming_;  // whose start waits for victims to go away
  std::vector<Concession> running_;              // who may be stopped at all, cheapest first
  std::vector<Concession> elastic_;              // who may shrink at all, in that order
  std::vector<Alike> alike_;
  std::vector<std::size_t> backfilled_;  // indices into running_ of gangs that have a condition
  std::map<QueueTree::Index, std::vector<std::size_t>> runningOf_;  // by queue, those that take turns
  // By queue, priority and whether its run was learnt (which asks for more, worthAStop()), the merit of the
  // best claimant whose turn it was not: nor is it that of a lesser one.
  std::map<std::tuple<QueueTree::Index, int, bool>, double> noTurnFor_;
  std::set<const model::Job*> stopped_;                // or changing
  std::unordered_map<const model::Job*, Rank> ranks_;  // of those that run, as far as anybody asked
  std::optional<base::WallTime> wakeAt_;
};

}  // namespace trainyard::core
