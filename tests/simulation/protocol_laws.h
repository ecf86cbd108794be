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
#include "simulation/resize_laws.h"

namespace trainyard::simulation {

// The gang protocol's promises, held against every single write as the server carries it out:
//  - epochs only grow, a proposal keeps its places, and only the next epoch follows
//  - a proposal becomes `placed` only after every member has been bound, and is dropped only after its pods
//  are gone
//  - the record comes first: a pod is made only when the record names it, and after its predecessor has gone;
//    but the one pod of a gang of one, pinned and of the next epoch, is its own record
//  - a pod is deleted under its uid only
//  - a member is let go only when the record names it, on the node that the record says, and after all exist
//  - members let go to one node never ask for more GPUs than it was built with: no double reservation
//  survives
//    the barrier
//  - the first member is let go only when no place has been closed for longer than a leader can be mistaken
//  - nobody writes while another one holds the Lease
//  - a pod is deleted by force only where its kubelet cannot be running it
//  - a gated pod is made only for a job with the finalizer, and such a job goes only after its running pods
// Who may be stopped for whom is in ClaimLaws, what follows failures in FailureLaws, of gangs
// that change their size in ResizeLaws; what must hold of every
// cluster, whoever runs gangs on it, in sim::Invariants.
class ProtocolLaws {
 public:
  ProtocolLaws(sim::ClusterObserver& truth, base::Executor& executor);

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

  // What chaos sees of the operators' calls.
  void sends(const std::string& client, Step step, const net::HttpRequest& request);
  void comesLate(Step step, const net::HttpRequest& request);
  // Somebody stands still, or hears of things so much later.
  void lateFor(base::Instant::duration span) { claims_.lateFor(span); }
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
  void checkLetGo(const model::Pod& pod, bool born);
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
  std::string holder_;               // of the Lease
  std::set<std::string> everBound_;  // "JOB-UID/EPOCH/POD"
  std::set<std::string> late_;  // names of pods whose creation was held up: they may come after everything
  std::set<model::Uid> unbelieved_;  // of gangs of one, not bound when another one came to lead: strays
  std::map<model::Uid, base::Instant> enlargedAt_;            // when a gang of one was edited to be more
  std::map<model::Uid, base::Instant> podLost_;               // when a job last lost a pod
  std::map<model::NodeName, std::int64_t> builtWith_;         // GPUs
  std::map<model::NodeName, base::Instant> closedSince_;      // gone, cordoned or not ready
  base::Instant nodesLateUntil_{};                            // somebody's view of the nodes is held up
  std::map<model::NodeName, base::Instant> notReadySince_;    // absent while ready
  std::map<model::NodeName, base::Instant> readyAgainSince_;  // after such a time
};

}  // namespace trainyard::simulation
