#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "core/gang/settings.h"
#include "sim/cluster/observer.h"

namespace trainyard::sim {

struct InvariantLimits {
  // How long only a part of a gang, fewer members than it needs, may be released: the time that the protocol
  // takes for a release or an abort, including a change of the leader in between.
  std::chrono::seconds partlyReleased{240};
  // How long kube-scheduler may be unaware that the capacity of a node has shrunk.
  std::chrono::seconds shrinkUnknown{3};
};

// What must hold at every moment, whatever fails; checked after every write.
// - no node is assigned more than it has, or had a moment ago
// - each member of a gang has one pod, bound to no other node than the recorded one
// - 0 or at least minAvailable members of a gang are released, except for a bounded time in between
class Invariants {
 public:
  Invariants(ClusterObserver& observer, base::Executor& executor, InvariantLimits limits = {});

  // All violations so far, in order of time, each with its time.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  // Checks the invariants that are violated by the passing of time alone.
  void checkTime();
  // What is left although nothing is in progress: no proposal, no gated pod, no pod of a deleted job.
  [[nodiscard]] std::vector<std::string> leftovers() const;

 private:
  using PodPtr = std::shared_ptr<const model::Pod>;

  void podChanged(const PodPtr& before, const PodPtr& after);
  void allocatableChanged(const model::Node& before);
  void checkNode(const model::NodeName& node, const model::Resources& arrived);
  void checkMember(const model::Pod& pod);
  void checkGang(const model::Uid& job);
  void violated(std::string what);

  ClusterObserver& observer_;
  base::Executor& executor_;
  InvariantLimits limits_;
  std::map<model::NodeName, model::Resources> used_;
  // The capacity of a node before it shrank: kube-scheduler may bind by it until it gets the update.
  std::map<model::NodeName, std::pair<model::Resources, base::Instant>> hadUntil_;
  std::map<model::Uid, std::map<std::string, PodPtr>> members_;  // by job, then by pod name
  std::map<model::Uid, base::Instant> partlySince_;
  std::set<model::Uid> partlyReported_;
  std::vector<std::string> violations_;
};

}  // namespace trainyard::sim
