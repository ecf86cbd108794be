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
#include "core/preemption/victims.h"
#include "core/queues/eligibility.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// A gang's places, and who must go first.
struct Claim {
  Placement placement;
  std::vector<std::shared_ptr<const model::Job>> victims;
};

// Phase 6 of one schedule: who is stopped for whom. It remembers whom it has given away.
//
// Assumes: a search for victims asks for many placements; who is not served now is served by the next cycle.
// Steps: whom a claimant may stop (core/queues/eligibility.h), cheapest first; who of them must go
// (core/preemption/victims.h).
class Preemption {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  // Where a running job stands in its queue.
  using RankOf = std::function<Rank(const model::Job&, int priority)>;

  // `notes` follow the snapshot.
  Preemption(const model::Snapshot& snapshot, const JobNotes& notes, Ledger& ledger, QueueTree& tree,
             GangPlacer& placer, RankOf rankOf)
      : snapshot_(snapshot),
        notes_(notes),
        ledger_(ledger),
        tree_(tree),
        placer_(placer),
        rankOf_(std::move(rankOf)) {}

  // Whether anybody may be stopped, and whether anybody has a claim under way; else nobody need ask.
  [[nodiscard]] bool anyRunning();
  [[nodiscard]] bool anyClaiming();

  // Places for the claimant, with those who must go for them, whom it discharges from their queues; nothing
  // where nobody may be stopped, or that would not help.
  [[nodiscard]] std::optional<Claim> claim(const Claimant& claimant, std::size_t widest);

  // Victims of a claim are still going away when somebody of higher priority comes: he waits for them
  // instead, and nobody else is stopped. Whose claim that is. One at a time: what it frees is seen in the
  // next cycle.
  [[nodiscard]] std::optional<JobPtr> takeOver(const Claimant& claimant, std::size_t widest);

  // Who may be stopped by now and was not, cheapest first; without the room that they hold.
  [[nodiscard]] std::vector<Evictable> stoppable();
  // Nobody else may stop it in this schedule.
  void spare(const model::Job& job) { stopped_.insert(&job); }

  // When somebody who may not be stopped yet may be, or has had his turn, if anybody asked.
  [[nodiscard]] std::optional<base::WallTime> wakeAt() const { return wakeAt_; }

 private:
  using Chosen = std::vector<std::size_t>;  // indices into candidates

  // Running gangs that are alike to whoever may not stop one because it passed him, nor takes turns: indices
  // into running_, ascending.
  using Alike = std::vector<std::size_t>;

  void listRunning();
  void listAlike();
  [[nodiscard]] std::vector<std::size_t> whomMayStop(const Claimant& claimant);
  void addTurns(const Claimant& claimant, std::vector<std::size_t>& found);
  void wakeAt(std::optional<base::WallTime> time);
  [[nodiscard]] bool mayTakeFrom(const Claimant& claimant, const Evictable& running);
  [[nodiscard]] bool mayTakeTurn(const Claimant& claimant, const Evictable& running);
  [[nodiscard]] std::vector<Evictable> evictables(const Claimant& claimant);
  [[nodiscard]] Chosen stoppableTogether(const Claimant& claimant, const std::vector<Evictable>& candidates);
  [[nodiscard]] bool mayStopAll(const Claimant& claimant, const std::vector<Evictable>& candidates,
                                Chosen gone);
  [[nodiscard]] bool mayStopInTurn(const Claimant& claimant, const std::vector<Evictable>& candidates,
                                   const Chosen& gone);
  [[nodiscard]] bool quotaAllowsWithout(const Claimant& claimant, const std::vector<Evictable>& candidates,
                                        const Chosen& gone);
  void discharge(const Evictable& running);
  void chargeAgain(const Evictable& running);
  [[nodiscard]] bool fitsWithout(const model::Job& claimant, const Claimant& asking, std::size_t widest);

  const model::Snapshot& snapshot_;
  const JobNotes& notes_;
  Ledger& ledger_;
  QueueTree& tree_;
  GangPlacer& placer_;
  RankOf rankOf_;
  int searches_ = 0;
  std::size_t rightsAsked_ = 0;
  bool listed_ = false;
  bool tookOver_ = false;
  std::optional<std::vector<JobPtr>> claiming_;  // whose start waits for victims to go away
  std::vector<Evictable> running_;               // who may be stopped at all, cheapest first
  std::vector<Alike> alike_;
  std::map<QueueTree::Index, std::vector<std::size_t>> runningOf_;  // by queue
  // By queue and priority, what the best claimant is expected to take whose turn it was not: nor is it that
  // of a longer one.
  std::map<std::pair<QueueTree::Index, int>, double> noTurnFor_;
  std::set<const model::Job*> stopped_;
  std::unordered_map<const model::Job*, Rank> ranks_;  // of those that run, as far as anybody asked
  std::optional<base::WallTime> wakeAt_;
};

}  // namespace trainyard::core
