#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/executor.h"
#include "net/http.h"
#include "sim/cluster/observer.h"
#include "simulation/faults.h"

namespace trainyard::simulation {

// What must hold for Gangs, whose pods other controllers make:
// - only an operator removes the gate of a pod: to a place in the record of a Gang of the pod's namespace, of
//   the pod's role and index, on the recorded node, unless that has been closed for longer than a leader's
//   view can lag
// - no place has two pods that run for longer than a change of the leader lasts
// - the pods of an owner that can be suspended are neither deleted nor evicted while the record names them
//   and they have not ended
// - such an owner fails only by pods that failed by themselves, that a user deleted, or that were lost with
//   their node
// - a proposal is dropped only after its pods are gone, and claimed nodes are used only after the removed
//   members are gone or have ended
// - a Gang is removed only after its running pods
class OwnedLaws {
 public:
  using Violated = std::function<void(std::string)>;
  OwnedLaws(sim::ClusterObserver& truth, base::Executor& executor, Violated violated);

  void sends(Step step, const net::HttpRequest& request);
  void comesLate(Step step, const net::HttpRequest& request);
  // Its owner may count this pod as a failure.
  void excuse(const model::Uid& pod) { excused_.insert(pod); }

 private:
  using JobPtr = std::shared_ptr<const model::Job>;
  using PodPtr = std::shared_ptr<const model::Pod>;

  void gangChanged(const JobPtr& before, const JobPtr& after);
  void checkRecord(const model::Job& before, const model::Job& after);
  void checkDropped(const model::Job& gang, const model::Proposal& proposal);
  void checkClaimed(const model::Job& gang, const model::Proposal& proposal);
  void podChanged(const PodPtr& before, const PodPtr& after);
  [[nodiscard]] bool hasJustEnded(const model::Pod& pod) const;
  [[nodiscard]] bool isFreeFor(const model::Job& gang, const model::Pod& pod, int index) const;
  void checkPlace(const model::Pod& pod, const model::Arrival& asked);
  void watchPlace(const PodPtr& pod);
  void checkRemoval(const model::Pod& pod, const net::HttpRequest& request);
  void ownerChanged(const model::Workload& owner);
  void noteFailure(const PodPtr& before, const PodPtr& after);
  [[nodiscard]] JobPtr gangOf(const model::Pod& pod) const;

  sim::ClusterObserver& truth_;
  base::Executor& executor_;
  Violated violated_;
  std::set<model::Uid> given_;                            // pods that an operator gave a place
  std::set<model::Uid> late_;                             // by a delayed request
  std::set<model::Uid> excused_;                          // may count as a failure
  std::map<model::Uid, std::set<model::Uid>> failures_;   // by owner: its pods that may count as failures
  std::map<model::Uid, base::Instant> endedAt_;           // pods that have ended
  std::map<model::Uid, base::Instant> changedAt_;         // the last change of a record
  std::map<model::NodeName, base::Instant> closedSince_;  // takes no pods
  base::Instant nodesLateUntil_{};                        // an operator's view of nodes is delayed
};

}  // namespace trainyard::simulation
