#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/preemption/claim_placer.h"
#include "core/preemption/claim_take_over.h"
#include "core/preemption/preemption_rights.h"
#include "core/preemption/running_gangs.h"
#include "core/preemption/shrink_search.h"

namespace trainyard::core {

// Phase 6 of a schedule: which gangs are preempted for which. It remembers the gangs that claims have taken.
//
// Assumes: a search requests many placements, which the cycle's WorkBudget bounds; what does not fit
// into it is left to the next cycle. Steps: gangs shrink, if that suffices (ShrinkSearch); else the gangs
// that the preemptor may preempt (PreemptionRights), cheapest first; which of them are preempted
// (core/preemption/victims.h), and which of those only need to shrink. If none may be preempted, gangs that
// may move (core/preemption/moves.h).
//
// If a limit does not admit the preemptor before gangs that terminate already have gone, no gang is preempted
// yet, unless the claim waits for these as well (core/schedule/claim_search.h).
//
// An elastic gang gives up members above its desired replicas to any pending job. Down to its minimum it
// gives them to a job that may preempt it. If it shrinks without loss, it also gives them to a job of its own
// queue and of no lower priority, unless preemption.withinQueue is Never.
class Preemption {
 public:
  explicit Preemption(PreemptionContext context)
      : in_(std::move(context)),
        gangs_(in_),
        rights_(in_, gangs_),
        placer_(in_),
        shrinks_(in_, gangs_, rights_, placer_),
        takeOver_(in_, placer_) {}
  Preemption(const Preemption&) = delete;
  Preemption& operator=(const Preemption&) = delete;

  // A placement for the preemptor, with the gangs that must go for it. They are taken, and discharged from
  // their queues. No claim if no gang may be preempted, or if that would not help.
  [[nodiscard]] ClaimAnswer claim(const Preemptor& preemptor, std::size_t widest);
  // As claim(); below limits, gangs that terminate already count as gone.
  [[nodiscard]] ClaimAnswer claimAwaiting(const Preemptor& preemptor, std::size_t widest);
  // The gangs that claim() may preempt for it.
  [[nodiscard]] std::set<const model::Job*> candidatesFor(const Preemptor& preemptor);
  // As claim(), but elastic gangs only shrink.
  [[nodiscard]] std::optional<Claim> claimShrinking(const Preemptor& preemptor, std::size_t widest);
  // A placement for the preemptor, with the gangs that move for it. Searched once, for the first caller.
  [[nodiscard]] std::optional<Claim> move(const Preemptor& preemptor, std::size_t widest);
  // Reverts a claim that is not carried out: its victims are charged again. apply() takes it up again.
  void withdraw(const Claim& claim);
  void apply(const Claim& claim);

  // Without any, claim() need not be called.
  [[nodiscard]] RunningGangs& gangs() { return gangs_; }
  [[nodiscard]] PreemptionRights& rights() { return rights_; }
  [[nodiscard]] ClaimTakeOver& claimsUnderWay() { return takeOver_; }

 private:
  [[nodiscard]] std::optional<Preemptor> wantingGpuNodes(const Preemptor& preemptor) const;
  // As claim(), from gangs that hold what the preemptor wants.
  [[nodiscard]] ClaimAnswer claimWanted(const Preemptor& preemptor, std::size_t widest);
  [[nodiscard]] std::optional<Claim> chooseClaim(const Preemptor& preemptor, std::size_t widest,
                                                 const std::vector<Candidate>& candidates);

  PreemptionContext in_;
  RunningGangs gangs_;
  PreemptionRights rights_;
  ClaimPlacer placer_;
  ShrinkSearch shrinks_;
  ClaimTakeOver takeOver_;
  bool searchedMoves_ = false;
};

}  // namespace trainyard::core
