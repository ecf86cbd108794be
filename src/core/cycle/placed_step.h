#pragma once

#include <memory>
#include <vector>

#include "core/cycle/claims_under_way.h"
#include "core/cycle/failed_gang.h"
#include "core/cycle/job_decisions.h"
#include "core/cycle/pod_removal.h"
#include "core/cycle/size_step.h"
#include "core/gang/owned_steps.h"

namespace trainyard::core {

// A gang with a placement: the state of its members, and what follows from it.
class PlacedStep {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  PlacedStep(CycleContext& context, JobDecisions& decisions, const ClaimsUnderWay& claims,
             PodRemoval& removal, SizeStep& sizes)
      : in_(context), decisions_(decisions), claims_(claims), removal_(removal), sizes_(sizes) {}

  void watch(const CurrentJob& current);
  // Preempts the whole gang, because another gang's claim names its pods. The gang is then pending again.
  void evict(const JobPtr& job, const model::ObjectKey& preemptor);

 private:
  void watchOwned(const CurrentJob& current);
  void giveUpPlaces(const JobPtr& job, const std::vector<Member>& open, bool areAll,
                    const StatusUpdate& update);
  void startOver(const JobPtr& job, const StatusUpdate& update);
  void giveUpSuspended(const JobPtr& job, const StatusUpdate& update);
  void moveAway(const JobPtr& job, const std::vector<Member>& members, const ClosedPlaces& closed,
                StatusUpdate update);
  void recordLost(const JobPtr& job);
  void release(const JobPtr& job, const model::ObjectKey& preemptor);
  void followFailed(const CurrentJob& current, const std::vector<Member>& members, const Verdict& verdict);
  void resumeFailed(const JobPtr& job, const std::vector<Member>& members, const Verdict& verdict);
  void replaceLostMembers(const JobPtr& job, const std::vector<Member>& members, StatusUpdate update);
  FailedGang takeForRestart(const model::Job& job, FailedGang gang);
  void follow(const JobPtr& job, FailedGang gang);
  [[nodiscard]] bool mayRestartNow(const model::Job& job) const;
  [[nodiscard]] PlacementScope placementScope();
  void take(const model::Job& job, const std::vector<model::Assignment>& assignments);
  void takeAndRecharge(const model::Job& job, const model::GangRecord& record,
                       const std::vector<model::Assignment>& assignments);

  CycleContext& in_;
  JobDecisions& decisions_;
  const ClaimsUnderWay& claims_;
  PodRemoval& removal_;
  SizeStep& sizes_;
};

}  // namespace trainyard::core
