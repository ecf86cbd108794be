#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "kube/cluster_cache.h"
#include "kube/volume_caches.h"
#include "model/snapshot.h"

namespace trainyard::operator_ {

// Follows claims and volumes for the jobs that name any, and puts into snapshots where those tie them to.
class VolumeKeeper {
 public:
  // `changed`: something that a job names has changed.
  VolumeKeeper(kube::ClusterCache& cache, const base::Logger& log, std::function<void()> changed);

  // Before anything else is put over it: jobs that are not as in the cache are looked at anew each time.
  void overlay(model::Snapshot& snapshot);

  [[nodiscard]] kube::VolumeCaches& caches() { return caches_; }

 private:
  struct Tied {
    std::shared_ptr<const model::Job> from, to;
  };

  kube::VolumeCaches caches_;
  model::Volumes last_;                    // that the jobs were tied by
  std::set<model::ObjectKey> jobs_;        // that name claims
  std::map<model::ObjectKey, Tied> tied_;  // the same object for the same job and volumes
};

}  // namespace trainyard::operator_
