#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/preemption/claim_placer.h"
#include "core/preemption/preemption_rights.h"
#include "core/preemption/shrinks.h"

namespace trainyard::core {

// What a search for gangs that give up capacity found.
struct ClaimAnswer {
  std::optional<Claim> claim = std::nullopt;
  // There would be a claim, but a limit does not admit it before gangs that terminate already have gone.
  bool waitsForTerminating = false;
  // There would be a claim, but the job starts about as soon without (core/schedule/claim_search.h).
  bool startsSoon = false;
  // There is none because no gang may be preempted or shrunk.
  bool hadNoCandidate = false;
};

// Elastic gangs that give up members, so that a preemptor has a placement (core/preemption/shrinks.h).
class ShrinkSearch {
 public:
  ShrinkSearch(PreemptionContext& context, RunningGangs& gangs, PreemptionRights& rights, ClaimPlacer& placer)
      : in_(context), gangs_(gangs), rights_(rights), placer_(placer) {}

  // First members above the desired replicas of any gang, then what the preemptor may preempt.
  [[nodiscard]] ClaimAnswer search(const Preemptor& preemptor, std::size_t widest);
  // Reduces the claim's preemptions to shrinks, the most expensive first, where giving up the last members
  // suffices.
  void spareMembers(const Preemptor& preemptor, std::size_t widest, Claim& claim);

 private:
  [[nodiscard]] ClaimAnswer shrink(const Preemptor& preemptor, std::size_t widest, bool surplusOnly);
  [[nodiscard]] std::vector<Shrinkable> shrinkable(const Preemptor& preemptor, bool surplusOnly);
  [[nodiscard]] bool mayGiveThere(const Preemptor& preemptor, const Placement& placement,
                                  const std::vector<Shrinkable>& candidates, const std::vector<int>& gives);
  [[nodiscard]] NodeAmounts freedBy(const model::Job& job, int count) const;

  PreemptionContext& in_;
  RunningGangs& gangs_;
  PreemptionRights& rights_;
  ClaimPlacer& placer_;
};

}  // namespace trainyard::core
