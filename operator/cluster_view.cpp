#include "operator/cluster_view.h"

#include <algorithm>
#include <chrono>
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
      volumes_(cache_, deps_.log.named("cache"), deps_.changed),
      assumed_(cache_, volumes_.caches().claims, options_.schedulerName, deps_.changed),
      types_(
          cache_, [this] { return options_.policy.gpuTypeLabel; },
          [this] { return deps_.executor.wallNow(); }) {}

void ClusterView::startWatches() {
  reflectors_.clear();
  const auto add = [&](const kube::ResourceType& type, kube::ReflectorSink& sink) {
    reflectors_.push_back(std::make_unique<kube::Reflector>(
        kube::ReflectorOptions{.type = type, .maxDelay = kMaxBlindness}, deps_.api, deps_.executor,
        deps_.rng.split(), deps_.log.named("reflector"), sink));
    reflectors_.back()->start();
  };
  kube::forEachCache(cache_, add);
  add(kube::kVolumeClaims, volumes_.caches().claims);
  add(kube::kVolumes, volumes_.caches().volumes);
  add(kube::kStorageClasses, volumes_.caches().classes);
  add(kube::kCsiDrivers, volumes_.caches().drivers);
  add(kube::kCsiNodes, volumes_.caches().csiNodes);
}

bool ClusterView::synced() const {
  return !reflectors_.empty() && std::all_of(reflectors_.begin(), reflectors_.end(),
                                             [](const auto& reflector) { return reflector->synced(); });
}

model::Snapshot ClusterView::snapshot() const {
  model::Snapshot cluster = cache_.snapshot(deps_.executor.wallNow());
  cluster.policy = options_.policy;
  return cluster;
}

model::Snapshot ClusterView::planningSnapshot() {
  model::Snapshot cluster = snapshot();
  cluster.freed = freed_.until(cluster.now);
  types_.overlay(cluster);
  volumes_.overlay(cluster);
  assumed_.overlay(cluster);
  return cluster;
}

}  // namespace trainyard::operator_
