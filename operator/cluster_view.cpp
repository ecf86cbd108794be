#include "operator/cluster_view.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "kube/each_cache.h"

namespace trainyard::operator_ {
namespace {

// All tenants wait while the operator does not see the cluster. There are few replicas, so asking a server
// that comes back this often costs it nothing.
constexpr base::Instant::duration kMaxBlindness = std::chrono::seconds(5);

}  // namespace

ClusterView::ClusterView(const OperatorOptions& options, Dependencies dependencies)
    : options_(options),
      deps_(std::move(dependencies)),
      cache_(deps_.log.named("cache")),
      devices_(std::make_unique<kube::DeviceView>(cache_, deps_.log.named("devices"), deps_.changed)),
      volumes_(cache_, deps_.log.named("cache"), deps_.changed),
      assumed_(cache_, volumes_.caches().claims, options_.schedulerName, deps_.changed),
      types_(
          cache_, [this] { return options_.policy.gpuTypeLabel; },
          [this] { return deps_.executor.wallNow(); }),
      workloads_(options_.workloadKinds, cache_, deps_.log.named("workloads")) {
  workloads_.onChange([this](const model::OwnerKind&, const model::ObjectKey&) { deps_.changed(); });
  if (options_.kueue) {
    kueue_ = std::make_unique<KueueWorkloads>(cache_, deps_.log.named("kueue"));
    kueue_->workloads().onChange([this](const auto&, const auto&) { deps_.changed(); });
  }
  forEachWatched([&]<typename T>(const kube::ResourceType&, kube::ObjectCache<T>& cache) {
    const telemetry::Counter count = deps_.metrics.counter(
        "trainyard_undecodable_objects_total", "Objects of the API server that could not be read, by kind.",
        {{"kind", std::string(kube::CacheTraits<T>::kKind)}});
    cache.onUndecodable([count] { count.increment(); });
  });
}

template <typename Visit>
void ClusterView::forEachWatched(const Visit& visit) {
  kube::forEachCache(cache_, visit);
  visit(kube::kVolumeClaims, volumes_.caches().claims);
  visit(kube::kVolumes, volumes_.caches().volumes);
  visit(kube::kStorageClasses, volumes_.caches().classes);
  visit(kube::kCsiDrivers, volumes_.caches().drivers);
  visit(kube::kCsiNodes, volumes_.caches().csiNodes);
}

void ClusterView::startWatches() {
  reflectors_.clear();
  forEachWatched([&](const kube::ResourceType& type, kube::ReflectorSink& sink) {
    reflectors_.push_back(std::make_unique<kube::Reflector>(
        kube::ReflectorOptions{.type = type, .maxDelay = kMaxBlindness}, deps_.api, deps_.executor,
        deps_.rng.split(), deps_.log.named("reflector"), sink));
    reflectors_.back()->start();
  });
  devices_->start(deps_.api, deps_.executor, deps_.rng);
  workloads_.start(deps_.api, deps_.executor, deps_.rng);
  if (kueue_) kueue_->start(deps_.api, deps_.executor, deps_.rng);
}

bool ClusterView::synced() const {
  return devices_->settled() && !reflectors_.empty() &&
         std::all_of(reflectors_.begin(), reflectors_.end(),
                     [](const auto& reflector) { return reflector->synced(); });
}

model::Snapshot ClusterView::withoutJobsDevices() const {
  model::Snapshot cluster = cache_.snapshot(deps_.executor.wallNow());
  cluster.policy = options_.policy;
  devices_->overlay(cluster);
  if (kueue_) kueue_->overlay(cluster);
  return cluster;
}

model::Snapshot ClusterView::snapshot() const {
  model::Snapshot cluster = withoutJobsDevices();
  devices_->overlayJobs(cluster);
  return cluster;
}

model::Snapshot ClusterView::planningSnapshot() {
  model::Snapshot cluster = withoutJobsDevices();
  cluster.freed = freed_.until(cluster.now);
  types_.overlay(cluster);
  volumes_.overlay(cluster);
  assumed_.overlay(cluster);
  return cluster;
}

}  // namespace trainyard::operator_
