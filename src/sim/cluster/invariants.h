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
  // How long a gang may have some, but too few, of its members let go: what the protocol needs for a release
  // or an abort, including a change of the leader in between.
  std::chrono::seconds partlyReleased{240};
  // How long kube-scheduler may not know that a node has less than before.
  std::chrono::seconds shrinkUnknown{3};
};

// What must hold at every moment, whatever fails; looked at after every single write.
//  - no node is given more than it has, or had a moment ago
//  - a member of a gang has one pod, and it is bound to no other node than the record says
//  - of a gang, 0 or at least minAvailable members have been let go, except for a bounded time in between
class Invariants {
 public:
  Invariants(ClusterObserver& observer, base::Executor& executor, InvariantLimits limits = {});

  // Everything that was broken so far, in order of time, each with the time it was found.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  // Looks at what breaks by the passing of time alone.
  void checkTime();
  // What is left over although nothing is under way: no proposal, no gated pod, no pod of a job that is gone.
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
  // What a node had until then: kube-scheduler may bind by it until the news of less reaches it.
  std::map<model::NodeName, std::pair<model::Resources, base::Instant>> hadUntil_;
  std::map<model::Uid, std::map<std::string, PodPtr>> members_;  // of each job by pod name
  std::map<model::Uid, base::Instant> partlySince_;
  std::set<model::Uid> partlyReported_;
  std::vector<std::string> violations_;
};

}  // namespace trainyard::sim
