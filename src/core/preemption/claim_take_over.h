#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/preemption/claim_placer.h"

namespace trainyard::core {

// A claim under way of lower priority is given up, so that a job of its queue waits for its victims. A claim
// within the queue's guarantee is given up only for a job that is within it, too. (Rejected: to give it up
// for any. What the guarantee took went to a job without that right, or back to the victim, again and again.)
class ClaimTakeOver {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  ClaimTakeOver(PreemptionContext& context, ClaimPlacer& placer) : in_(context), placer_(placer) {}

  // Whether any claim is under way.
  [[nodiscard]] bool any() { return !claiming().empty(); }
  // Whether one of lower priority is under way in this queue.
  [[nodiscard]] bool anyBelow(QueueTree::Index queue, int priority);
  // The job whose claim is given up. One a cycle: its effect is seen in the next one.
  [[nodiscard]] std::optional<JobPtr> takeOver(const Preemptor& preemptor, std::size_t widest);

 private:
  [[nodiscard]] const std::vector<JobPtr>& claiming();
  [[nodiscard]] bool fitsWithout(const model::Job& other, const Preemptor& asking, std::size_t widest);

  PreemptionContext& in_;
  ClaimPlacer& placer_;
  bool tookOver_ = false;
  std::optional<std::vector<JobPtr>> claiming_;  // starts that wait for their victims to terminate
};

}  // namespace trainyard::core
