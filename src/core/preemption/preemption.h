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
#include "core/preemption/candidate.h"
#include "core/preemption/shrinks.h"
#include "core/preemption/victims.h"
#include "core/queues/eligibility.h"
#include "core/queues/queue_tree.h"
#include "core/timeline/ends.h"
#include "core/timeline/reservation.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Phase 6 of a schedule: which gangs are preempted for which. It remembers the gangs that claims have taken.
//
// Assumes: a search requests many placements, which the cycle's WorkBudget bounds; what does not fit
// into it is left to the next cycle. Steps: gangs shrink, if that suffices (core/preemption/shrinks.h);
// else the gangs that the preemptor may preempt (core/queues/eligibility.h), cheapest first; which of
// them are preempted (core/preemption/victims.h), and which of those only need to shrink. If none may be
// preempted, gangs that may move (core/preemption/moves.h).
//
// Victims are chosen as if gangs that terminate already had gone: none is preempted in their stead. If a
// limit does not admit the preemptor before they have gone, no gang is preempted yet.
//
// An elastic gang gives up members above its desired replicas to any pending job. Down to its minimum it
// gives them to a job that may preempt it. If it shrinks without loss, it also gives them to a job of its own
// queue and of no lower priority, unless preemption.withinQueue is Never.
class Preemption {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  // The position of a running job in the order of its queue.
  using RankOf = std::function<Rank(const model::Job&, int priority)>;

  // `notes` match the snapshot. Gangs that are `changing` are not candidates.
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
        preempted_(std::move(changing)) {}

  // Whether any gang may be preempted or shrunk, and whether any claim is under way. If neither
  // holds, claim() and takeOver() need not be called.
  [[nodiscard]] bool anyRunning();
  // Whether a running gang was backfilled on capacity that the job had reserved.
  [[nodiscard]] bool isHolder(const model::Job& job);
  [[nodiscard]] bool anyClaiming();
  // Whether a claim of lower priority is under way in this queue, which another job may take over.
  [[nodiscard]] bool anyClaimingBelow(QueueTree::Index queue, int priority);
  // Whether any running gang may be preempted by time slicing.
  [[nodiscard]] bool anyTimeSliced() {
    listRunning();
    return !runningOf_.empty();
  }

  // A placement for the preemptor, with the gangs that must go for it, which claim() discharges from their
  // queues. Empty if no gang may be preempted, or if that would not help.
  [[nodiscard]] std::optional<Claim> claim(const Preemptor& preemptor, std::size_t widest);

  // Whether the last claim failed because no gang could be preempted or shrunk.
  [[nodiscard]] bool lastHadNoCandidate() const { return lastHadNoCandidate_; }
  // Returns true if an equivalent job that ranks no worse has already failed to preempt, and no capacity has
  // changed since. Spends the budget that claim() would spend.
  [[nodiscard]] bool hasNoCandidate(QueueTree::Index queue, const Rank& rank, bool mayPreempt);

  // As claim(), but elastic gangs only shrink.
  [[nodiscard]] std::optional<Claim> claimShrinking(const Preemptor& preemptor, std::size_t widest);

  // Reverts a claim that is not carried out: its victims are charged again.
  void withdraw(const Claim& claim);

  // A placement for the preemptor, with the gangs that move for it. Searched once, for the first caller.
  [[nodiscard]] std::optional<Claim> move(const Preemptor& preemptor, std::size_t widest);

  // The claim of lower priority in the same queue that is given up, so that the preemptor waits for its
  // victims. One a cycle: its effect is seen in the next one.
  [[nodiscard]] std::optional<JobPtr> takeOver(const Preemptor& preemptor, std::size_t widest);

  // The next time at which a gang becomes preemptible or a time slice ends, if any was considered.
  [[nodiscard]] std::optional<base::WallTime> wakeAt() const { return wakeAt_; }

 private:
  // Running gangs that the rules on queue and priority treat
  // alike: indices into running_, in ascending order.
  using EquivalentGangs = std::vector<std::size_t>;

  void listRunning();
  [[nodiscard]] std::optional<Claim> shrinks(const Preemptor& preemptor, std::size_t widest,
                                             bool surplusOnly);
  [[nodiscard]] std::vector<Shrinkable> shrinkable(const Preemptor& preemptor, bool surplusOnly);
  [[nodiscard]] NodeAmounts freedBy(const model::Job& job, int count) const;
  [[nodiscard]] int maxMembersGiven(const Preemptor& preemptor, const Candidate& running);
  void spareMembers(const Preemptor& preemptor, std::size_t widest, Claim& claim);
  [[nodiscard]] std::optional<Placement> placeWithout(const Preemptor& preemptor, std::size_t widest,
                                                      const std::vector<Change>& victims);
  void listElastic(const JobPtr& job, int priority);
  // Whether a limit makes the claim wait for gangs that terminate already.
  [[nodiscard]] bool waitsForTerminating(const Preemptor& preemptor, const Claim& claim);
  // As claim(), from gangs that hold what the preemptor wants.
  [[nodiscard]] std::optional<Claim> claimWanted(const Preemptor& preemptor, std::size_t widest);
  [[nodiscard]] bool mayNeedGpuNodes(const Preemptor& preemptor) const;
  [[nodiscard]] std::optional<Preemptor> placedAt(const Preemptor& preemptor,
                                                  const Placement& placement) const;
  void applyClaim(const Claim& claim);
  void setCharged(const std::vector<Change>& victims, bool isCharged);
  void setCharged(const std::vector<Candidate>& candidates, const Chosen& victims, bool isCharged);
  [[nodiscard]] bool quotaAllowsWithout(const Preemptor& preemptor, const std::vector<Change>& victims);
  [[nodiscard]] bool quotaAllows(const Preemptor& preemptor, const Placement* placement) const;
  [[nodiscard]] std::optional<Placement> placeInQuotaWithout(const Preemptor& preemptor, std::size_t widest,
                                                             const std::vector<Change>& victims);
  [[nodiscard]] std::optional<Placement> placeInQuota(const Preemptor& preemptor, std::size_t widest);
  void groupEquivalent();
  [[nodiscard]] std::vector<std::size_t> findCandidates(const Preemptor& preemptor);
  void addBackfilled(const Preemptor& preemptor, std::vector<std::size_t>& found);
  void addTimeSliced(const Preemptor& preemptor, std::vector<std::size_t>& found);
  void wakeAt(std::optional<base::WallTime> time);
  [[nodiscard]] bool mayPreemptGang(const Preemptor& preemptor, const Candidate& running);
  [[nodiscard]] bool mayTimeSlice(const Preemptor& preemptor, const Candidate& running);
  [[nodiscard]] std::vector<Candidate> candidatesFor(const Preemptor& preemptor);
  // Placed gangs that may be preempted by now and are not, cheapest first; `frees` is not filled in.
  [[nodiscard]] std::vector<const Candidate*> preemptibleNow();
  [[nodiscard]] Rank rankOf(const Candidate& running);
  void spend(std::size_t rights);
  [[nodiscard]] Chosen preemptibleTogether(const Preemptor& preemptor,
                                           const std::vector<Candidate>& candidates);
  [[nodiscard]] bool mayPreemptAll(const Preemptor& preemptor, const std::vector<Candidate>& candidates,
                                   Chosen victims);
  [[nodiscard]] bool mayPreemptInOrder(const Preemptor& preemptor, const std::vector<Candidate>& candidates,
                                       const Chosen& victims);
  void discharge(const Candidate& running);
  void chargeAgain(const Candidate& running);
  [[nodiscard]] bool fitsWithout(const model::Job& other, const Preemptor& asking, std::size_t widest);

  const model::Snapshot& snapshot_;
  const JobNotes& notes_;
  Ledger& ledger_;
  QueueTree& tree_;
  ShareCache shares_;
  GangPlacer& placer_;
  Ends& ends_;
  RunTimeModel& runs_;
  RankOf rankOf_;
  bool searchedMoves_ = false;
  bool lastHadNoCandidate_ = false;
  bool waitsForTerminating_ = false;  // the last claim, which would otherwise have succeeded
  bool listed_ = false;
  bool tookOver_ = false;
  std::optional<std::vector<JobPtr>> claiming_;  // a start waits for its victims to terminate
  std::vector<Candidate> running_;               // may be preempted, cheapest first
  std::vector<Candidate> elastic_;               // may shrink, in that order
  std::vector<EquivalentGangs> equivalentGangs_;
  std::vector<std::size_t> backfilled_;  // indices into running_ of gangs that have a condition
  std::map<QueueTree::Index, std::vector<std::size_t>> runningOf_;  // by queue, time-sliced gangs
  // By queue, priority and whether its run was learnt (which makes worthPreempting() stricter), the merit of
  // the best preemptor that found no victim by time slicing. A preemptor of lesser merit finds none either.
  std::map<std::tuple<QueueTree::Index, int, bool>, double> noTimeSliceFor_;
  std::set<const model::Job*> preempted_;              // or changing
  std::unordered_map<const model::Job*, Rank> ranks_;  // of running gangs, computed on demand
  std::optional<base::WallTime> wakeAt_;
};

}  // namespace trainyard::core
