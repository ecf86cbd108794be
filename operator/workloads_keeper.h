#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/executor.h"
#include "base/log.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "operator/job_events.h"
#include "operator/workload_reader.h"
#include "operator/workload_watches.h"

namespace trainyard::operator_ {

// Prepares the objects of other controllers that name a queue, and keeps a Gang for each. Level-based: every
// step follows from what the caches show.
// Steps:
//  0 stop    an object that was created running, and whose pods therefore run outside the queue
//  1 mark    the pod templates of a suspended object get the labels of its Gang and the gate for places, in
//            one patch that is guarded by resourceVersion
//  2 create  its Gang, with the object as owner, so that the garbage collector deletes it with the object
//  3 follow  the object's size at any time, its queue and annotations as long as the Gang has no placement
//  4 start   an object whose pods are no gang, if step 1 has not: each of its pods is placed by itself. A
//            Gang's owner is started by the gang protocol
// An object that an object of an enabled kind controls is left to that one, and one whose managedBy names
// another controller to that.
class WorkloadsKeeper {
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

  explicit WorkloadsKeeper(Dependencies dependencies);
  ~WorkloadsKeeper() { *alive_ = false; }
  WorkloadsKeeper(const WorkloadsKeeper&) = delete;
  WorkloadsKeeper& operator=(const WorkloadsKeeper&) = delete;

  // Call when this replica starts to lead.
  void start();

 private:
  using Id = std::pair<const model::OwnerKind*, model::ObjectKey>;
  using Answer = base::Result<kube::ApiResponse>;

  void mark(const Id& id);
  void reconcileMarked();
  void reconcile(const Id& id);
  void act(const Id& id, const model::Workload& workload);
  [[nodiscard]] std::shared_ptr<const model::Gang> gangOf(const model::Workload& workload) const;
  [[nodiscard]] bool runsInItsPlaces(const model::Workload& workload) const;
  void refuse(const model::Workload& workload, const std::string& why);
  void record(const model::Workload& workload, const core::JobEvent& event);
  void prepare(const Id& id, const model::Workload& workload);
  void suspend(const Id& id, const model::Workload& workload, bool suspended);
  void keepGang(const Id& id, const model::Workload& workload);
  void follow(const Id& id, const model::Workload& workload, const model::Gang& gang);
  void remove(const Id& id, const model::Gang& gang);
  void patchOwner(const Id& id, const model::Workload& workload, kube::PatchType type, std::string body);
  void patched(const Id& id, const model::Workload& workload, const Answer& answer);
  void done(const Id& id, const Answer& answer, std::string_view what);

  Dependencies deps_;
  WorkloadReader reader_;
  std::set<Id> marked_;
  std::set<Id> busy_;
  bool scheduled_ = false;
  bool started_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
