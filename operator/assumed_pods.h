#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kube/cluster_cache.h"
#include "kube/volume_caches.h"
#include "model/snapshot.h"

namespace trainyard::operator_ {

// Pods that have a node chosen by kube-scheduler but are not bound yet. They are nominated, or wait for a
// volume that is being made for that node, which may take minutes. Snapshots show them on that node, since
// kube-scheduler gives the capacity to no other pod.
//
// Assumes: only kube-scheduler writes status.nominatedNodeName. The owner of a claim can write its
// annotation. It counts only for pods of the cluster's own scheduler, which binds such a pod or reports it as
// unschedulable. It never counts for pods with ResourceClaims: if these do not exist, the pod is neither
// bound nor reported. Such a pod holds no capacity and could make each node look full.
class AssumedPods {
 public:
  // `changed` is called when a claim changes while an assumable pod exists. `schedulerName` names the
  // scheduler that binds the members; empty: the cluster's default.
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
      pods_;  // candidates; the object stays the same as long as pod and node do
};

}  // namespace trainyard::operator_
