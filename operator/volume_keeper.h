#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/ledger/volumes.h"
#include "kube/cluster_cache.h"
#include "kube/volume_caches.h"
#include "model/snapshot.h"

namespace trainyard::operator_ {

// Follows the volumes of jobs that use any. Adds to snapshots which nodes the volumes tie the jobs to, and
// how many local volumes nodes have for them.
class VolumeKeeper {
 public:
  // `changed` is called when a volume object changes while any job uses volumes.
  VolumeKeeper(kube::ClusterCache& cache, const base::Logger& log, std::function<void()> changed);

  // Call before other overlays: jobs that differ from the cache are recomputed each time.
  void overlay(model::Snapshot& snapshot);

  [[nodiscard]] kube::VolumeCaches& caches() { return caches_; }

 private:
  struct Tied {
    std::shared_ptr<const model::Job> from, to;
  };
  struct Enlarged {
    std::shared_ptr<const model::Node> from, to;
  };

  void followUses(const std::shared_ptr<const model::Pod>& before,
                  const std::shared_ptr<const model::Pod>& after);
  void overlayJobs(model::Snapshot& snapshot, const model::Volumes& volumes, bool changed);
  void overlayNodes(model::Snapshot& snapshot, const model::Volumes& volumes, bool changed);

  kube::VolumeCaches caches_;
  model::Volumes last_;       // basis of tied_
  std::string lastLevel_;     // basis of tied_
  bool usesChanged_ = false;  // since last_
  std::map<model::ObjectKey, std::vector<model::ClaimUse>> uses_;
  std::set<model::ObjectKey> jobs_;        // with volumes
  std::map<model::ObjectKey, Tied> tied_;  // the same object for the same job and volumes
  model::SharedList<model::Node> lastNodes_;
  core::LocalVolumes localVolumes_;  // of the nodes, for the jobs
  std::map<model::NodeName, Enlarged>
      enlarged_;  // nodes with several local volumes: the same object each time
};

}  // namespace trainyard::operator_
