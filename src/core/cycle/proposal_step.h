#pragma once

#include <memory>

#include "core/cycle/claims_under_way.h"
#include "core/cycle/job_decisions.h"
#include "core/cycle/pod_removal.h"

namespace trainyard::core {

// The next step of a gang that has a proposal under way.
class ProposalStep {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  ProposalStep(CycleContext& context, JobDecisions& decisions, const ClaimsUnderWay& claims,
               PodRemoval& removal)
      : in_(context), decisions_(decisions), claims_(claims), removal_(removal) {}

  void step(const CurrentJob& current);

 private:
  void stepOn(const CurrentJob& current);
  void awaitMove(const JobPtr& job);
  // The gang moves or shrinks for the claim, which stands.
  void giveUpClaimed(const JobPtr& job);
  void recordPlanAtSize(const model::Job& job, JobDecision& decision) const;
  bool mayStayUnwritten(const model::Job& job);
  [[nodiscard]] Urgency urgencyOf(const model::Job& job, const model::GangRecord& record) const;

  CycleContext& in_;
  JobDecisions& decisions_;
  const ClaimsUnderWay& claims_;
  PodRemoval& removal_;
};

// Whether the status that is held back is still all that there is to write.
[[nodiscard]] bool isStatusDeferred(const model::Job& job, const JobPods& pods, const JobFeedback& feedback);

// Whether a bound gang is about to run: one write can then record its placement and its start.
[[nodiscard]] bool isAboutToRun(const model::Job& job, const model::GangRecord& record, const JobPods& pods);

}  // namespace trainyard::core
