#pragma once

#include <functional>
#include <memory>
#include <set>

#include "base/executor.h"
#include "base/log.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "operator/job_events.h"
#include "operator/workload_watches.h"

namespace trainyard::operator_ {

// Frees Gangs from owners that are not Trainyard's any more.
//
// One whose owner is gone becomes a Gang of bare pods. The garbage collector deletes a Gang with its
// owner, but not if the owner was deleted with --cascade=orphan: its pods run on, and could otherwise neither
// be preempted, since there is nothing to suspend, nor end the Gang.
//
// One whose owner has lost its queue label is deleted while it waits: its owner would never start. If it
// runs, its pods become bare pods as well.
class OrphanedGangs {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    kube::ClusterCache& cache;
    WorkloadWatches& watches;
    JobEvents& events;
    base::Logger log;
    std::function<bool()> leading;
  };

  explicit OrphanedGangs(Dependencies dependencies);
  ~OrphanedGangs() { *alive_ = false; }
  OrphanedGangs(const OrphanedGangs&) = delete;
  OrphanedGangs& operator=(const OrphanedGangs&) = delete;

  // Call when this replica starts to lead.
  void start();

 private:
  void look();
  // What to do if the owner is gone for good. At once after a change, its Gang may be about to be deleted,
  // too.
  enum class IfGone { kDisown, kWait };
  void askForOwner(const model::Gang& gang, IfGone ifGone);
  void left(const model::Gang& gang);
  void disown(const model::Gang& gang, const core::JobEvent& event);

  Dependencies deps_;
  std::set<model::Uid> suspected_;  // Gangs whose owner the last look did not know
  bool started_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
