#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "extender/extender_metrics.h"
#include "kube/cluster_cache.h"
#include "kube/device_view.h"
#include "kube/reflector.h"

namespace trainyard::extender {

// The caches of nodes, pods, gangs and devices, and the watches that fill them. Lives on the executor's loop.
class WatchedObjects {
 public:
  // `devicesChanged` is called when an object of a device changes.
  WatchedObjects(kube::ApiClient& api, base::Executor& executor, base::Rng rng, const base::Logger& log,
                 std::function<void()> devicesChanged);
  WatchedObjects(const WatchedObjects&) = delete;
  WatchedObjects& operator=(const WatchedObjects&) = delete;

  void start();
  void stop();
  // All lists have been read once.
  [[nodiscard]] bool synced() const;
  // When the watch that has been silent longest last received data; nullopt until all first lists are read.
  [[nodiscard]] std::optional<base::Instant> lastContact() const;
  void report(ExtenderMetrics& metrics, base::Instant now);

  [[nodiscard]] kube::ClusterCache& cache() { return cache_; }
  [[nodiscard]] kube::DeviceView& devices() { return devices_; }

 private:
  kube::ApiClient& api_;
  base::Executor& executor_;
  base::Rng rng_;
  kube::ClusterCache cache_;
  kube::DeviceView devices_;
  kube::Reflector nodes_;
  kube::Reflector pods_;
  kube::Reflector jobs_;
  kube::Reflector gangs_;
  std::size_t undecodableSeen_ = 0;
};

}  // namespace trainyard::extender
