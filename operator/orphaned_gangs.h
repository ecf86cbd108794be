#pragma once

#include <functional>
#include <memory>
#include <set>

#include "base/executor.h"
#include "base/log.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "operator/job_events.h"

namespace trainyard::operator_ {

// Turns Gangs whose owner is gone into Gangs of bare pods. The garbage collector deletes a Gang with its
// owner, but not if the owner was deleted with --cascade=orphan: its pods run on, and could otherwise neither
// be preempted, since there is nothing to suspend, nor end the Gang.
class OrphanedGangs {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    kube::ClusterCache& cache;
    JobEvents& events;
    base::Logger log;
    std::function<bool()> leading;
  };

  explicit OrphanedGangs(Dependencies dependencies) : deps_(std::move(dependencies)) {}
  ~OrphanedGangs() { *alive_ = false; }
  OrphanedGangs(const OrphanedGangs&) = delete;
  OrphanedGangs& operator=(const OrphanedGangs&) = delete;

  // Call when this replica starts to lead.
  void start();

 private:
  void look();
  void askForOwner(const model::Gang& gang);
  void disown(const model::Gang& gang);

  Dependencies deps_;
  std::set<model::Uid> suspected_;  // Gangs whose owner the last look did not know
  bool started_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
