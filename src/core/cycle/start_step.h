#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/cycle/job_decisions.h"
#include "core/cycle/size_step.h"
#include "core/schedule/schedule.h"

namespace trainyard::core {

// Phases 3 to 9, as schedule() decides: gangs that start or give up capacity.
class StartStep {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  StartStep(CycleContext& context, JobDecisions& decisions, SizeStep& sizes)
      : in_(context), decisions_(decisions), sizes_(sizes) {}

  // Returns the gangs that this resizes, or that pay for a start.
  std::set<model::ObjectKey> carryOut(std::vector<Change> changes);
  // Aborts the gang's proposal, in place of the step that the proposal would take.
  void yieldClaim(const GangYield& yield);

 private:
  void begin(Change& start, const std::vector<Change>& victimChanges);
  [[nodiscard]] std::vector<model::Victim> victimsOf(const Change& victimChange) const;
  void startAlone(JobDecision& decision) const;
  [[nodiscard]] std::chrono::seconds longestGrace(const std::vector<Change>& victimChanges,
                                                  const std::vector<model::Victim>& awaited) const;
  void warnOfCappedGrace(const model::Job& job, JobDecision& decision) const;
  void move(const Change& change);

  CycleContext& in_;
  JobDecisions& decisions_;
  SizeStep& sizes_;
};

}  // namespace trainyard::core
