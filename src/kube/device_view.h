#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "devices/asked_devices.h"
#include "kube/cluster_cache.h"
#include "kube/device_caches.h"
#include "kube/device_uses.h"
#include "kube/loose_claims.h"
#include "kube/reflector.h"
#include "model/snapshot.h"

namespace trainyard::kube {

// Follows devices, and shows them in snapshots as resources: nodes offer them, pods hold and jobs ask for
// them (devices/catalog.h). The planner and the guard then agree on what a device is. Lives on the executor's
// loop.
class DeviceView {
 public:
  // `changed` is called when an object of a device changes.
  DeviceView(ClusterCache& cluster, const base::Logger& log, std::function<void()> changed);
  DeviceView(const DeviceView&) = delete;
  DeviceView& operator=(const DeviceView&) = delete;

  void start(ApiClient& api, base::Executor& executor, base::Rng& rng);
  void stop() { reflectors_.clear(); }
  // Every kind has been listed, or the API server does not serve it.
  [[nodiscard]] bool settled() const;
  // When the watch that has been silent longest last received data; of kinds that are served.
  [[nodiscard]] base::Instant lastHeard(base::Instant now) const;

  // Shows the devices of nodes and pods. The same object is shown for the same object and the same devices,
  // so that it counts as changed only then. Call it once for each snapshot: what it has shown it would add
  // again.
  void overlay(model::Snapshot& snapshot);
  // Shows what jobs ask for. After overlay(), and after whatever else changes the shapes of their pods.
  void overlayJobs(model::Snapshot& snapshot);
  // Those of the last overlay; null if the cluster has no devices.
  [[nodiscard]] std::shared_ptr<const devices::DeviceFacts> facts() const { return facts_; }

 private:
  using PodPtr = std::shared_ptr<const model::Pod>;
  using JobPtr = std::shared_ptr<const model::Job>;
  using NodePtr = std::shared_ptr<const model::Node>;
  using ClaimPtr = std::shared_ptr<const model::ResourceClaim>;
  // What is shown for an object, as long as both exist.
  template <typename T>
  struct Shown {
    std::shared_ptr<const T> from, to;  // null: it is shown as it is
    std::uint64_t basis = 0;
  };
  template <typename T>
  using ShownBy = std::unordered_map<const T*, Shown<T>>;

  [[nodiscard]] bool isServed() const;
  void claimChanged(const ClaimPtr& before, const ClaimPtr& after);
  void refreshFacts();
  void overlayNodes(model::Snapshot& snapshot);
  void overlayPods(model::Snapshot& snapshot);
  // Null if the object stays as it is.
  [[nodiscard]] PodPtr withDevices(const PodPtr& pod) const;
  [[nodiscard]] JobPtr withDevices(const JobPtr& job) const;

  ClusterCache& cluster_;
  base::Logger log_;
  std::function<void()> changed_;
  DeviceCaches caches_;
  DeviceUses uses_;
  LooseClaims loose_;
  std::vector<std::unique_ptr<Reflector>> reflectors_;
  devices::MatchCache matches_;
  std::shared_ptr<const devices::DeviceFacts> facts_;
  // Changes with the catalog, and with whatever else may change many shown pods or jobs.
  std::uint64_t basis_ = 1;
  struct {
    ShownBy<model::Node> nodes;
    ShownBy<model::Pod> pods;
    ShownBy<model::Job> jobs;
  } shown_;
};

}  // namespace trainyard::kube
