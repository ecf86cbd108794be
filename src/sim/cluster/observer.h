#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "kube/cluster_cache.h"
#include "model/snapshot.h"
#include "operator/workload_watches.h"
#include "sim/api/server.h"

namespace trainyard::sim {

// Sees every write at the moment of the write, without the lag of other clients: for checks and stories.
class ClusterObserver {
 public:
  ClusterObserver(ApiServer& server, const base::Logger& log);
  ~ClusterObserver();
  ClusterObserver(const ClusterObserver&) = delete;
  ClusterObserver& operator=(const ClusterObserver&) = delete;

  // Reports the present state as creations. Listeners registered before get them.
  [[nodiscard]] base::Result<void> start();

  [[nodiscard]] kube::ClusterCache& cache() { return cache_; }
  [[nodiscard]] const kube::ClusterCache& cache() const { return cache_; }
  // The Jobs, as operators read the owners of Gangs.
  [[nodiscard]] kube::ObjectCache<model::Workload>& owners() { return owners_; }
  [[nodiscard]] model::Snapshot snapshot(base::WallTime now) const { return cache_.snapshot(now); }

 private:
  base::Result<void> watch(const kube::ResourceType& type, kube::ReflectorSink& sink);

  ApiServer& server_;
  kube::ClusterCache cache_;
  kube::ObjectCache<model::Workload> owners_;
  std::vector<std::uint64_t> watches_;
};

}  // namespace trainyard::sim
