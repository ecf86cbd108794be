#pragma once

#include <memory>
#include <set>
#include <vector>

#include "core/cycle/claims_under_way.h"
#include "core/cycle/job_decisions.h"
#include "core/schedule/schedule.h"

namespace trainyard::core {

// Elastic gangs that are resized, and Gangs whose owners make more pods.
class SizeStep {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  SizeStep(CycleContext& context, JobDecisions& decisions, const ClaimsUnderWay& claims)
      : in_(context), decisions_(decisions), claims_(claims) {}

  // A stable gang is asked to have another size: scale() decides.
  void add(const JobPtr& job) { scaling_.push_back(job); }
  // Scales the gangs that were added, but none that a claim names, standing or not, nor those in `changed`,
  // which this plan changes already.
  void scale(const Schedule& schedule, const std::set<model::ObjectKey>& changed);
  // Adds the members in `change.add`, or removes those in `change.remove`.
  void resize(const Change& change, model::SizeOwner by);

 private:
  // Pods of a Gang join it.
  void join(const Change& change);

  CycleContext& in_;
  JobDecisions& decisions_;
  const ClaimsUnderWay& claims_;
  std::vector<JobPtr> scaling_;
};

// A gang with a finished member is about to end or to restart, so new members would find no peers.
[[nodiscard]] bool someEnded(const model::Job& job, const JobPods& pods);

}  // namespace trainyard::core
