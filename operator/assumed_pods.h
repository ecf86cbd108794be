#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kube/cluster_cache.h"
#include "kube/volume_caches.h"
#include "model/snapshot.h"

namespace trainyard::operator_ {

// Pods that kube-scheduler has chosen a node for and not bound yet: nominated, or waiting for a volume that
// is being made for that node, which may take minutes. Snapshots show them on that node, since kube-scheduler
// gives the room to no other pod.
//
// Assumes: kube-scheduler alone writes status.nominatedNodeName. The annotation of a claim can be written by
// its owner; it counts only for pods of the cluster's own scheduler, which binds such a pod or reports it as
// unschedulable. It does neither with a pod whose ResourceClaims do not exist: such a pod, which never holds
// any capacity, could make each node look full.
class AssumedPods {
 public:
  // `changed`: a claim changed while any pod waits that may be meant. `schedulerName`: that binds the
  // members; empty: the cluster's default.
  AssumedPods(kube::ClusterCache& cache, kube::ObjectCache<model::VolumeClaim>& claims,
              std::string schedulerName, const std::function<void()>& changed);

  void overlay(model::Snapshot& snapshot);

 private:
  struct Assumed {
    std::shared_ptr<const model::Pod> from, to;
  };

  [[nodiscard]] bool mayBeAssumed(const model::Pod& pod) const;
  [[nodiscard]] model::NodeName nodeOf(const model::Pod& pod) const;

  const kube::ObjectCache<model::VolumeClaim>& claims_;
  const std::string schedulerName_;
  std::map<model::ObjectKey, Assumed>
      pods_;  // that may be assumed; the same object for the same pod and node
};

}  // namespace trainyard::operator_
