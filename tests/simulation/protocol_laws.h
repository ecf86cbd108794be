#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "net/http.h"
#include "sim/cluster/observer.h"
#include "simulation/claim_laws.h"
#include "simulation/failure_laws.h"
#include "simulation/faults.h"
#include "simulation/owned_laws.h"
#include "simulation/resize_laws.h"

namespace trainyard::simulation {

// The guarantees of the gang protocol, checked with every write as the server executes it:
// - epochs only grow, a proposal keeps its assignments, and only the next epoch follows
// - a proposal becomes `placed` only after every member was bound, and is dropped only after its pods are
//   gone
// - the record comes first: a pod is created only if the record names it, and after its predecessor is gone;
//   but the only pod of a single-pod job, pinned and of the next epoch, is its own record
// - a pod is deleted under its uid only
// - a member is released only if the record names it, on the recorded node, and after all pods exist
// - members released to one node never request more GPUs than it was built with: no double reservation passes
//   the barrier
// - the first member is released only if no assigned node has been unusable for longer than a leader's view
//   can lag
// - no process writes while another one holds the Lease
// - a pod is force-deleted only if its kubelet cannot be running it
// - a gated pod is created only for a job with the finalizer, and such a job is removed only after its
//   running pods
// ClaimLaws check preemption, FailureLaws the reactions to failures, ResizeLaws the gangs that change their
// size, OwnedLaws the pods that other controllers make; sim::Invariants check what must hold for every
// cluster.
class ProtocolLaws {
 public:
  ProtocolLaws(sim::ClusterObserver& truth, base::Executor& executor);

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

  // The operators' calls as Chaos sees them.
  void sends(const std::string& client, Step step, const net::HttpRequest& request);
  void comesLate(Step step, const net::HttpRequest& request);
  // An operator pauses, or its view is delayed by this much.
  void lateFor(base::Instant::duration span) { claims_.lateFor(span); }
  // A user deletes this pod.
  void deletedByUser(const model::Uid& pod) { owned_.excuse(pod); }
  void answered(const net::HttpRequest& request, const net::HttpResponse& response);

 private:
  using JobPtr = std::shared_ptr<const model::Job>;
  using PodPtr = std::shared_ptr<const model::Pod>;
  using NodePtr = std::shared_ptr<const model::Node>;

  void jobChanged(const JobPtr& before, const JobPtr& after);
  void podChanged(const PodPtr& before, const PodPtr& after);
  void nodeChanged(const NodePtr& before, const NodePtr& after);
  void checkRecord(const model::Job& before, const model::Job& after);
  void checkMerged(const model::Job& job, const model::Proposal& proposal);
  void checkMerged(const model::Job& job, const model::Placed& placed);
  void checkClaimed(const model::Job& job, const model::Proposal& proposal);
  void checkDropped(const model::Job& job, const model::Proposal& proposal);
  void checkCreated(const model::Pod& pod);
  void checkRelease(const model::Pod& pod, bool born);
  void checkAllExist(const model::Job& job, const model::Proposal& proposal, const model::Pod& pod);
  void checkNode(const model::NodeName& node, const model::Pod& pod);
  void checkOpen(const model::Job& job, const model::Proposal& proposal, const model::Pod& pod);
  void checkForce(const net::HttpRequest& request);
  [[nodiscard]] bool wasOfOne(const model::Job& job) const;
  void violated(std::string what);

  sim::ClusterObserver& truth_;
  base::Executor& executor_;
  std::vector<std::string> violations_;
  ClaimLaws claims_;
  FailureLaws failures_;
  ResizeLaws resizes_;
  OwnedLaws owned_;
  std::string holder_;               // of the Lease
  std::set<std::string> everBound_;  // "JOB-UID/EPOCH/POD"
  std::set<std::string> late_;       // names of pods with a delayed creation: they may arrive after all else
  std::set<model::Uid> unbelieved_;  // single-pod jobs' pods, unbound at a change of the leader: strays
  std::map<model::Uid, base::Instant> enlargedAt_;            // when a single-pod job was scaled up
  std::map<model::Uid, base::Instant> podLost_;               // when a job last lost a pod
  std::map<model::NodeName, std::int64_t> builtWith_;         // GPUs
  std::map<model::NodeName, base::Instant> closedSince_;      // deleted, cordoned or not ready
  base::Instant nodesLateUntil_{};                            // an operator's view of nodes is delayed
  std::map<model::NodeName, base::Instant> notReadySince_;    // no entry while ready
  std::map<model::NodeName, base::Instant> readyAgainSince_;  // the end of such a time
};

}  // namespace trainyard::simulation
