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

// What must hold of gangs that make room for others, looked at with every write:
//  - a claim has places for its whole gang, and names none but whole gangs that may be stopped, none of
//  higher
//    priority in its own queue, and not itself
//  - no pod of a gang that runs in peace is deleted unless a claim named it before
//  - nobody says that he was stopped for another one unless a claim named him
//  - no pod that a claim names is deleted for it, nor its gang told to stop, before all pods of the claim
//    have existed side by side
//  - gangs that hold reserved places stay within the limits of their queues
class ClaimLaws {
 public:
  using Violated = std::function<void(std::string)>;
  ClaimLaws(sim::ClusterObserver& truth, base::Executor& executor, Violated violated);

  void sends(Step step, const net::HttpRequest& request);
  // Somebody's write of a record, or his view of them, is held up.
  void comesLate(Step step);
  // Somebody plans on what is no longer true, for so long.
  void lateFor(base::Instant::duration span);

 private:
  using JobPtr = std::shared_ptr<const model::Job>;
  using ClaimId = std::pair<model::Uid, std::int64_t>;  // the claimant and its epoch

  void jobChanged(const JobPtr& before, const JobPtr& after);
  void checkClaim(const model::Job& job, const model::Proposal& claim);
  void checkVictim(const model::Job& victim, const model::Job& claimant, const std::set<model::Uid>& named);
  void checkLimits(const model::Job& job);
  void noteClaimPods(const model::Pod& pod);
  // Whether all pods of a claim that names this one have existed.
  [[nodiscard]] bool claimStood(const model::Uid& victim) const;
  [[nodiscard]] bool anyComplete(const std::set<ClaimId>& claims) const;
  [[nodiscard]] std::int64_t heldBelow(const model::QueueName& queue) const;
  [[nodiscard]] bool restless(const model::Uid& job) const;

  sim::ClusterObserver& truth_;
  base::Executor& executor_;
  Violated violated_;
  std::map<model::Uid, std::set<ClaimId>> claimed_;       // pods that a claim has ever named, and which
  std::map<model::Uid, std::set<ClaimId>> claimedGangs_;  // jobs of such pods, since they were last stopped
  std::set<ClaimId> complete_;                            // whose pods have all existed
  std::map<model::Uid, base::Instant> jobChangedAt_;      // when what it wants or its record last changed
  std::map<model::Uid, base::Instant> wishedAt_;          // when its user last asked for another size
  std::map<model::Uid, base::Instant> endedAt_;           // when pods ended
  base::Instant lateUntil_{};                             // somebody plans on what is no longer true
};

}  // namespace trainyard::simulation
