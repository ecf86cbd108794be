#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "codec/gang_of_pods.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "operator/job_events.h"

namespace trainyard::operator_ {

// Creates the Gang that arriving bare pods ask for, and deletes it when no pod of it is left. Level-based:
// what it does follows from the caches alone, so a successor goes on from any point.
class GangsKeeper {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    kube::ClusterCache& cache;
    JobEvents& events;
    base::Logger log;
    std::function<bool()> leading;
    std::function<std::string()> podGroupVersion;  // that is served; empty: none
  };

  explicit GangsKeeper(Dependencies dependencies);
  ~GangsKeeper() { *alive_ = false; }
  GangsKeeper(const GangsKeeper&) = delete;
  GangsKeeper& operator=(const GangsKeeper&) = delete;

  // Call when this replica starts to lead.
  void start();

 private:
  using PodPtr = std::shared_ptr<const model::Pod>;
  // The pods that name a gang: those that ask for a place, and, with the uid of the Gang that gave it, those
  // that have one and those that have ended. An earlier Gang of the name may have been another.
  struct Pods {
    std::set<model::ObjectKey> arriving;
    std::map<model::ObjectKey, model::Uid> members;
    std::map<model::ObjectKey, model::Uid> ended;
  };
  // An object that says which pods a gang has.
  struct Description {
    std::string kind;
    std::string name;
    std::string path;
    std::function<base::Result<std::vector<codec::RoleOfPods>>(std::string_view)> read;
  };
  // The body of a Gang while its pods are being read.
  struct Draft {
    model::ObjectKey gang;
    std::vector<codec::RoleOfPods> roles;
    std::vector<model::ObjectKey> samples;  // a pod of each role
  };

  void podChanged(const PodPtr& before, const PodPtr& after);
  void mark(const model::ObjectKey& gang);
  void reconcileMarked();
  void reconcile(const model::ObjectKey& key);
  void create(const model::ObjectKey& key, const Pods& pods);
  void refuse(const model::ObjectKey& gang, const base::Error& why);
  void createFrom(const model::ObjectKey& key, const std::string& pod);
  void draftFrom(const std::shared_ptr<Draft>& draft, const codec::GangRequest& request,
                 const std::string& pod);
  void askFor(const std::shared_ptr<Draft>& draft, Description description);
  void readSamples(const std::shared_ptr<Draft>& draft, std::size_t next);
  void post(const Draft& draft);
  void remove(const model::Gang& gang);
  void reportWithoutPlace(const model::Gang& gang, const Pods& pods);
  void done(const model::ObjectKey& key, bool good);
  [[nodiscard]] bool isIdle(const model::Gang& gang, const Pods& pods) const;

  Dependencies deps_;
  std::map<model::ObjectKey, Pods> pods_;
  std::map<model::ObjectKey, base::Instant> idleSince_;
  std::set<model::ObjectKey> marked_;
  std::set<model::ObjectKey> busy_;
  std::map<model::ObjectKey, model::Uid> reported_;  // pods with an Event that says why they have no place
  bool scheduled_ = false;
  bool started_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
