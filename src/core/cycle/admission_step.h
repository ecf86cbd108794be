#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/cycle/job_decisions.h"
#include "core/schedule/schedule.h"

namespace trainyard::core {

// A job without a placement: whether it is admitted, and what it waits for before it is pending.
class AdmissionStep {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  AdmissionStep(CycleContext& context, JobDecisions& decisions) : in_(context), decisions_(decisions) {}

  void admitOrRefuse(const CurrentJob& current);
  // A suspended job waits for nothing, but its Admitted condition reports whether its spec is usable.
  void holdSuspended(const CurrentJob& current);
  // The job is pending.
  void wait(const JobPtr& job);
  // If the job is in the back-off after an aborted start by this record, gangs start conditionally for it.
  void rest(const JobPtr& job, const model::GangRecord& record);
  // The job's last write is under way.
  void keepQueuePosition(const CurrentJob& current);
  // Chooses the shape of the next job that asks for one (spec.plan.mode Auto).
  void planNext();

  [[nodiscard]] std::vector<SchedulableJob> takeWaiting() { return std::move(waiting_); }

 private:
  void refuse(const JobPtr& job, model::Pending refusal);
  void awaitPlan(const JobPtr& job);
  [[nodiscard]] std::optional<model::Pending> waitsBeforeStart(const model::Job& job);

  CycleContext& in_;
  JobDecisions& decisions_;
  std::vector<SchedulableJob> waiting_;
  std::vector<JobPtr> unplanned_;  // jobs that wait for the shape of a plan; by key
};

// Returns why the job's next attempt has to wait; nothing if it does not. The cycle is repeated when it ends.
[[nodiscard]] std::optional<model::Pending> backingOff(CycleContext& context, const model::Job& job);

}  // namespace trainyard::core
