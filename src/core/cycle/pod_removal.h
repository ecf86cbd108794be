#pragma once

#include <memory>
#include <vector>

#include "core/cycle/job_decisions.h"

namespace trainyard::core {

// Deletes the pods of jobs that are deleted, suspended or finished, and pods that no record names.
class PodRemoval {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  PodRemoval(CycleContext& context, JobDecisions& decisions) : in_(context), decisions_(decisions) {}

  void drainDeleted(const JobPtr& job);
  void cleanUpFinished(const CurrentJob& current);
  void stopForSuspension(const JobPtr& job);
  // The job is pending, and waits until these are gone.
  void awaitStrays(const JobPtr& job, const std::vector<const model::Pod*>& strays);
  void removeStrays(const model::Job& job, JobDecision& decision);

 private:
  void clearDeleted(const JobPtr& job);
  // Whether no pod is left that has to go.
  [[nodiscard]] bool isEmpty(const model::Job& job) const;
  void removePods(const model::Job& job, JobDecision& decision);
  void finish(std::vector<Action> actions, const Removal& removal, JobDecision& decision);

  CycleContext& in_;
  JobDecisions& decisions_;
};

}  // namespace trainyard::core
