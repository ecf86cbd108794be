#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/preemption/preemption.h"
#include "core/schedule/claim_search.h"
#include "core/schedule/quota_placer.h"

namespace trainyard::core {

// Phase 6: other gangs give up capacity for a pending one, which starts at once, as a claim.
class GangClaims {
 public:
  GangClaims(ScheduleContext& context, ReservationBook& book, QuotaPlacer& placer)
      : in_(context), book_(book), placer_(placer), search_(context, placer) {}

  // Gangs are preempted or shrink for the job, or for the minimum of an elastic gang.
  struct Outcome {
    bool isStarted = false;
    bool hadNoCandidate = false;  // no gang could be preempted or shrunk
    bool startsSoon = false;      // no claim, because the job starts soon without (ClaimSearch)
  };
  Outcome claim(const PendingJob& pendingJob, const GangShape& shape);
  // An elastic gang that finds no capacity gets as many members as its queue is guaranteed, not only its
  // minimum. The gangs that borrow that quota give it up.
  Outcome claimGuaranteed(const PendingJob& pendingJob, const GangShape& shape);
  // Each of the following returns whether the gang was started.
  //
  // A job within its guarantee that a limit does not admit before members have terminated does not wait for
  // them if its victims are gone sooner.
  bool claimBeforeLeaving(const PendingJob& pendingJob, const GangShape& shape);
  // An elastic gang that finds no capacity gets more than its minimum from gangs of its queue with a longer
  // expected run. It asks for its desired size, then for half as many members beyond the minimum, and so on.
  bool claimMore(const PendingJob& pendingJob, const GangShape& shape);
  // Other gangs move to give up capacity. Searched once, for the first job that has to wait.
  bool moveOthers(const PendingJob& pendingJob, const GangShape& shape);

  // A claim of lower priority in the queue is given up, so that the job waits for its victims.
  void takeOver(const PendingJob& pendingJob, const GangShape& shape);

 private:
  [[nodiscard]] std::optional<std::size_t> widestToClaim(const PendingJob& pendingJob,
                                                         const GangShape& shape);
  [[nodiscard]] Preemptor preemptorAt(const PendingJob& pendingJob, const model::Job& sized);
  bool carryOutOffReserved(const PendingJob& pendingJob, const Preemptor& preemptor, std::size_t widest,
                           Claim claim);
  [[nodiscard]] std::optional<Claim> shrinkingFor(const PendingJob& pendingJob, int members,
                                                  std::size_t widest);
  [[nodiscard]] std::optional<Claim> mostOfLower(const PendingJob& pendingJob, std::optional<Claim> claim,
                                                 std::pair<int, int> sizes, std::size_t widest);
  bool carryOutUnlessReserved(const PendingJob& pendingJob, Claim claim);
  void carryOut(const PendingJob& pendingJob, Claim claim, ScheduleContext::Conditions conditions);

  ScheduleContext& in_;
  ReservationBook& book_;
  QuotaPlacer& placer_;
  ClaimSearch search_;
};

}  // namespace trainyard::core
