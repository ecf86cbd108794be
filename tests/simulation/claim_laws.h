#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/executor.h"
#include "net/http.h"
#include "sim/cluster/observer.h"
#include "simulation/faults.h"

namespace trainyard::simulation {

// What must hold for preemption, checked with every write:
// - a claim has nodes for its whole gang, and names only whole, preemptible gangs, none of higher priority in
//   its own queue, and not itself
// - no pod of a gang without a problem is deleted unless a claim named it
//   before
// - no gang is reported as preempted unless a claim named it
// - no pod that a claim names is deleted for it, and its gang not preempted, before all pods of the claim
//   have existed side by side
// - gangs that hold reserved nodes stay within the limits of their queues
class ClaimLaws {
 public:
  using Violated = std::function<void(std::string)>;
  ClaimLaws(sim::ClusterObserver& truth, base::Executor& executor, Violated violated);

  void sends(Step step, const net::HttpRequest& request);
  // A write of a record, or an operator's view of records, is delayed.
  void comesLate(Step step);
  // An operator plans with an outdated view for this long.
  void lateFor(base::Instant::duration span);

 private:
  using JobPtr = std::shared_ptr<const model::Job>;
  using ClaimId = std::pair<model::Uid, std::int64_t>;  // the preemptor and its epoch

  void jobChanged(const JobPtr& before, const JobPtr& after);
  void checkClaim(const model::Job& job, const model::Proposal& claim);
  void checkVictim(const model::Job& victim, const model::Job& preemptor, const std::set<model::Uid>& named);
  void checkLimits(const model::Job& job);
  void noteClaimPods(const model::Pod& pod);
  // Returns true if all pods of a claim that names this gang have existed.
  [[nodiscard]] bool claimStood(const model::Uid& victim) const;
  [[nodiscard]] bool anyComplete(const std::set<ClaimId>& claims) const;
  [[nodiscard]] std::int64_t heldBelow(const model::QueueName& queue) const;
  [[nodiscard]] bool restless(const model::Uid& job) const;

  sim::ClusterObserver& truth_;
  base::Executor& executor_;
  Violated violated_;
  std::map<model::Uid, std::set<ClaimId>> claimed_;       // pods that any claim named, and the claims
  std::map<model::Uid, std::set<ClaimId>> claimedGangs_;  // jobs of such pods, since their last preemption
  std::set<ClaimId> complete_;                            // all of their pods have existed
  std::map<model::Uid, base::Instant> jobChangedAt_;      // the last change of its spec or its record
  std::map<model::Uid, base::Instant> wishedAt_;          // the user's last change of its size
  std::map<model::Uid, base::Instant> endedAt_;           // the ends of pods
  base::Instant lateUntil_{};                             // an operator's view is outdated until then
};

}  // namespace trainyard::simulation
