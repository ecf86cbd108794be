#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "kube/device_view.h"
#include "kube/freed_nodes.h"
#include "kube/reflector.h"
#include "operator/assumed_pods.h"
#include "operator/kueue_workloads.h"
#include "operator/operator_options.h"
#include "operator/type_labels.h"
#include "operator/volume_keeper.h"
#include "operator/workload_watches.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// The cluster as the API shows it: watches of all that plans depend on, and snapshots of their caches.
class ClusterView {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    base::Rng& rng;
    telemetry::MetricsRegistry& metrics;
    base::Logger log;
    // An object changed that snapshots show in other objects: a volume, or a claim.
    std::function<void()> changed;
  };

  // `options`: their policy may change later.
  ClusterView(const OperatorOptions& options, Dependencies dependencies);
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  // Lists everything, and watches from there. May be called again: lists everything once more.
  void startWatches();
  void stopWatches() {
    reflectors_.clear();
    workloads_.stop();
    devices_->stop();
    if (kueue_) kueue_->stop();
  }
  // All lists have been read once.
  [[nodiscard]] bool synced() const;

  [[nodiscard]] kube::ClusterCache& cache() { return cache_; }
  [[nodiscard]] WorkloadWatches& workloads() { return workloads_; }
  // Null unless the options enable it.
  [[nodiscard]] KueueWorkloads* kueue() { return kueue_.get(); }
  // The cluster under the policy, without what only plans take into account.
  [[nodiscard]] model::Snapshot snapshot() const;
  // Shows which devices jobs ask for, once everything else about their pods is shown.
  void showDevicesOfJobs(model::Snapshot& snapshot) { devices_->overlayJobs(snapshot); }
  // Adds when nodes were freed, volumes, lost type labels, and nodes that pods are about to be bound to.
  [[nodiscard]] model::Snapshot planningSnapshot();

 private:
  [[nodiscard]] model::Snapshot withoutJobsDevices() const;
  // Each type of object that is watched, and its cache.
  template <typename Visit>
  void forEachWatched(const Visit& visit);

  const OperatorOptions& options_;
  Dependencies deps_;
  kube::ClusterCache cache_;
  kube::FreedNodes freed_{cache_};
  std::unique_ptr<kube::DeviceView> devices_;
  VolumeKeeper volumes_;
  AssumedPods assumed_;
  TypeLabels types_;
  WorkloadWatches workloads_;
  std::unique_ptr<KueueWorkloads> kueue_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
};

}  // namespace trainyard::operator_
